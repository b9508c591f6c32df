//! The policy of Karpenter's controller, as its 1.12 documents it (getting-started `cloudformation.yaml`). Must never let it
//! touch an instance that does not carry the cluster's tag.

use super::{cluster_arn, queue_arn};
use crate::{
    model::{Identity, Policy, Statement, arn, iam_arn, partition},
    stack::names,
};

/// `node_role`: ARN of the role of its nodes. `own_profiles`: it makes instance profiles itself; without, IAM is out of
/// reach from the network and its node classes name a profile.
pub fn karpenter(identity: &Identity, node_role: &str, own_profiles: bool) -> Policy {
    let mut statements = launch(identity);
    statements.extend(tag_and_delete(identity));
    statements.extend(discover(identity));
    statements.extend(profiles(identity, node_role, own_profiles));
    statements.push(
        Statement::allow("AllowAPIServerEndpointDiscovery")
            .actions(&["eks:DescribeCluster"])
            .on([cluster_arn(identity)]),
    );
    statements.push(
        Statement::allow("AllowInterruptionQueueActions")
            .actions(&["sqs:DeleteMessage", "sqs:GetQueueUrl", "sqs:ReceiveMessage"])
            .on([queue_arn(identity)]),
    );
    Policy::of(statements)
}

/// What Karpenter makes in EC2, and must tag as it makes it.
const MADE: &[&str] =
    &["fleet/*", "instance/*", "volume/*", "network-interface/*", "launch-template/*", "spot-instances-request/*"];

fn ec2(identity: &Identity, account: &str, resources: &[&str]) -> Vec<String> {
    resources.iter().map(|resource| arn("ec2", &identity.region, account, resource)).collect()
}

/// The condition key by which a thing is, or becomes, the cluster's.
fn owned(identity: &Identity, tag: &str) -> String {
    format!("aws:{tag}/kubernetes.io/cluster/{}", names::cluster_name(identity))
}

const POOL: &str = "karpenter.sh/nodepool";
const CLUSTER_NAME: &str = "aws:RequestTag/eks:eks-cluster-name";

fn launch(identity: &Identity) -> Vec<Statement> {
    let launch = &["ec2:RunInstances", "ec2:CreateFleet"];
    // AMIs and snapshots belong to no account of ours.
    let mut readable = ec2(identity, "", &["image/*", "snapshot/*"]);
    // A reservation or a placement group that a node class selects is named in the launch.
    let used = ["security-group/*", "subnet/*", "capacity-reservation/*", "placement-group/*"];
    readable.extend(ec2(identity, "*", &used));
    vec![
        Statement::allow("AllowScopedEC2InstanceAccessActions").actions(launch).on(readable),
        Statement::allow("AllowScopedEC2LaunchTemplateAccessActions")
            .actions(launch)
            .on(ec2(identity, "*", &["launch-template/*"]))
            .when("StringEquals", &owned(identity, "ResourceTag"), ["owned"])
            .when("StringLike", &format!("aws:ResourceTag/{POOL}"), ["*"]),
        Statement::allow("AllowScopedEC2InstanceActionsWithTags")
            .actions(&["ec2:RunInstances", "ec2:CreateFleet", "ec2:CreateLaunchTemplate"])
            .on(ec2(identity, "*", MADE))
            .when("StringEquals", &owned(identity, "RequestTag"), ["owned"])
            .when("StringEquals", CLUSTER_NAME, [names::cluster_name(identity)])
            .when("StringLike", &format!("aws:RequestTag/{POOL}"), ["*"]),
    ]
}

fn tag_and_delete(identity: &Identity) -> Vec<Statement> {
    let cluster = || [names::cluster_name(identity)];
    vec![
        Statement::allow("AllowScopedResourceCreationTagging")
            .actions(&["ec2:CreateTags"])
            .on(ec2(identity, "*", MADE))
            .when("StringEquals", &owned(identity, "RequestTag"), ["owned"])
            .when("StringEquals", CLUSTER_NAME, cluster())
            .when("StringEquals", "ec2:CreateAction", ["RunInstances", "CreateFleet", "CreateLaunchTemplate"])
            .when("StringLike", &format!("aws:RequestTag/{POOL}"), ["*"]),
        Statement::allow("AllowScopedResourceTagging")
            .actions(&["ec2:CreateTags"])
            .on(ec2(identity, "*", &["instance/*"]))
            .when("StringEquals", &owned(identity, "ResourceTag"), ["owned"])
            .when("StringLike", &format!("aws:ResourceTag/{POOL}"), ["*"])
            .when("StringEqualsIfExists", CLUSTER_NAME, cluster())
            .when(
                "ForAllValues:StringEquals",
                "aws:TagKeys",
                ["eks:eks-cluster-name", "karpenter.sh/nodeclaim", "Name"],
            ),
        Statement::allow("AllowScopedDeletion")
            .actions(&["ec2:TerminateInstances", "ec2:DeleteLaunchTemplate"])
            .on(ec2(identity, "*", &["instance/*", "launch-template/*"]))
            .when("StringEquals", &owned(identity, "ResourceTag"), ["owned"])
            .when("StringLike", &format!("aws:ResourceTag/{POOL}"), ["*"]),
    ]
}

fn discover(identity: &Identity) -> Vec<Statement> {
    vec![
        Statement::allow("AllowRegionalReadActions")
            .actions(&[
                "ec2:DescribeCapacityReservations",
                "ec2:DescribeImages",
                "ec2:DescribeInstances",
                "ec2:DescribeInstanceStatus",
                "ec2:DescribeInstanceTypeOfferings",
                "ec2:DescribeInstanceTypes",
                "ec2:DescribeLaunchTemplates",
                "ec2:DescribePlacementGroups",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSpotPriceHistory",
                "ec2:DescribeSubnets",
            ])
            .on(["*"])
            .when("StringEquals", "aws:RequestedRegion", [identity.region.clone()]),
        Statement::allow("AllowSSMReadActions").actions(&["ssm:GetParameter"]).on([arn(
            "ssm",
            &identity.region,
            "",
            "parameter/aws/service/*",
        )]),
        // The price list lives in another region.
        Statement::allow("AllowPricingReadActions").actions(&["pricing:GetProducts"]).on(["*"]),
    ]
}

fn profiles(identity: &Identity, node_role: &str, own_profiles: bool) -> Vec<Statement> {
    let all = || [iam_arn(&identity.region, &identity.account, "instance-profile/*")];
    let region = || [identity.region.clone()];
    let (ours, asked) = (owned(identity, "ResourceTag"), owned(identity, "RequestTag"));
    let at = "topology.kubernetes.io/region";
    let class = "karpenter.k8s.aws/ec2nodeclass";
    let service = if partition(&identity.region) == "aws-cn" { "ec2.amazonaws.com.cn" } else { "ec2.amazonaws.com" };
    let mut statements = vec![
        Statement::allow("AllowPassingInstanceRole").actions(&["iam:PassRole"]).on([node_role]).when(
            "StringEquals",
            "iam:PassedToService",
            [service],
        ),
        Statement::allow("AllowInstanceProfileReadActions").actions(&["iam:GetInstanceProfile"]).on(all()),
    ];
    if own_profiles {
        let asked_for = |statement: Statement| {
            statement
                .when("StringEquals", &asked, ["owned"])
                .when("StringEquals", CLUSTER_NAME, [names::cluster_name(identity)])
                .when("StringEquals", &format!("aws:RequestTag/{at}"), region())
                .when("StringLike", &format!("aws:RequestTag/{class}"), ["*"])
        };
        let of_ours = |statement: Statement| {
            statement
                .when("StringEquals", &ours, ["owned"])
                .when("StringEquals", &format!("aws:ResourceTag/{at}"), region())
                .when("StringLike", &format!("aws:ResourceTag/{class}"), ["*"])
        };
        let allow = |sid: &str, actions: &[&str]| Statement::allow(sid).actions(actions).on(all());
        statements.extend([
            asked_for(allow("AllowScopedInstanceProfileCreationActions", &["iam:CreateInstanceProfile"])),
            asked_for(of_ours(allow("AllowScopedInstanceProfileTagActions", &["iam:TagInstanceProfile"]))),
            of_ours(allow(
                "AllowScopedInstanceProfileActions",
                &["iam:AddRoleToInstanceProfile", "iam:RemoveRoleFromInstanceProfile", "iam:DeleteInstanceProfile"],
            )),
            Statement::allow("AllowUnscopedInstanceProfileListAction").actions(&["iam:ListInstanceProfiles"]).on(["*"]),
        ]);
    }
    statements
}
