//! A network interface that instances, gateways, balancers, endpoints or EKS bring. Must never be wished for: templates and
//! services make them, and the stack reads, compares and, where one was left behind, deletes them.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct NetworkInterface;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub vpc: Link,
    pub subnet: Link,
    pub groups: Vec<Link>,
    /// EC2's InterfaceType: `interface`, `efa` (with an address), `efa-only` (without), `natGateway`, `vpc_endpoint`, …
    pub interface_type: String,
    pub description: String,
    pub instance: Option<Seat>,
    /// True where a service made it: only that service can delete it.
    pub requester_managed: bool,
}

/// Where in an instance it sits.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Seat {
    pub instance: Link,
    pub device: u32,
    pub card: u32,
}

/// DescribeNetworkInterfaces.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub network_interface_id: String,
    pub vpc_id: String,
    pub subnet_id: String,
    pub group_ids: Vec<String>,
    pub interface_type: String,
    pub description: String,
    /// `available` (attached to nothing), `associated`, `attaching`, `in-use`, `detaching`
    pub status: String,
    /// `None` while attached to nothing, or to something that is no instance of the account.
    pub attachment: Option<Attachment>,
    /// `None` for `efa-only`, which takes no address.
    pub private_ip: Option<String>,
    pub public_ip: Option<String>,
    pub requester_managed: bool,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attachment {
    pub instance_id: String,
    pub device_index: u32,
    pub network_card_index: u32,
    pub delete_on_termination: bool,
}

impl Observed {
    /// Left behind: attached to nothing, so that nobody but us will delete it. The CNI leaves such ones when a node dies while
    /// it attaches.
    pub fn left_behind(&self) -> bool {
        self.status == "available" && !self.requester_managed
    }

    /// Carries EFA traffic, with or without an address.
    pub fn is_efa(&self) -> bool {
        matches!(self.interface_type.as_str(), "efa" | "efa-only")
    }
}

impl Kind for NetworkInterface {
    const NAME: &'static str = "network-interface";
    const AWS_NAME: &'static str = "ec2:network-interface";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/vpc"),
        Field::immutable("/subnet"),
        // ModifyNetworkInterfaceAttribute takes groups and description; while a group is on an interface it can't be deleted.
        Field::in_place("/groups").set().holds(),
        Field::immutable("/interfaceType"),
        Field::in_place("/description"),
        // No link that an instance's deletion would wait for: interfaces of an instance end with it.
        Field::in_place("/instance"),
        Field::immutable("/requesterManaged"),
    ];
    /// A service's interfaces vanish minutes after the service's object.
    const PATIENCE: Patience = Patience::new(5, 600, 1200);
    /// An attached one can't be deleted, and most end with what they are attached to.
    const DELETED_AFTER: &'static [&'static str] =
        &["instance", "load-balancer", "nat-gateway", "vpc-endpoint", "cluster"];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.network_interface_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.network_interface_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            vpc: Link::is(&live.vpc_id),
            subnet: Link::is(&live.subnet_id),
            groups: live.group_ids.iter().map(Link::is).collect(),
            interface_type: live.interface_type.clone(),
            description: live.description.clone(),
            instance: live.attachment.as_ref().map(|attachment| Seat {
                instance: Link::is(&attachment.instance_id),
                device: attachment.device_index,
                card: attachment.network_card_index,
            }),
            requester_managed: live.requester_managed,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.status.as_str() {
            "attaching" => Readiness::Pending(live.status.clone()),
            _ => Readiness::Ready,
        }
    }
    fn going(live: &Observed) -> bool {
        live.status == "detaching"
    }
    fn headline(want: &Desired) -> String {
        let seat = want.instance.as_ref().map(|seat| format!(", card {} of {}", seat.card, seat.instance.target()));
        format!("{} in {}{}", want.interface_type, want.subnet.target(), seat.unwrap_or_default())
    }
    fn samples() -> Vec<Desired> {
        let to = |kind: &str, name: &str| Link::to(&Address::new(kind, name), "id");
        let efa = Desired {
            vpc: to("vpc", "main"),
            subnet: to("subnet", "private-usw2-az2"),
            groups: vec![Link::to(&Address::new("cluster", "main"), "security-group"), to("security-group", "efa")],
            interface_type: "efa-only".to_owned(),
            description: String::new(),
            instance: Some(Seat { instance: to("instance", "p5-0"), device: 1, card: 31 }),
            requester_managed: false,
        };
        let nat = Desired {
            groups: vec![],
            interface_type: "natGateway".to_owned(),
            description: "Interface for NAT Gateway nat-0a1b2c3d4e5f60718".to_owned(),
            instance: None,
            requester_managed: true,
            ..efa.clone()
        };
        vec![efa, nat]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let used = want.instance.is_some() || want.requester_managed;
        Observed {
            network_interface_id: id.to_owned(),
            vpc_id: want.vpc.target().to_owned(),
            subnet_id: want.subnet.target().to_owned(),
            group_ids: want.groups.iter().map(|group| group.target().to_owned()).collect(),
            interface_type: want.interface_type.clone(),
            description: want.description.clone(),
            status: match (used, phase) {
                (false, _) => "available",
                (true, Phase::Coming) => "attaching",
                (true, Phase::There | Phase::Changing) => "in-use",
                (true, Phase::Going) => "detaching",
            }
            .to_owned(),
            attachment: want.instance.as_ref().map(|seat| Attachment {
                instance_id: seat.instance.target().to_owned(),
                device_index: seat.device,
                network_card_index: seat.card,
                delete_on_termination: true,
            }),
            private_ip: (want.interface_type != "efa-only").then(|| "10.64.0.10".to_owned()),
            public_ip: None,
            requester_managed: want.requester_managed,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("eni-0{serial}")
    }
}
