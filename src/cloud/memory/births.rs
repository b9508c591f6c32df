//! What AWS makes and takes by itself around gateways, endpoints and clusters. Must never make what a stack wishes for.

use super::{
    account::Inner,
    mutations::{end, insert},
    nodes,
    world::{Moment, Object},
};
use crate::{
    contract::{CloudError, Kind},
    model::{Address, Doc, Link, PhysicalId, Stamp, Tags},
    resources::{
        cluster::Cluster,
        instance::Instance,
        log_group::{self, LogGroup},
        nat_gateway::{self, NatGateway},
        network_interface::{self, NetworkInterface},
        node_group::NodeGroup,
        security_group::{self, SecurityGroup},
        vpc_endpoint::{self, VpcEndpoint},
    },
};
use serde::Serialize;

/// Seconds after which a log group is written again that was deleted while its cluster's last lines were on their way.
const LATE_LINES: Moment = 20;

pub(super) fn after_create(inner: &mut Inner, object: &Object, now: Moment) -> Result<(), CloudError> {
    match object.kind.as_str() {
        NodeGroup::NAME => nodes::scale(inner, object, now),
        Cluster::NAME => cluster_brings(inner, object, now),
        NatGateway::NAME => {
            if let nat_gateway::Desired::Zonal { vpc, subnet, .. } = typed(inner, &object.want)? {
                serves(inner, object, &vpc, &subnet, vec![], "natGateway", now)?;
            }
            Ok(())
        }
        VpcEndpoint::NAME => {
            if let vpc_endpoint::Desired::Interface { vpc, subnets, groups, .. } = typed(inner, &object.want)? {
                for subnet in &subnets {
                    serves(inner, object, &vpc, subnet, groups.clone(), "vpc_endpoint", now)?;
                }
            }
            Ok(())
        }
        _ => Ok(()),
    }
}

pub(super) fn after_update(inner: &mut Inner, before: &Object, object: &Object, now: Moment) -> Result<(), CloudError> {
    if object.kind == NodeGroup::NAME {
        nodes::follow(inner, before, object, now)?;
    }
    Ok(())
}

pub(super) fn after_delete(inner: &mut Inner, object: &Object, gone: Moment, now: Moment) -> Result<(), CloudError> {
    match object.kind.as_str() {
        NodeGroup::NAME => nodes::leave(inner, object, gone, now),
        Instance::NAME => nodes::empty(inner, &object.id, gone, now),
        LogGroup::NAME => log_returns(inner, object, gone, now),
        Cluster::NAME => {
            takes_along(inner, object, gone, now);
            if inner.scenario.leaves.cluster_group {
                keep(inner, object, SecurityGroup::NAME);
            }
            Ok(())
        }
        _ => {
            takes_along(inner, object, gone, now);
            Ok(())
        }
    }
}

/// What an object brought goes with it.
fn takes_along(inner: &mut Inner, object: &Object, gone: Moment, now: Moment) {
    for at in brought_by(inner, &object.id, now) {
        end(inner, at, now, gone);
    }
}

fn keep(inner: &mut Inner, object: &Object, kind: &str) {
    for its in inner.world.objects.iter_mut().filter(|its| its.made_by.as_ref() == Some(&object.id) && its.kind == kind)
    {
        (its.deleting, its.gone, its.made_by) = (None, None, None);
    }
}

pub(super) fn brought_by(inner: &Inner, id: &str, now: Moment) -> Vec<usize> {
    let objects = inner.world.objects.iter().enumerate();
    objects.filter(|(_, o)| o.exists(now) && o.made_by.as_deref() == Some(id)).map(|(at, _)| at).collect()
}

/// EKS's own security group, and an interface in each of the control plane's first two subnets.
fn cluster_brings(inner: &mut Inner, cluster: &Object, now: Moment) -> Result<(), CloudError> {
    let Some(group) = cluster.outputs.get("security-group").cloned() else { return Ok(()) };
    let subnets: Vec<String> = cluster.targets().filter(|value| vpc_of(inner, value).is_some()).collect();
    let Some(vpc) = subnets.first().and_then(|subnet| vpc_of(inner, subnet)) else { return Ok(()) };
    let want = security_group::Desired {
        vpc: Link::is(&vpc),
        name: format!("eks-cluster-sg-{}-{}", cluster.id, &group[group.len().saturating_sub(9)..]),
        description:
            "EKS created security group applied to ENI that is attached to EKS Control Plane master nodes, as \
                      well as any managed workloads."
                .to_owned(),
        ingress: vec![security_group::Rule::all(security_group::Peer::Itself)],
        egress: vec![],
    };
    let tags = Tags::from([
        (format!("kubernetes.io/cluster/{}", cluster.id), "owned".to_owned()),
        ("aws:eks:cluster-name".to_owned(), cluster.id.clone()),
    ]);
    bring(inner, SecurityGroup::NAME, &want, group.clone(), tags, Some(cluster), now)?;
    for subnet in subnets.iter().take(2) {
        let want = network_interface::Desired {
            vpc: Link::is(&vpc),
            subnet: Link::is(subnet),
            groups: vec![Link::is(&group)],
            interface_type: "interface".to_owned(),
            description: format!("Amazon EKS {}", cluster.id),
            instance: None,
            requester_managed: true,
        };
        let id = format!("eni-0{}", inner.world.serial());
        bring(inner, NetworkInterface::NAME, &want, id, Tags::new(), Some(cluster), now)?;
    }
    Ok(())
}

/// The interface of a service that AWS runs.
fn serves(
    inner: &mut Inner,
    object: &Object,
    vpc: &Link,
    subnet: &Link,
    groups: Vec<Link>,
    interface_type: &str,
    now: Moment,
) -> Result<(), CloudError> {
    let want = network_interface::Desired {
        vpc: vpc.clone(),
        subnet: subnet.clone(),
        groups,
        interface_type: interface_type.to_owned(),
        description: format!("Interface for {} {}", object.kind, object.id),
        instance: None,
        requester_managed: true,
    };
    let id = format!("eni-0{}", inner.world.serial());
    bring(inner, NetworkInterface::NAME, &want, id, Tags::new(), Some(object), now)
}

fn log_returns(inner: &mut Inner, group: &Object, gone: Moment, now: Moment) -> Result<(), CloudError> {
    // What returned once is deleted for good: by then nobody writes.
    if !inner.scenario.leaves.log_group || group.stamp.tags.is_empty() {
        return Ok(());
    }
    let name = group.outputs.get("name").unwrap_or(&group.id).clone();
    let want = log_group::Desired { name, retention: None };
    bring(inner, LogGroup::NAME, &want, group.id.clone(), Tags::new(), None, gone.max(now) + LATE_LINES * 1000)
}

/// Puts something into the world that nobody's call made.
pub(super) fn bring(
    inner: &mut Inner,
    kind: &str,
    want: &impl Serialize,
    id: PhysicalId,
    tags: Tags,
    by: Option<&Object>,
    now: Moment,
) -> Result<(), CloudError> {
    let Some(its) = inner.kind(kind) else { return Ok(()) };
    let want = serde_json::to_value(want).expect("a wish is plain data with text keys");
    // No address: nobody wishes for it.
    let stamp = Stamp { address: Address::new(kind, &id), tags, token: String::new() };
    insert(inner, its, want, id, stamp, by.map(|by| by.id.clone()), now).map(drop)
}

/// VPC of a subnet, made or brought along.
pub(super) fn vpc_of(inner: &Inner, subnet: &str) -> Option<String> {
    let made = inner.world.objects.iter().find(|object| object.kind == "subnet" && object.id == subnet);
    let vpc = made.and_then(|object| object.want["vpc"]["$id"].as_str()).map(str::to_owned);
    vpc.or_else(|| inner.world.brought.subnets.get(subnet).map(|facts| facts.vpc.clone()))
}

pub(super) fn typed<T: serde::de::DeserializeOwned>(inner: &Inner, doc: &Doc) -> Result<T, CloudError> {
    serde_json::from_value(doc.clone()).map_err(|e| inner.unreadable(&e.to_string()))
}
