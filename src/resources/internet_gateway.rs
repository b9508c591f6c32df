//! An internet gateway with its attachment, the VPC's door to public addresses. Must never be detached while something behind
//! it holds a public address.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct InternetGateway;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    /// `None` only in what lives: CreateInternetGateway attaches nothing, AttachInternetGateway follows as the first update.
    pub vpc: Option<Link>,
}

/// DescribeInternetGateways.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observed {
    pub internet_gateway_id: String,
    pub attachments: Vec<Attachment>,
    pub tags: Tags,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attachment {
    pub vpc_id: String,
    /// `attaching`, `attached`, `detaching`, `detached`; EC2 says `available` where its model says `attached`.
    pub state: String,
}

impl Observed {
    fn attachment(&self) -> Option<&Attachment> {
        self.attachments.iter().find(|attachment| !["detaching", "detached"].contains(&attachment.state.as_str()))
    }
}

impl Kind for InternetGateway {
    const NAME: &'static str = "internet-gateway";
    const AWS_NAME: &'static str = "ec2:internet-gateway";
    const LAYER: Layer = Layer::Network;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    // Attached, it keeps its VPC from being deleted.
    const FIELDS: &'static [Field] = &[Field::in_place("/vpc").holds()];
    const PATIENCE: Patience = Patience::INSTANT;
    /// DetachInternetGateway is refused (DependencyViolation) while a public address is mapped behind it.
    const DELETED_AFTER: &'static [&'static str] = &["nat-gateway", "load-balancer", "elastic-ip", "instance"];

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.internet_gateway_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        Outputs::from([("id".to_owned(), live.internet_gateway_id.clone())])
    }
    fn project(live: &Observed) -> Desired {
        Desired { vpc: live.attachment().map(|attachment| Link::is(&attachment.vpc_id)) }
    }
    /// Ready while unattached: the attachment is the update that follows creation.
    fn ready(live: &Observed) -> Readiness {
        match live.attachment() {
            Some(attachment) if attachment.state == "attaching" => {
                Readiness::Pending(format!("attaching to {}", attachment.vpc_id))
            }
            _ => Readiness::Ready,
        }
    }
    fn headline(want: &Desired) -> String {
        match &want.vpc {
            Some(vpc) => format!("attached to {}", vpc.target()),
            None => "attached to nothing".to_owned(),
        }
    }
    fn demand(_: &Desired) -> Vec<Demand> {
        vec![Demand::one("internetGateway")]
    }
    fn check(want: &Desired) -> Vec<String> {
        let unattached = || "an internet gateway without a VPC does nothing".to_owned();
        if want.vpc.is_none() { vec![unattached()] } else { vec![] }
    }
    fn samples() -> Vec<Desired> {
        vec![Desired { vpc: Some(Link::to(&Address::new("vpc", "main"), "id")) }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = match phase {
            Phase::Coming | Phase::Changing => "attaching",
            Phase::There => "available",
            Phase::Going => "detaching",
        };
        let attachment = |vpc: &Link| Attachment { vpc_id: vpc.target().to_owned(), state: state.to_owned() };
        Observed {
            internet_gateway_id: id.to_owned(),
            attachments: want.vpc.iter().map(attachment).collect(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_: &Desired, serial: &str) -> PhysicalId {
        format!("igw-0{serial}")
    }
}
