//! One client a service, made when first used, all over one configuration and one connector. Must never be made twice.

use super::label::Labels;
use aws_config::{Region, SdkConfig};
use aws_types::service_config::ServiceConfigKey;
use std::{net::IpAddr, sync::OnceLock};

macro_rules! clients {
    ($($(#[$doc:meta])* $service:ident $key:literal: $sdk:ident $($adjust:ident)?,)*) => {
        /// Clients of every service that the program calls.
        #[derive(Debug)]
        pub struct Clients {
            config: SdkConfig,
            /// Whether S3 buckets stand in paths, not in host names.
            path_style: bool,
            $($service: OnceLock<$sdk::Client>,)*
        }

        impl Clients {
            fn over(config: SdkConfig, path_style: bool) -> Self {
                Self { config, path_style, $($service: OnceLock::new(),)* }
            }
            $($(#[$doc])* pub fn $service(&self) -> &$sdk::Client {
                self.$service.get_or_init(|| {
                    let builder = $sdk::config::Builder::from(&self.config).interceptor(Labels::new($key));
                    $(let builder = self.$adjust(builder);)?
                    $sdk::Client::from_conf(builder.build())
                })
            })*
        }
    };
}

// The names are those of IAM's actions and of the sandbox.
clients! {
    autoscaling "autoscaling": aws_sdk_autoscaling,
    cloudwatch "cloudwatch": aws_sdk_cloudwatch,
    logs "logs": aws_sdk_cloudwatchlogs,
    cost_explorer "ce": aws_sdk_costexplorer,
    ec2 "ec2": aws_sdk_ec2,
    eks "eks": aws_sdk_eks,
    load_balancing "elbv2": aws_sdk_elasticloadbalancingv2,
    events "events": aws_sdk_eventbridge,
    fsx "fsx": aws_sdk_fsx,
    iam "iam": aws_sdk_iam,
    /// In the region where AWS publishes prices.
    pricing "pricing": aws_sdk_pricing at_price_list,
    tagging "resourcegroupstaggingapi": aws_sdk_resourcegroupstagging,
    s3 "s3": aws_sdk_s3 with_paths,
    quotas "service-quotas": aws_sdk_servicequotas,
    sqs "sqs": aws_sdk_sqs,
    ssm "ssm": aws_sdk_ssm,
    sts "sts": aws_sdk_sts,
}

impl Clients {
    /// Over AWS, or over whatever the configuration's endpoints name.
    pub fn new(config: SdkConfig) -> Self {
        let path_style = s3_endpoint(&config).is_some_and(|url| is_without_subdomains(&url));
        Self::over(config, path_style)
    }

    /// Over the sandbox, which reads buckets from paths.
    pub fn of_sandbox(config: SdkConfig) -> Self {
        Self::over(config, true)
    }

    pub fn config(&self) -> &SdkConfig {
        &self.config
    }

    fn with_paths(&self, builder: aws_sdk_s3::config::Builder) -> aws_sdk_s3::config::Builder {
        builder.force_path_style(self.path_style)
    }

    fn at_price_list(&self, builder: aws_sdk_pricing::config::Builder) -> aws_sdk_pricing::config::Builder {
        let region = self.config.region().map_or("us-east-1", Region::as_ref);
        let china = crate::model::partition(region) == "aws-cn";
        builder.region(Region::new(if china { "cn-northwest-1" } else { "us-east-1" }))
    }
}

/// The endpoint that S3 calls go to, where it is not AWS's own: `AWS_ENDPOINT_URL_S3`, else `AWS_ENDPOINT_URL`, or their
/// like in the profile.
fn s3_endpoint(config: &SdkConfig) -> Option<String> {
    let key = ServiceConfigKey::builder().service_id("S3").env("AWS_ENDPOINT_URL").profile("endpoint_url").build().ok();
    let of_service = config.service_config().zip(key).and_then(|(services, key)| services.load_config(key));
    of_service.or_else(|| config.endpoint_url().map(str::to_owned))
}

/// No bucket can stand before an address or before `localhost`.
fn is_without_subdomains(url: &str) -> bool {
    let Ok(url) = url.parse::<http::Uri>() else { return false };
    let host = url.host().unwrap_or("").trim_matches(['[', ']']);
    host == "localhost" || host.parse::<IpAddr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_stand_in_paths_where_hosts_have_no_subdomains() {
        for url in ["http://127.0.0.1:4566", "http://localhost:9000/", "http://[::1]:4566"] {
            assert!(is_without_subdomains(url), "{url}");
        }
        for url in ["https://s3.us-west-2.amazonaws.com", "https://vpce-1.s3.us-east-1.vpce.amazonaws.com", "nonsense"]
        {
            assert!(!is_without_subdomains(url), "{url}");
        }
    }
}
