//! EC2 instances, which node groups and Karpenter start. Must never be wished for.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Purchase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
    resources::launch_template::InterfaceType,
};
use serde::{Deserialize, Serialize};

pub struct Instance;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    pub instance_type: String,
    pub purchase: Purchase,
    /// Zone id.
    pub zone: String,
    pub vpc: Link,
    pub subnet: Link,
    pub interfaces: Vec<Interface>,
    /// Name of the group.
    pub placement_group: Option<Link>,
    /// `cr-…` that the instance runs in: where another was targeted, the launch went to the open pool.
    pub reservation: Option<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interface {
    pub card: u32,
    pub device: u32,
    pub r#type: InterfaceType,
    pub groups: Vec<Link>,
}

/// EC2 `Instance`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `i-…`
    pub instance_id: String,
    /// `pending`, `running`, `stopping`, `stopped`, `shutting-down`, `terminated`.
    pub state: String,
    /// `StateReason.Message`, where EC2 gives one.
    pub reason: Option<String>,
    /// RFC 3339.
    pub launched: String,
    /// What nobody changes on a running instance.
    pub shape: Desired,
    pub tags: Tags,
}

impl Kind for Instance {
    const NAME: &'static str = "instance";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/instanceType"),
        Field::immutable("/purchase"),
        Field::immutable("/zone"),
        Field::immutable("/vpc"),
        Field::immutable("/subnet"),
        Field::immutable("/interfaces"),
        Field::immutable("/placementGroup"),
        Field::immutable("/reservation"),
    ];
    // Eight accelerators and 30 TB of local disks take minutes to be wiped.
    const PATIENCE: Patience = Patience { poll: 10, stall: 900, total: 1_800, streak: 1 };
    const AWS_NAME: &'static str = "ec2:instance";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.instance_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id".to_owned(), live.instance_id.clone())].into()
    }
    fn project(live: &Observed) -> Desired {
        live.shape.clone()
    }
    fn ready(live: &Observed) -> Readiness {
        let said = || match &live.reason {
            Some(reason) => format!("{}: {reason}", live.state),
            None => live.state.clone(),
        };
        match live.state.as_str() {
            "running" => Readiness::Ready,
            "pending" => Readiness::Pending(said()),
            _ => Readiness::Broken(said()),
        }
    }
    /// EC2 lists an instance for about an hour after its end.
    fn gone(live: &Observed) -> bool {
        live.state == "terminated"
    }
    /// Holds its placement group, subnet and security groups until it is terminated.
    fn going(live: &Observed) -> bool {
        live.state == "shutting-down"
    }
    fn headline(want: &Desired) -> String {
        let efa = want.interfaces.iter().filter(|interface| interface.r#type != InterfaceType::Ena).count();
        let efa = if efa > 0 { format!(", {efa} EFA") } else { String::new() };
        format!("{} in {}{efa}", want.instance_type, want.zone)
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        vec![Demand::Instances {
            instance_type: want.instance_type.clone(),
            purchase: want.purchase,
            zone: Some(want.zone.clone()),
            min: 1,
            now: 1,
            max: 1,
        }]
    }
    fn samples() -> Vec<Desired> {
        let groups = vec![Link::to(&Address::new("security-group", "efa"), "id")];
        let interface = |card, device, r#type| Interface { card, device, r#type, groups: groups.clone() };
        vec![Desired {
            instance_type: "p5.48xlarge".to_owned(),
            purchase: Purchase::Reservation,
            zone: "usw2-az2".to_owned(),
            vpc: Link::to(&Address::new("vpc", "main"), "id"),
            subnet: Link::to(&Address::new("subnet", "private-usw2-az2"), "id"),
            interfaces: vec![interface(0, 0, InterfaceType::Ena), interface(0, 1, InterfaceType::EfaOnly)],
            placement_group: Some(Link::to(&Address::new("placement-group", "p5"), "name")),
            reservation: Some("cr-0123456789abcdef0".to_owned()),
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = match phase {
            Phase::Coming => "pending",
            Phase::There | Phase::Changing => "running",
            Phase::Going => "shutting-down",
        };
        Observed {
            instance_id: id.to_owned(),
            state: state.to_owned(),
            reason: None,
            launched: "2026-12-01T12:00:00Z".to_owned(),
            shape: want.clone(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("i-{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Instance, Interface, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, count, deleted, field, found},
            ec2::{in_vpc, listed, of_stack, tags},
            failed,
        },
        clock::rfc3339,
        contract::{CloudError, Kind, Live, Purchase},
        model::{Link, PhysicalId, Scope, Stamp},
        resources::launch_template::data::kind_of,
    };
    use aws_sdk_ec2::types::{self, Filter, InstanceLifecycleType};
    use std::iter::once;

    const DESCRIBE: &str = "ec2:DescribeInstances";

    fn interface(interface: types::InstanceNetworkInterface) -> Interface {
        let seat = interface.attachment;
        Interface {
            card: count(seat.as_ref().and_then(|seat| seat.network_card_index)),
            device: count(seat.as_ref().and_then(|seat| seat.device_index)),
            r#type: kind_of(interface.interface_type.as_deref()),
            groups: interface.groups.into_iter().flatten().filter_map(|group| group.group_id).map(Link::is).collect(),
        }
    }

    fn observe(instance: types::Instance) -> Result<Observed, CloudError> {
        let purchase = match &instance.instance_lifecycle {
            Some(InstanceLifecycleType::Spot) => Purchase::Spot,
            Some(InstanceLifecycleType::CapacityBlock) => Purchase::CapacityBlock,
            _ if instance.capacity_reservation_id.is_some() => Purchase::Reservation,
            _ => Purchase::OnDemand,
        };
        let placement = field(DESCRIBE, "placement", instance.placement)?;
        let launched = field(DESCRIBE, "launchTime", instance.launch_time)?;
        let state = field(DESCRIBE, "state", instance.state)?;
        let mut interfaces: Vec<_> = instance.network_interfaces.into_iter().flatten().map(interface).collect();
        interfaces.sort_by_key(|interface| (interface.card, interface.device));
        // One that is terminated is in no network any more.
        let place = |id: Option<String>| Link::is(id.unwrap_or_default());
        Ok(Observed {
            instance_id: field(DESCRIBE, "instanceId", instance.instance_id)?,
            state: field(DESCRIBE, "state", state.name)?.as_str().to_owned(),
            reason: instance.state_reason.and_then(|reason| reason.message),
            launched: jiff::Timestamp::from_second(launched.secs()).map(rfc3339).unwrap_or_default(),
            shape: Desired {
                instance_type: field(DESCRIBE, "instanceType", instance.instance_type)?.as_str().to_owned(),
                purchase,
                zone: field(DESCRIBE, "availabilityZoneId", placement.availability_zone_id)?,
                vpc: place(instance.vpc_id),
                subnet: place(instance.subnet_id),
                interfaces,
                placement_group: placement.group_name.filter(|name| !name.is_empty()).map(Link::is),
                reservation: instance.capacity_reservation_id,
            },
            tags: tags(instance.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let request = aws.ec2().describe_instances().filters(filter).include_managed_resources(true);
        let pages = request.into_paginator().page_size(1000).items().send();
        let batches = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        batches.into_iter().flat_map(|batch| batch.instances.unwrap_or_default()).map(observe).collect()
    }

    impl Live<Aws> for Instance {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // In a network that was brought along only the tag tells the stack's from those of others.
            let filters = once(of_stack(scope)).chain(in_vpc(scope, "vpc-id"));
            listed::<Self, _>(filters, |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_instances().instance_ids(id).send().await.map_err(failed(DESCRIBE));
            let batch = found(answer)?.and_then(|answer| answer.reservations?.pop());
            batch.and_then(|batch| batch.instances?.pop()).map(observe).transpose()
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let request = aws.ec2().terminate_instances().instance_ids(id);
            deleted(request.send().await.map_err(failed("ec2:TerminateInstances")))
        }
    }
}
