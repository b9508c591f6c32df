//! Load balancers and their listeners. Must never stand in one zone only where AWS wants two.

use super::{check_name, missing, read_tags};
use crate::{
    model::{Tags, arn},
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World, limits,
            network::{Holder, NewInterface},
            page,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Balancer {
    pub name: String,
    /// `application`, `network`
    pub kind: String,
    /// `internal`, `internet-facing`
    pub scheme: String,
    pub vpc: String,
    pub subnets: Vec<String>,
    pub groups: Vec<String>,
    pub interfaces: Vec<String>,
    pub created: Moment,
    /// `provisioning` before.
    pub ready: Moment,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Listener {
    pub balancer: String,
    pub protocol: String,
    pub port: i64,
    pub actions: Vec<Value>,
    pub tags: Tags,
}

impl Listener {
    /// Target groups that it sends to, directly or by weights.
    pub fn targets(&self) -> impl Iterator<Item = &str> {
        self.actions.iter().flat_map(|action| {
            let weighted =
                action.pointer("/ForwardConfig/TargetGroups").and_then(Value::as_array).into_iter().flatten();
            weighted.chain([action]).filter_map(|target| target.get("TargetGroupArn")?.as_str())
        })
    }
}

/// A balancer to make.
#[derive(Clone, Debug)]
pub struct NewBalancer<'a> {
    pub name: &'a str,
    pub kind: &'a str,
    pub scheme: &'a str,
    pub subnets: &'a [String],
    pub groups: &'a [String],
    pub tags: Tags,
}

impl World {
    /// Makes a balancer with an interface in each subnet, and gives its ARN.
    pub fn make_balancer(&mut self, region: &str, new: NewBalancer) -> Result<String, Fault> {
        check_name(new.name, "load balancer")?;
        let balancing = self.balancing(region);
        if balancing.balancers.values().any(|balancer| balancer.name == new.name) {
            let message =
                format!("A load balancer with the same name '{}' exists, but with different settings", new.name);
            return Err(Fault::new("DuplicateLoadBalancerName", message));
        }
        let (of, short) = match new.kind {
            "network" => ("networkLoadBalancer", "net"),
            _ => ("applicationLoadBalancer", "app"),
        };
        if balancing.balancers.values().filter(|balancer| balancer.kind == new.kind).count() >= self.limit(of) {
            return Err(Fault::new("TooManyLoadBalancers", "The maximum number of load balancers has been reached"));
        }
        let vpc = self.place(region, &new)?;
        let serial = self.serial(16);
        let arn = self.balancing_arn(region, &format!("loadbalancer/{short}/{}/{serial}", new.name));
        let mut interfaces = vec![];
        for subnet in new.subnets {
            let interface = self.make_interface(
                region,
                &NewInterface {
                    subnet,
                    groups: new.groups,
                    kind: if new.kind == "network" { "network_load_balancer" } else { "interface" },
                    description: &format!("ELB {short}/{}/{serial}", new.name),
                    addresses: 1,
                    requester: Some("amazon-elb"),
                    ..NewInterface::default()
                },
            );
            let interface = interface.map_err(|fault| Fault::new("InvalidSubnet", fault.message))?;
            self.attach_interface(region, &interface, Holder::Service("amazon-elb"));
            if new.scheme == "internet-facing" {
                self.map_public(region, &interface, None);
            }
            interfaces.push(interface);
        }
        let balancer = Balancer {
            name: new.name.to_owned(),
            kind: new.kind.to_owned(),
            scheme: new.scheme.to_owned(),
            vpc,
            subnets: new.subnets.to_vec(),
            groups: new.groups.to_vec(),
            interfaces,
            created: self.now,
            ready: self.now.saturating_add((limits::creation("load-balancer") * 1000.0) as Moment),
            tags: new.tags,
        };
        self.balancing_mut(region).balancers.insert(arn.clone(), balancer);
        Ok(arn)
    }

    /// The VPC of a new balancer, once its subnets and groups have been looked at.
    fn place(&self, region: &str, new: &NewBalancer) -> Result<String, Fault> {
        let net = self.net(region);
        let mut zones = BTreeSet::new();
        let mut vpcs = BTreeSet::new();
        for id in new.subnets {
            let subnet = net
                .subnet(id)
                .map_err(|_| Fault::new("SubnetNotFound", format!("The subnet ID '{id}' does not exist")))?;
            if !zones.insert(subnet.zone.clone()) {
                let message = "A load balancer cannot be attached to multiple subnets in the same Availability Zone";
                return Err(Fault::new("InvalidConfigurationRequest", message));
            }
            vpcs.insert(subnet.vpc.clone());
            // An application load balancer scales into eight addresses of its own.
            if net.free_addresses(id) < 8 {
                let message = format!(
                    "Not enough IP space available in {id}. ELB requires at least 8 free IP addresses in each subnet."
                );
                return Err(Fault::new("InvalidSubnet", message));
            }
        }
        let (Some(vpc), 1) = (vpcs.pop_first(), vpcs.len() + 1) else {
            let message = "All subnets must belong to one VPC, and at least one must be specified";
            return Err(Fault::new("ValidationError", message));
        };
        if new.kind == "application" && zones.len() < 2 {
            let message = "At least two subnets in two different Availability Zones must be specified";
            return Err(Fault::new("ValidationError", message));
        }
        if new.scheme == "internet-facing" && !net.has_internet(&vpc) {
            return Err(Fault::new("InvalidSubnet", format!("VPC {vpc} has no internet gateway")));
        }
        for group in new.groups {
            if !net.has_group(&vpc, group) {
                return Err(Fault::new(
                    "InvalidSecurityGroup",
                    format!("One or more security groups are invalid: {group}"),
                ));
            }
        }
        Ok(vpc)
    }

    pub(super) fn balancing_arn(&self, region: &str, resource: &str) -> String {
        arn("elasticloadbalancing", region, &self.account, resource)
    }
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let mapped =
        context.list("SubnetMappings").iter().filter_map(|its| its.get("SubnetId")?.as_str().map(str::to_owned));
    let subnets: Vec<_> = context.texts("Subnets").into_iter().chain(mapped).collect();
    let new = NewBalancer {
        name: context.required("Name")?,
        kind: context.text("Type").unwrap_or("application"),
        scheme: context.text("Scheme").unwrap_or("internet-facing"),
        subnets: &subnets,
        groups: &context.texts("SecurityGroups"),
        tags: read_tags(context.list("Tags"))?,
    };
    let arn = world.make_balancer(context.region, new)?;
    let balancer = &world.balancing(context.region).balancers[&arn];
    Ok(json!({ "LoadBalancers": [view(world, context.region, &arn, balancer)] }).into())
}

fn view(world: &World, region: &str, arn: &str, balancer: &Balancer) -> Value {
    let net = world.net(region);
    let zone = |id: &String| {
        let zone = net.subnet(id).map(|subnet| world.zone_name(region, &subnet.zone)).unwrap_or_default();
        json!({ "SubnetId": id, "ZoneName": zone, "LoadBalancerAddresses": [] })
    };
    let serial = arn.rsplit('/').next().unwrap_or_default();
    let internal = if balancer.scheme == "internal" { "internal-" } else { "" };
    let host = match balancer.kind.as_str() {
        "network" => format!("{}-{serial}.elb.{region}.amazonaws.com", balancer.name),
        _ => format!("{internal}{}-{serial}.{region}.elb.amazonaws.com", balancer.name),
    };
    json!({
        "LoadBalancerArn": arn,
        "LoadBalancerName": balancer.name,
        "Type": balancer.kind,
        "Scheme": balancer.scheme,
        "DNSName": host,
        "CanonicalHostedZoneId": "Z1H1FL5HABSF5",
        "CreatedTime": balancer.created as f64 / 1000.0,
        "VpcId": balancer.vpc,
        "State": { "Code": if world.now < balancer.ready { "provisioning" } else { "active" } },
        "AvailabilityZones": balancer.subnets.iter().map(zone).collect::<Vec<_>>(),
        "SecurityGroups": balancer.groups,
        "IpAddressType": "ipv4",
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let all = &world.balancing(context.region).balancers;
    let (arns, names) = (context.texts("LoadBalancerArns"), context.texts("Names"));
    if let Some(arn) = arns.iter().find(|arn| !all.contains_key(*arn)) {
        return Err(missing(arn));
    }
    if let Some(name) = names.iter().find(|name| all.values().all(|balancer| balancer.name != **name)) {
        return Err(Fault::new("LoadBalancerNotFound", format!("Load balancers '[{name}]' not found")));
    }
    let wanted = |arn: &String, name: &String| {
        (arns.is_empty() || arns.contains(arn)) && (names.is_empty() || names.contains(name))
    };
    let found: Vec<_> = all
        .iter()
        .filter(|(arn, balancer)| wanted(arn, &balancer.name))
        .map(|(arn, balancer)| view(world, context.region, arn, balancer))
        .collect();
    let most = context.number("PageSize").or(Some(400));
    let (found, next) = page(found, context.text("Marker"), most, "ValidationError")?;
    Ok(json!({ "LoadBalancers": found, "NextMarker": next }).into())
}

/// What does not exist is deleted.
pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("LoadBalancerArn")?;
    let balancing = world.balancing_mut(context.region);
    balancing.listeners.retain(|_, listener| listener.balancer != arn);
    if let Some(balancer) = balancing.balancers.remove(arn) {
        world.interfaces_go(context.region, balancer.interfaces);
    }
    Ok(json!({}).into())
}

pub(super) fn listen(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let balancer = context.required("LoadBalancerArn")?;
    let tags = read_tags(context.list("Tags"))?;
    let balancing = world.balancing(context.region);
    let kind = balancing.balancers.get(balancer).ok_or_else(|| missing(balancer))?.kind.clone();
    let listener = Listener {
        balancer: balancer.to_owned(),
        protocol: context.text("Protocol").unwrap_or(if kind == "network" { "TCP" } else { "HTTP" }).to_owned(),
        port: context.number("Port").unwrap_or(80),
        actions: context.list("DefaultActions").to_vec(),
        tags,
    };
    if let Some(target) = listener.targets().find(|target| !balancing.target_groups.contains_key(*target)) {
        return Err(missing(target));
    }
    if balancing.listeners.values().any(|its| its.balancer == balancer && its.port == listener.port) {
        return Err(Fault::new("DuplicateListener", "A listener already exists on this port for this load balancer"));
    }
    let serial = world.serial(16);
    let arn = format!("{}/{serial}", balancer.replace(":loadbalancer/", ":listener/"));
    let view = listener_view(&arn, &listener);
    world.balancing_mut(context.region).listeners.insert(arn, listener);
    Ok(json!({ "Listeners": [view] }).into())
}

fn listener_view(arn: &str, listener: &Listener) -> Value {
    json!({
        "ListenerArn": arn,
        "LoadBalancerArn": listener.balancer,
        "Protocol": listener.protocol,
        "Port": listener.port,
        "DefaultActions": listener.actions,
    })
}

pub(super) fn listeners(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let balancing = world.balancing(context.region);
    let (balancer, arns) = (context.text("LoadBalancerArn"), context.texts("ListenerArns"));
    if let Some(arn) = balancer.filter(|arn| !balancing.balancers.contains_key(*arn)) {
        return Err(missing(arn));
    }
    if let Some(arn) = arns.iter().find(|arn| !balancing.listeners.contains_key(*arn)) {
        return Err(missing(arn));
    }
    let wanted = |(arn, listener): &(&String, &Listener)| {
        balancer.is_none_or(|balancer| listener.balancer == balancer) && (arns.is_empty() || arns.contains(arn))
    };
    let all = balancing.listeners.iter().filter(wanted);
    let found: Vec<_> = all.map(|(arn, listener)| listener_view(arn, listener)).collect();
    let most = context.number("PageSize").or(Some(400));
    let (found, next) = page(found, context.text("Marker"), most, "ValidationError")?;
    Ok(json!({ "Listeners": found, "NextMarker": next }).into())
}

pub(super) fn unlisten(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("ListenerArn")?;
    world.balancing_mut(context.region).listeners.remove(arn).ok_or_else(|| missing(arn))?;
    Ok(json!({}).into())
}
