//! The policy of the load balancer controller, after its own `iam_policy.json`. Must never let it change a balancer of another
//! cluster: where that file asks for any cluster's tag, this one asks for ours.

use crate::{
    model::{Identity, Policy, Statement, arn},
    stack::names,
};

const TAG: &str = "elbv2.k8s.aws/cluster";

pub fn load_balancer_controller(identity: &Identity) -> Policy {
    let mut statements = read();
    statements.extend(security_groups(identity));
    statements.extend(balancers(identity));
    Policy::of(statements)
}

fn read() -> Vec<Statement> {
    vec![
        Statement::allow("Read")
            .actions(&[
                "ec2:DescribeAccountAttributes",
                "ec2:DescribeAddresses",
                "ec2:DescribeAvailabilityZones",
                "ec2:DescribeInstances",
                "ec2:DescribeInternetGateways",
                "ec2:DescribeNetworkInterfaces",
                "ec2:DescribeRouteTables",
                "ec2:DescribeSecurityGroups",
                "ec2:DescribeSubnets",
                "ec2:DescribeTags",
                "ec2:DescribeVpcPeeringConnections",
                "ec2:DescribeVpcs",
                "ec2:GetSecurityGroupsForVpc",
                "elasticloadbalancing:Describe*",
                "acm:DescribeCertificate",
                "acm:ListCertificates",
                "iam:GetServerCertificate",
                "iam:ListServerCertificates",
                // It looks for protections of every balancer, and fails when it may not.
                "shield:DescribeProtection",
                "shield:GetSubscriptionState",
                "waf-regional:GetWebACL",
                "waf-regional:GetWebACLForResource",
                "wafv2:GetWebACL",
                "wafv2:GetWebACLForResource",
            ])
            .on(["*"]),
        Statement::allow("ServiceLinkedRole").actions(&["iam:CreateServiceLinkedRole"]).on(["*"]).when(
            "StringEquals",
            "iam:AWSServiceName",
            ["elasticloadbalancing.amazonaws.com"],
        ),
    ]
}

fn security_groups(identity: &Identity) -> Vec<Statement> {
    let (region, account) = (&identity.region, &identity.account);
    let cluster = || [names::cluster_name(identity)];
    let groups = || [arn("ec2", region, account, "security-group/*")];
    let (ours, asked) = (format!("aws:ResourceTag/{TAG}"), format!("aws:RequestTag/{TAG}"));
    vec![
        Statement::allow("MakeGroups")
            .actions(&["ec2:CreateSecurityGroup"])
            .on([arn("ec2", region, account, "security-group/*"), arn("ec2", region, account, "vpc/*")]),
        // Also in the nodes' group, which is not its own: that is how balancers reach the pods.
        Statement::allow("Rules")
            .actions(&["ec2:AuthorizeSecurityGroupIngress", "ec2:RevokeSecurityGroupIngress"])
            .on(groups()),
        Statement::allow("TagNewGroups")
            .actions(&["ec2:CreateTags"])
            .on(groups())
            .when("StringEquals", "ec2:CreateAction", ["CreateSecurityGroup"])
            .when("StringEquals", &asked, cluster()),
        Statement::allow("TagOwnGroups")
            .actions(&["ec2:CreateTags", "ec2:DeleteTags"])
            .on(groups())
            .when("Null", &asked, ["true"])
            .when("StringEquals", &ours, cluster()),
        Statement::allow("DeleteOwnGroups").actions(&["ec2:DeleteSecurityGroup"]).on(groups()).when(
            "StringEquals",
            &ours,
            cluster(),
        ),
    ]
}

fn balancers(identity: &Identity) -> Vec<Statement> {
    let elb = |resource: &str| arn("elasticloadbalancing", &identity.region, &identity.account, resource);
    let cluster = || [names::cluster_name(identity)];
    let things = || [elb("targetgroup/*/*"), elb("loadbalancer/net/*/*"), elb("loadbalancer/app/*/*")];
    let parts = || ["listener/net/*/*/*", "listener/app/*/*/*", "listener-rule/net/*/*/*", "listener-rule/app/*/*/*"];
    let (ours, asked) = (format!("aws:ResourceTag/{TAG}"), format!("aws:RequestTag/{TAG}"));
    vec![
        Statement::allow("Make")
            .actions(&["elasticloadbalancing:CreateLoadBalancer", "elasticloadbalancing:CreateTargetGroup"])
            .on(["*"])
            .when("StringEquals", &asked, cluster()),
        // Listeners and rules carry no tag of the cluster that a condition could ask for.
        Statement::allow("Listeners")
            .actions(&[
                "elasticloadbalancing:AddListenerCertificates",
                "elasticloadbalancing:CreateListener",
                "elasticloadbalancing:CreateRule",
                "elasticloadbalancing:DeleteListener",
                "elasticloadbalancing:DeleteRule",
                "elasticloadbalancing:ModifyListener",
                "elasticloadbalancing:ModifyListenerAttributes",
                "elasticloadbalancing:ModifyRule",
                "elasticloadbalancing:RemoveListenerCertificates",
                "elasticloadbalancing:SetRulePriorities",
                "elasticloadbalancing:SetWebAcl",
            ])
            .on(["*"]),
        Statement::allow("TagListeners")
            .actions(&["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"])
            .on(parts().map(elb)),
        Statement::allow("TagOwn")
            .actions(&["elasticloadbalancing:AddTags", "elasticloadbalancing:RemoveTags"])
            .on(things())
            .when("Null", &asked, ["true"])
            .when("StringEquals", &ours, cluster()),
        Statement::allow("TagNew")
            .actions(&["elasticloadbalancing:AddTags"])
            .on(things())
            .when("StringEquals", "elasticloadbalancing:CreateAction", ["CreateTargetGroup", "CreateLoadBalancer"])
            .when("StringEquals", &asked, cluster()),
        Statement::allow("ChangeOwn")
            .actions(&[
                "elasticloadbalancing:DeleteLoadBalancer",
                "elasticloadbalancing:DeleteTargetGroup",
                "elasticloadbalancing:ModifyCapacityReservation",
                "elasticloadbalancing:ModifyLoadBalancerAttributes",
                "elasticloadbalancing:ModifyTargetGroup",
                "elasticloadbalancing:ModifyTargetGroupAttributes",
                "elasticloadbalancing:SetIpAddressType",
                "elasticloadbalancing:SetSecurityGroups",
                "elasticloadbalancing:SetSubnets",
            ])
            .on(["*"])
            .when("StringEquals", &ours, cluster()),
        Statement::allow("Targets")
            .actions(&["elasticloadbalancing:DeregisterTargets", "elasticloadbalancing:RegisterTargets"])
            .on([elb("targetgroup/*/*")]),
    ]
}
