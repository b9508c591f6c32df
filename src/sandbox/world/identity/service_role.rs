//! Roles that AWS's services make for themselves. Must never be changed by a caller.

use super::{input, key, role::Role};
use crate::{
    model::iam_arn,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World},
    },
};
use serde_json::json;

/// Where they stand, before the name of their service.
pub(super) const PATH: &str = "/aws-service-role/";

/// Services with such a role that stacks meet, and its name (their user guides, service-linked roles).
const KNOWN: &[(&str, &str)] = &[
    ("autoscaling.amazonaws.com", "AWSServiceRoleForAutoScaling"),
    ("ec2scheduled.amazonaws.com", "AWSServiceRoleForEC2ScheduledInstances"),
    ("eks.amazonaws.com", "AWSServiceRoleForAmazonEKS"),
    ("eks-fargate.amazonaws.com", "AWSServiceRoleForAmazonEKSForFargate"),
    ("eks-nodegroup.amazonaws.com", "AWSServiceRoleForAmazonEKSNodegroup"),
    ("elasticloadbalancing.amazonaws.com", "AWSServiceRoleForElasticLoadBalancing"),
    ("fsx.amazonaws.com", "AWSServiceRoleForAmazonFSx"),
    ("s3.data-source.lustre.fsx.amazonaws.com", "AWSServiceRoleForFSxS3Access"),
    ("spot.amazonaws.com", "AWSServiceRoleForEC2Spot"),
    ("spotfleet.amazonaws.com", "AWSServiceRoleForEC2SpotFleet"),
];

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let service = context.required("AWSServiceName")?;
    let known = KNOWN.iter().find(|(its, _)| *its == service);
    let (_, stem) = known.ok_or_else(|| input(format!("Service-linked roles are not supported for {service}.")))?;
    let name = match (context.text("CustomSuffix"), service) {
        (Some(suffix), "autoscaling.amazonaws.com") => format!("{stem}_{suffix}"),
        (Some(_), _) => return Err(input(format!("Custom suffix is not allowed for {service}"))),
        (None, _) => (*stem).to_owned(),
    };
    if world.identity.roles.contains_key(&key(&name)) {
        let message =
            format!("Service role name {name} has been taken in this account, please try a different suffix.");
        return Err(input(message));
    }
    let path = format!("{PATH}{service}/");
    let arn = iam_arn(context.region, &world.account, &format!("role{path}{name}"));
    let trust = json!({
        "Version": "2012-10-17",
        "Statement": [{ "Effect": "Allow", "Principal": { "Service": service }, "Action": "sts:AssumeRole" }],
    });
    let mut role = Role::new(&name, &path, arn, world.unique_id("AROA"), &trust.to_string(), world.now);
    role.description = context.text("Description").map(str::to_owned);
    let view = role.view();
    world.identity.add_role(role);
    Ok(json!({ "Role": view }).into())
}
