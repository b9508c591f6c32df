//! EC2 launch templates of managed node groups: interfaces, disks, placement, user data. Must never name an image, a subnet or
//! an instance profile: EKS puts in its own and refuses ours.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags, anchor_only},
};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

#[cfg(feature = "aws")]
pub(super) mod data;
#[cfg(feature = "aws")]
pub(super) mod live;

pub struct LaunchTemplate;

/// What a node of a class is launched with. All but the name is in the template's versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// 3–128 characters, unique in account and region.
    pub name: String,
    /// In the order of card and device; the first is the primary one.
    pub interfaces: Vec<Interface>,
    pub volumes: Vec<Disk>,
    /// Name of a placement group (`Placement.GroupName`).
    pub placement_group: Option<Link>,
    /// `cr-…` that instances must launch into (`CapacityReservationTarget`); brought along, so never a link.
    pub reservation: Option<String>,
    /// The reservation is a capacity block: `MarketType=capacity-block`, without which EC2 refuses the target, and with which
    /// it refuses an on-demand reservation.
    pub capacity_block: bool,
    /// With a capacity block only: EKS wants it here then, and in the node group otherwise.
    pub instance_type: Option<String>,
    pub metadata: Metadata,
    /// As text; base64 is the wire's business. `None`: EKS's own is right.
    pub user_data: Option<String>,
    /// Tags of instances, volumes and network interfaces at launch.
    pub instance_tags: Tags,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Interface {
    pub card: u32,
    /// Counted on its card.
    pub device: u32,
    pub r#type: InterfaceType,
    /// Security groups. Never empty: an interface without groups gets the VPC's default group.
    pub groups: Vec<Link>,
    /// EC2 keeps interfaces beyond the first when the instance goes, unless told otherwise.
    pub delete_on_termination: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum InterfaceType {
    #[serde(rename = "interface")]
    Ena,
    #[serde(rename = "efa")]
    Efa,
    /// Takes no address and can't be primary.
    #[serde(rename = "efa-only")]
    EfaOnly,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Disk {
    /// `/dev/xvda` is AL2023's root; `/dev/xvdb` is where Bottlerocket keeps images and pods.
    pub device: String,
    pub volume: Volume,
    pub encrypted: bool,
    /// KMS key ARN; `None`: the account's default key.
    pub kms_key: Option<String>,
    pub delete_on_termination: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Volume {
    /// `gp3`, `gp2`, `io1`, `io2`.
    pub r#type: String,
    /// GiB.
    pub size: u32,
    pub iops: Option<u32>,
    /// MiB/s.
    pub throughput: Option<u32>,
}

/// EC2 `LaunchTemplateInstanceMetadataOptions`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Metadata {
    pub tokens_required: bool,
    /// 1: pods of their own network namespace don't reach the metadata, and so not the node's role.
    pub hop_limit: u32,
    /// False: tag keys with a slash, which all of ours have, make EC2 refuse the launch.
    pub instance_tags: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `lt-…`
    pub launch_template_id: String,
    /// `LatestVersionNumber`: nothing but us makes versions, and node groups pin the one that they run.
    pub latest_version: u64,
    /// The name, and the data of the latest version: `LaunchTemplateData` has the wish's own shape.
    pub latest: Desired,
    /// Of the template itself, not of instances.
    pub tags: Tags,
}

impl Kind for LaunchTemplate {
    const NAME: &'static str = "launch-template";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        // A version can't be changed: every change of data is CreateLaunchTemplateVersion, with all data of the wish.
        Field::in_place("/interfaces").changes(&["version"]),
        Field::in_place("/volumes").changes(&["version"]),
        // Not `holds`: EC2 lets a group go that only a template names. The nodes hold it, and the node group says so.
        Field::in_place("/placementGroup").changes(&["version"]),
        Field::in_place("/reservation").changes(&["version"]),
        Field::in_place("/capacityBlock").changes(&["version"]),
        Field::in_place("/instanceType").changes(&["version"]),
        Field::in_place("/metadata").changes(&["version"]),
        Field::in_place("/userData").changes(&["version"]),
        // Readable, and still not diffed: a new version would make EKS replace every node for the sake of a tag. The node
        // group tags what lives (its `instanceTags`); the next version, whatever it is made for, carries the new tags.
        Field::create_only("/instanceTags"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;
    const AWS_NAME: &'static str = "ec2:launch-template";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.launch_template_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [
            ("id".to_owned(), live.launch_template_id.clone()),
            ("name".to_owned(), live.latest.name.clone()),
            ("version".to_owned(), live.latest_version.to_string()),
        ]
        .into()
    }
    fn project(live: &Observed) -> Desired {
        live.latest.clone()
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.latest.name.clone())
    }
    fn headline(want: &Desired) -> String {
        let efa = want.interfaces.iter().filter(|interface| interface.r#type != InterfaceType::Ena).count();
        let mut parts = vec![match want.interfaces.len() {
            1 => "1 interface".to_owned(),
            n => format!("{n} interfaces"),
        }];
        if efa > 0 {
            parts.push(format!("{efa} EFA"));
        }
        if let Some(group) = &want.placement_group {
            parts.push(format!("placement group {}", named(group)));
        }
        if let Some(id) = &want.reservation {
            let kind = if want.capacity_block { "capacity block" } else { "reservation" };
            parts.push(format!("{kind} {id}"));
        }
        parts.extend(want.volumes.iter().map(|disk| format!("{} GiB {}", disk.volume.size, disk.volume.r#type)));
        parts.join(", ")
    }
    fn check(want: &Desired) -> Vec<String> {
        check(want)
    }
    fn samples() -> Vec<Desired> {
        samples()
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, _phase: Phase) -> Observed {
        Observed {
            launch_template_id: id.to_owned(),
            latest_version: imagined_version(want),
            latest: want.clone(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("lt-{serial}")
    }
}

/// A link for people: what stands after the dot of an address, or the physical name.
pub(super) fn named(link: &Link) -> String {
    match link {
        Link::To { address, .. } => Address::name(address).to_owned(),
        Link::Is(value) => value.clone(),
    }
}

/// EC2 counts versions; an imagined template has no past to count, so its version is a digest of its data: other data, other
/// version, which is all that a node group sees of it.
fn imagined_version(want: &Desired) -> u64 {
    let digest = Sha256::digest(format!("{want:?}"));
    1 + digest.iter().take(3).fold(0, |sum, byte| sum * 256 + u64::from(*byte))
}

impl Volume {
    /// Sentences on what EBS refuses (EC2 API, `LaunchTemplateEbsBlockDeviceRequest`).
    pub fn check(&self) -> Vec<String> {
        let mut broken = vec![];
        let iops = match self.r#type.as_str() {
            "gp3" => Some(3_000..=80_000),
            "io1" => Some(100..=64_000),
            "io2" => Some(100..=256_000),
            _ => None,
        };
        match (iops, self.iops) {
            (Some(range), Some(iops)) if !range.contains(&iops) => {
                let (least, most) = range.into_inner();
                broken.push(format!("EBS takes {least} to {most} IOPS for {}, not {iops}", self.r#type));
            }
            (None, Some(_)) => broken.push(format!("EBS takes no IOPS for {}", self.r#type)),
            (Some(_), None) if self.r#type != "gp3" => {
                broken.push(format!("EBS wants IOPS said for {}", self.r#type));
            }
            _ => {}
        }
        match self.throughput {
            Some(_) if self.r#type != "gp3" => broken.push("EBS takes throughput for gp3 only".to_owned()),
            Some(mib) if !(125..=2_000).contains(&mib) => {
                broken.push(format!("EBS takes 125 to 2000 MiB/s for gp3, not {mib}"));
            }
            _ => {}
        }
        broken
    }
}

/// Bytes of user data that EC2 takes, before base64.
const USER_DATA_BYTES: usize = 16_384;

fn check(want: &Desired) -> Vec<String> {
    let mut broken = vec![];
    if !(3..=128).contains(&want.name.len()) {
        broken.push("EC2 takes 3 to 128 characters for a launch template's name".to_owned());
    }
    match want.interfaces.first() {
        Some(first) if (first.card, first.device) == (0, 0) && first.r#type != InterfaceType::EfaOnly => {}
        _ => broken.push("EC2 wants a primary interface on card 0, device 0, that takes an address".to_owned()),
    }
    let places: BTreeSet<_> = want.interfaces.iter().map(|interface| (interface.card, interface.device)).collect();
    if places.len() < want.interfaces.len() {
        broken.push("EC2 takes one interface for each device index of a card".to_owned());
    }
    if want.interfaces.iter().any(|interface| interface.groups.is_empty()) {
        broken.push(
            "an interface without security groups gets the VPC's default group: each must name its own".to_owned(),
        );
    }
    if want.interfaces.iter().any(|interface| !interface.delete_on_termination) {
        broken.push("an interface that outlives its instance holds subnet and security groups".to_owned());
    }
    if want.capacity_block && (want.reservation.is_none() || want.instance_type.is_none()) {
        broken.push("EKS wants reservation and instance type in the template of a capacity block".to_owned());
    }
    if !want.capacity_block && want.instance_type.is_some() {
        broken.push("EKS takes instance types from template or node group, never from both".to_owned());
    }
    if want.metadata.instance_tags && want.instance_tags.keys().any(|key| key.contains('/')) {
        broken.push("EC2 refuses tag keys with a slash where instance metadata shows tags".to_owned());
    }
    if let Some(key) = want.instance_tags.keys().find(|key| anchor_only(key)) {
        broken.push(format!("{key} changes from run to run, and a changed template rolls every node"));
    }
    if want.user_data.as_ref().is_some_and(|text| text.len() > USER_DATA_BYTES) {
        broken.push(format!("EC2 takes at most {USER_DATA_BYTES} bytes of user data"));
    }
    want.volumes.iter().for_each(|disk| broken.extend(disk.volume.check()));
    broken
}

fn samples() -> Vec<Desired> {
    let cluster = Link::to(&Address::new("cluster", "main"), "security-group");
    let efa = Link::to(&Address::new("security-group", "efa"), "id");
    let interface =
        |card, device, r#type, groups| Interface { card, device, r#type, groups, delete_on_termination: true };
    let plain = Desired {
        name: "llama-70b-system".to_owned(),
        interfaces: vec![interface(0, 0, InterfaceType::Ena, vec![cluster.clone()])],
        volumes: vec![Disk {
            device: "/dev/xvda".to_owned(),
            volume: Volume { r#type: "gp3".to_owned(), size: 100, iops: None, throughput: None },
            encrypted: true,
            kms_key: None,
            delete_on_termination: true,
        }],
        placement_group: None,
        reservation: None,
        capacity_block: false,
        instance_type: None,
        metadata: Metadata { tokens_required: true, hop_limit: 1, instance_tags: false },
        user_data: None,
        instance_tags: [("infer-stack/stack".to_owned(), "llama-70b".to_owned())].into(),
    };
    let both = vec![cluster, efa];
    let p5 = Desired {
        name: "llama-70b-p5".to_owned(),
        interfaces: vec![
            interface(0, 0, InterfaceType::Ena, both.clone()),
            interface(0, 1, InterfaceType::EfaOnly, both.clone()),
            interface(1, 0, InterfaceType::EfaOnly, both.clone()),
        ],
        volumes: vec![Disk {
            device: "/dev/xvdb".to_owned(),
            volume: Volume { r#type: "gp3".to_owned(), size: 500, iops: Some(6_000), throughput: Some(500) },
            encrypted: true,
            kms_key: Some("arn:aws:kms:us-west-2:123456789012:key/0a1b".to_owned()),
            delete_on_termination: true,
        }],
        placement_group: Some(Link::to(&Address::new("placement-group", "p5"), "name")),
        user_data: Some("[settings.kubernetes]\nmax-pods = 51\n".to_owned()),
        ..plain.clone()
    };
    let block = Desired {
        name: "llama-70b-block".to_owned(),
        interfaces: vec![interface(0, 0, InterfaceType::Efa, both)],
        reservation: Some("cr-0123456789abcdef0".to_owned()),
        capacity_block: true,
        instance_type: Some("p5.4xlarge".to_owned()),
        ..plain.clone()
    };
    vec![plain, p5, block]
}
