//! What the roles of a stack may do, as statements. Must never grant more than the controller needs in this stack: every
//! policy is scoped to the region, and to the cluster or bucket where IAM can tell.

mod karpenter;
mod load_balancer;

pub use karpenter::karpenter;
pub use load_balancer::load_balancer_controller;

use crate::{
    model::{Identity, Policy, Statement, arn, partition},
    stack::names,
};

/// Moves the sizes of the stack's own groups and reads what a node of an empty one would offer.
pub fn cluster_autoscaler(identity: &Identity) -> Policy {
    let cluster = names::cluster_name(identity);
    Policy::of([
        Statement::allow("ReadGroups")
            .actions(&[
                "autoscaling:DescribeAutoScalingGroups",
                "autoscaling:DescribeAutoScalingInstances",
                "autoscaling:DescribeLaunchConfigurations",
                "autoscaling:DescribeScalingActivities",
                "autoscaling:DescribeTags",
                "ec2:DescribeImages",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplateVersions",
                "ec2:GetInstanceTypesFromInstanceRequirements",
            ])
            .on(["*"]),
        Statement::allow("ReadNodeGroups").actions(&["eks:DescribeNodegroup"]).on([arn(
            "eks",
            &identity.region,
            &identity.account,
            &format!("nodegroup/{cluster}/*"),
        )]),
        // EKS itself puts this tag on the groups that it makes.
        Statement::allow("ScaleOwnGroups")
            .actions(&["autoscaling:SetDesiredCapacity", "autoscaling:TerminateInstanceInAutoScalingGroup"])
            .on([arn("autoscaling", &identity.region, &identity.account, "autoScalingGroup:*")])
            .when("StringEquals", &format!("aws:ResourceTag/k8s.io/cluster-autoscaler/{cluster}"), ["owned"]),
    ])
}

/// Volumes of file systems are made by the stack and only mounted here, so the driver needs no right to make any.
pub fn fsx_csi() -> Policy {
    Policy::of([Statement::allow("ReadFileSystems")
        .actions(&["fsx:DescribeFileSystems", "fsx:ListTagsForResource"])
        .on(["*"])])
}

/// Reads the objects of a bucket under a prefix (empty, or ending in a slash). `brought`: the bucket is not ours, and may be
/// encrypted with a key that we don't know.
pub fn read_weights(identity: &Identity, bucket: &str, prefix: &str, brought: bool) -> Policy {
    let bucket_arn = format!("arn:{}:s3:::{bucket}", partition(&identity.region));
    let objects = format!("{bucket_arn}/{prefix}*");
    let list = Statement::allow("List").actions(&["s3:ListBucket"]).on([bucket_arn.clone()]);
    let list = match prefix.strip_suffix('/') {
        // `*` stands for nothing too, so the prefix itself is among them.
        Some(folder) => list.when("StringLike", "s3:prefix", [folder.to_owned(), format!("{prefix}*")]),
        None => list,
    };
    let read = Statement::allow("Read").actions(&["s3:GetObject"]).on([objects.clone()]);
    let decrypt = Statement::allow("DecryptThroughS3")
        .actions(&["kms:Decrypt"])
        .on([arn("kms", &identity.region, "*", "key/*")])
        .when("StringEquals", "kms:ViaService", [format!("s3.{}.amazonaws.com", identity.region)])
        .when("StringLike", "kms:EncryptionContext:aws:s3:arn", [bucket_arn, objects]);
    Policy::of([list, read].into_iter().chain(brought.then_some(decrypt)))
}

/// EventBridge may put messages into the queue, and everybody must use TLS.
pub fn interruption_queue(identity: &Identity) -> Policy {
    let queue = queue_arn(identity);
    Policy::of([
        Statement::allow("Events")
            .service("events.amazonaws.com")
            .actions(&["sqs:SendMessage"])
            .on([queue.clone()])
            // Without it rules of any account could write here.
            .when("StringEquals", "aws:SourceAccount", [identity.account.clone()]),
        Statement::deny("PlainText").principal("*", "*").actions(&["sqs:*"]).on([queue]).when(
            "Bool",
            "aws:SecureTransport",
            ["false"],
        ),
    ])
}

fn queue_arn(identity: &Identity) -> String {
    arn("sqs", &identity.region, &identity.account, &names::queue_name(identity))
}

/// ARN of the stack's cluster: known before it is made.
fn cluster_arn(identity: &Identity) -> String {
    arn("eks", &identity.region, &identity.account, &format!("cluster/{}", names::cluster_name(identity)))
}
