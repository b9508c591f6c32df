//! Target groups. Must never go while a listener sends to them.

use super::{Region, check_name, missing, read_tags};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, page},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct TargetGroup {
    pub name: String,
    pub protocol: Option<String>,
    pub port: Option<i64>,
    pub vpc: Option<String>,
    /// `instance`, `ip`, `lambda`, `alb`
    pub target_type: String,
    pub tags: Tags,
}

impl Region {
    /// Balancers that send to a group.
    fn senders(&self, arn: &str) -> BTreeSet<&String> {
        let sends = self.listeners.values().filter(|listener| listener.targets().any(|target| target == arn));
        sends.map(|listener| &listener.balancer).collect()
    }
}

impl World {
    /// Makes a target group and gives its ARN.
    pub(super) fn make_target_group(&mut self, region: &str, group: TargetGroup) -> Result<String, Fault> {
        check_name(&group.name, "target group")?;
        if let Some(vpc) = &group.vpc
            && self.net(region).vpc(vpc).is_err()
        {
            return Err(Fault::new("ValidationError", format!("The VPC ID '{vpc}' is not found")));
        }
        if self.balancing(region).target_groups.values().any(|its| its.name == group.name) {
            let message =
                format!("A target group with the same name '{}' exists, but with different settings", group.name);
            return Err(Fault::new("DuplicateTargetGroupName", message));
        }
        let serial = self.serial(16);
        let arn = self.balancing_arn(region, &format!("targetgroup/{}/{serial}", group.name));
        self.balancing_mut(region).target_groups.insert(arn.clone(), group);
        Ok(arn)
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let target_type = context.text("TargetType").unwrap_or("instance");
    if target_type != "lambda" && ["Protocol", "VpcId"].iter().any(|member| context.text(member).is_none()) {
        return Err(Fault::new("ValidationError", "A protocol and a VPC must be specified"));
    }
    let group = TargetGroup {
        name: context.required("Name")?.to_owned(),
        protocol: context.text("Protocol").map(str::to_owned),
        port: context.number("Port"),
        vpc: context.text("VpcId").map(str::to_owned),
        target_type: target_type.to_owned(),
        tags: read_tags(context.list("Tags"))?,
    };
    let arn = world.make_target_group(context.region, group)?;
    let view = view(world.balancing(context.region), &arn);
    Ok(json!({ "TargetGroups": [view] }).into())
}

fn view(balancing: &Region, arn: &str) -> Value {
    let group = &balancing.target_groups[arn];
    json!({
        "TargetGroupArn": arn,
        "TargetGroupName": group.name,
        "Protocol": group.protocol,
        "Port": group.port,
        "VpcId": group.vpc,
        "TargetType": group.target_type,
        "LoadBalancerArns": balancing.senders(arn),
        "HealthCheckProtocol": group.protocol,
        "HealthCheckPort": "traffic-port",
        "HealthCheckEnabled": true,
        "HealthCheckIntervalSeconds": 30,
        "HealthCheckTimeoutSeconds": 5,
        "HealthyThresholdCount": 5,
        "UnhealthyThresholdCount": 2,
        "IpAddressType": "ipv4",
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let balancing = world.balancing(context.region);
    let (arns, names) = (context.texts("TargetGroupArns"), context.texts("Names"));
    let balancer = context.text("LoadBalancerArn");
    if let Some(arn) = balancer.filter(|arn| !balancing.balancers.contains_key(*arn)) {
        return Err(missing(arn));
    }
    if let Some(arn) = arns.iter().find(|arn| !balancing.target_groups.contains_key(*arn)) {
        return Err(missing(arn));
    }
    if let Some(name) = names.iter().find(|name| balancing.target_groups.values().all(|group| group.name != **name)) {
        return Err(Fault::new("TargetGroupNotFound", format!("One or more target groups not found: {name}")));
    }
    let wanted = |(arn, group): &(&String, &TargetGroup)| {
        (arns.is_empty() || arns.contains(arn))
            && (names.is_empty() || names.contains(&group.name))
            && balancer.is_none_or(|balancer| balancing.senders(arn).iter().any(|sender| *sender == balancer))
    };
    let all = balancing.target_groups.iter().filter(wanted);
    let found: Vec<_> = all.map(|(arn, _)| view(balancing, arn)).collect();
    let most = context.number("PageSize").or(Some(400));
    let (found, next) = page(found, context.text("Marker"), most, "ValidationError")?;
    Ok(json!({ "TargetGroups": found, "NextMarker": next }).into())
}

/// What does not exist is deleted.
pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("TargetGroupArn")?;
    let balancing = world.balancing_mut(context.region);
    if !balancing.senders(arn).is_empty() {
        let message = format!("Target group '{arn}' is currently in use by a listener or a rule");
        return Err(Fault::new("ResourceInUse", message));
    }
    balancing.target_groups.remove(arn);
    Ok(json!({}).into())
}
