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

#[cfg(feature = "aws")]
mod live {
    use super::{Attachment, Desired, NetworkInterface, Observed};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, count, deleted, field, found},
            ec2::{in_vpc, listed, of_stack, tags},
            failed,
        },
        contract::{Class, CloudError, Kind, Live},
        model::{PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, Filter};
    use std::iter::once;

    const DESCRIBE: &str = "ec2:DescribeNetworkInterfaces";

    fn attachment(attachment: types::NetworkInterfaceAttachment) -> Option<Attachment> {
        Some(Attachment {
            instance_id: attachment.instance_id?,
            device_index: count(attachment.device_index),
            network_card_index: count(attachment.network_card_index),
            delete_on_termination: attachment.delete_on_termination.unwrap_or_default(),
        })
    }

    fn observe(interface: types::NetworkInterface) -> Result<Observed, CloudError> {
        let group = |group: types::GroupIdentifier| field(DESCRIBE, "groupId", group.group_id);
        Ok(Observed {
            network_interface_id: field(DESCRIBE, "networkInterfaceId", interface.network_interface_id)?,
            vpc_id: field(DESCRIBE, "vpcId", interface.vpc_id)?,
            subnet_id: field(DESCRIBE, "subnetId", interface.subnet_id)?,
            group_ids: interface.groups.into_iter().flatten().map(group).collect::<Result<_, _>>()?,
            interface_type: field(DESCRIBE, "interfaceType", interface.interface_type)?.as_str().to_owned(),
            description: interface.description.unwrap_or_default(),
            status: field(DESCRIBE, "status", interface.status)?.as_str().to_owned(),
            attachment: interface.attachment.and_then(attachment),
            private_ip: interface.private_ip_address,
            public_ip: interface.association.and_then(|association| association.public_ip),
            requester_managed: interface.requester_managed.unwrap_or_default(),
            tags: tags(interface.tag_set),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let pages = aws.ec2().describe_network_interfaces().filters(filter).into_paginator().items().send();
        let interfaces = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        interfaces.into_iter().map(observe).collect()
    }

    impl Live<Aws> for NetworkInterface {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // In a network that was brought along only the tag tells the stack's from those of others.
            let filters = once(of_stack(scope)).chain(in_vpc(scope, "vpc-id"));
            listed::<Self, _>(filters, |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.ec2().describe_network_interfaces().network_interface_ids(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            answer.and_then(|answer| answer.network_interfaces?.pop()).map(observe).transpose()
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let call = "ec2:DeleteNetworkInterface";
            let Some(live) = Self::read(aws, id).await? else { return Ok(()) };
            if live.left_behind() {
                return deleted(
                    aws.ec2().delete_network_interface().network_interface_id(id).send().await.map_err(failed(call)),
                );
            }
            // It ends with what holds it: there is nothing to do but to wait, and no call that AWS would not refuse.
            let holder = match &live.attachment {
                Some(attachment) => attachment.instance_id.as_str(),
                None => "the service that made it",
            };
            Err(CloudError::new(
                call,
                Class::InUse,
                "InUse",
                format!("{id} is held by {holder} ({})", live.description),
            ))
        }
    }
}
