//! Prefix lists of AWS, and the services that have endpoints in a region. Must never be made or changed by the account.

use crate::{
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            ec2::{Listing, describe, invalid},
            keep, page,
        },
    },
    stack::names::hash,
};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Services that are reached by routes.
const BY_ROUTE: &[&str] = &["s3", "dynamodb"];

/// Services that are reached by interfaces: those that stacks of this kind and their controllers speak with.
const BY_INTERFACE: &[&str] = &[
    "autoscaling",
    "ec2",
    "ec2messages",
    "ecr.api",
    "ecr.dkr",
    "ecs",
    "eks",
    "eks-auth",
    "elasticfilesystem",
    "elasticloadbalancing",
    "events",
    "fsx",
    "guardduty-data",
    "kms",
    "lambda",
    "logs",
    "monitoring",
    "s3",
    "sagemaker.api",
    "secretsmanager",
    "sns",
    "sqs",
    "ssm",
    "ssmmessages",
    "sts",
    "dynamodb",
];

/// Blocks of one of AWS's lists; documentation blocks, since nothing goes there from here.
const BLOCKS: &[&str] = &["192.0.2.0/24", "198.51.100.0/24"];

/// Name of an AWS service's endpoints.
fn name(region: &str, service: &str) -> String {
    format!("com.amazonaws.{region}.{service}")
}

/// Id of the prefix list of a service that is reached by routes.
pub fn prefix_list(region: &str, service_name: &str) -> Option<String> {
    let known = BY_ROUTE.iter().any(|service| name(region, service) == service_name);
    known.then(|| format!("pl-{}", hash(service_name, 8)))
}

/// True where a service has endpoints of that type in the region.
pub fn is_offered(region: &str, service_name: &str, endpoint_type: &str) -> bool {
    let services = if endpoint_type == "Gateway" { BY_ROUTE } else { BY_INTERFACE };
    services.iter().any(|service| name(region, service) == service_name)
}

pub(super) fn unknown(service_name: &str) -> Fault {
    Fault::new("InvalidServiceName", format!("The Vpc Endpoint Service '{service_name}' does not exist"))
}

fn lists(region: &str) -> BTreeMap<String, String> {
    let named = |service: &&str| {
        let name = name(region, service);
        Some((prefix_list(region, &name)?, name))
    };
    BY_ROUTE.iter().filter_map(named).collect()
}

fn values(id: &str, list: &str, name: &str) -> Option<Vec<String>> {
    match name {
        "prefix-list-id" => Some(vec![id.to_owned()]),
        "prefix-list-name" => Some(vec![list.to_owned()]),
        "owner-id" => Some(vec!["AWS".to_owned()]),
        _ => None,
    }
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let listing = Listing {
        ids: "PrefixListIds",
        prefix: "pl",
        member: "PrefixLists",
        values: &|id, list: &String, name| values(id, list, name),
        view: &|id, list| json!({ "PrefixListId": id, "PrefixListName": list, "Cidrs": BLOCKS }),
    };
    describe(world, context, &lists(context.region), listing)
}

pub(super) fn managed(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = |id: &str| format!("arn:aws:ec2:{}:aws:prefix-list/{id}", context.region);
    let listing = Listing {
        ids: "PrefixListIds",
        prefix: "pl",
        member: "PrefixLists",
        values: &|id, list: &String, name| values(id, list, name),
        view: &|id, list| {
            json!({
                "PrefixListId": id,
                "PrefixListName": list,
                "PrefixListArn": arn(id),
                "AddressFamily": "IPv4",
                "State": "create-complete",
                "OwnerId": "AWS",
            })
        },
    };
    describe(world, context, &lists(context.region), listing)
}

pub(super) fn services(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let region = context.region;
    let wanted = context.texts("ServiceNames");
    let offered = |name: &String| is_offered(region, name, "Gateway") || is_offered(region, name, "Interface");
    if let Some(wrong) = wanted.iter().find(|name| !offered(name)) {
        return Err(unknown(wrong));
    }
    let zones: Vec<String> = world.zones(region).into_iter().map(|zone| zone.name).collect();
    let both = BY_ROUTE.iter().map(|service| (service, "Gateway"));
    let both = both.chain(BY_INTERFACE.iter().map(|service| (service, "Interface")));
    let mut found: Vec<Value> = vec![];
    for (service, kind) in both {
        let name = name(region, service);
        if !wanted.is_empty() && !wanted.contains(&name) {
            continue;
        }
        let passes = keep(context, &Default::default(), &|filter| match filter {
            "service-name" => Some(vec![name.clone()]),
            "service-type" => Some(vec![kind.to_owned()]),
            "owner" => Some(vec!["amazon".to_owned()]),
            _ => None,
        })?;
        if passes {
            found.push(json!({
                "ServiceName": name,
                "ServiceId": format!("vpce-svc-0{}", hash(&format!("{name} {kind}"), 16)),
                "ServiceType": [{ "ServiceType": kind }],
                "ServiceRegion": region,
                "AvailabilityZones": zones,
                "Owner": "amazon",
                "BaseEndpointDnsNames": [private_name(region, &name)],
                "PrivateDnsName": (kind == "Interface").then(|| private_name(region, &name)),
                "VpcEndpointPolicySupported": true,
                "AcceptanceRequired": false,
                "ManagesVpcEndpoints": false,
                "SupportedIpAddressTypes": ["ipv4"],
            }));
        }
    }
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    let names: Vec<_> = found.iter().map(|service| service["ServiceName"].clone()).collect();
    Ok(json!({ "ServiceNames": names, "ServiceDetails": found, "NextToken": next }).into())
}

/// The public name that leads to a service's endpoint inside a VPC: `api.ecr.us-west-2.amazonaws.com`.
pub fn private_name(region: &str, service_name: &str) -> String {
    let service = service_name.rsplit_once(&format!("{region}.")).map_or(service_name, |(_, service)| service);
    let turned: Vec<&str> = service.split('.').rev().collect();
    format!("{}.{region}.amazonaws.com", turned.join("."))
}

/// A service name as a call gives it, where it is offered.
pub(super) fn service(context: &Context, endpoint_type: &str) -> Result<String, Fault> {
    let name = context.text("ServiceName").ok_or_else(|| invalid("The parameter serviceName is required"))?;
    if is_offered(context.region, name, endpoint_type) { Ok(name.to_owned()) } else { Err(unknown(name)) }
}
