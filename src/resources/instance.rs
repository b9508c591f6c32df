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
