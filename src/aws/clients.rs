//! One client a service, made when first used, all over one configuration and one connector. Must never be made twice.

use aws_config::SdkConfig;
use std::sync::OnceLock;

macro_rules! clients {
    ($($(#[$doc:meta])* $service:ident: $sdk:ident,)*) => {
        /// Clients of every service that the program calls.
        pub struct Clients {
            config: SdkConfig,
            $($service: OnceLock<$sdk::Client>,)*
        }

        impl Clients {
            pub fn new(config: SdkConfig) -> Self {
                Self { config, $($service: OnceLock::new(),)* }
            }
            $($(#[$doc])* pub fn $service(&self) -> &$sdk::Client {
                self.$service.get_or_init(|| $sdk::Client::new(&self.config))
            })*
        }
    };
}

clients! {
    autoscaling: aws_sdk_autoscaling,
    cloudwatch: aws_sdk_cloudwatch,
    logs: aws_sdk_cloudwatchlogs,
    cost_explorer: aws_sdk_costexplorer,
    ec2: aws_sdk_ec2,
    eks: aws_sdk_eks,
    load_balancing: aws_sdk_elasticloadbalancingv2,
    events: aws_sdk_eventbridge,
    fsx: aws_sdk_fsx,
    iam: aws_sdk_iam,
    pricing: aws_sdk_pricing,
    tagging: aws_sdk_resourcegroupstagging,
    s3: aws_sdk_s3,
    quotas: aws_sdk_servicequotas,
    sqs: aws_sdk_sqs,
    ssm: aws_sdk_ssm,
    sts: aws_sdk_sts,
}
