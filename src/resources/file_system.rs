//! FSx for Lustre file systems that show a bucket of weights. Must never be of a type that FSx would pick by itself: left out, it
//! makes SCRATCH_1 with Lustre 2.10.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags, imagined_arn, imagined_region},
};
use serde::{Deserialize, Serialize};

pub struct FileSystem;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// `PERSISTENT_2`
    pub deployment: String,
    /// `SSD`
    pub storage: String,
    /// Lustre version, `2.15`.
    pub version: String,
    /// The only one: there is no Lustre over several zones.
    pub subnet: Link,
    /// 988 and 1018–1023 from the clients: CreateFileSystem itself fails without 988.
    pub security_groups: Vec<Link>,
    /// GiB.
    pub capacity: u32,
    /// MB/s for each TiB.
    pub throughput: u32,
    /// `None`: mode AUTOMATIC, which follows the capacity.
    pub metadata_iops: Option<u32>,
    pub efa: bool,
    /// `LZ4` or `NONE`.
    pub compression: String,
    /// 0: what is linked to S3 has no backups.
    pub backup_days: u32,
}

/// FSx `FileSystem`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `fs-…`
    pub file_system_id: String,
    pub arn: String,
    /// `CREATING`, `AVAILABLE`, `UPDATING`, `DELETING`, `FAILED`, `MISCONFIGURED`, `MISCONFIGURED_UNAVAILABLE`.
    pub lifecycle: String,
    /// `FailureDetails.Message`.
    pub failure: Option<String>,
    /// Administrative actions and data repository tasks that run, in FSx's words. A task holds off deletion.
    pub running: Vec<String>,
    pub deployment: String,
    pub storage: String,
    pub version: String,
    pub subnet: String,
    /// Of its network interfaces: DescribeFileSystems gives none.
    pub security_groups: Vec<String>,
    pub capacity: u32,
    pub throughput: u32,
    /// `AUTOMATIC` or `USER_PROVISIONED`: both come with a number of IOPS, and only the second with a wished one.
    pub metadata_mode: String,
    pub metadata_iops: Option<u32>,
    pub efa: bool,
    pub compression: String,
    pub backup_days: u32,
    pub dns_name: Option<String>,
    /// Made up by FSx, other than for SCRATCH_1.
    pub mount_name: Option<String>,
    pub tags: Tags,
}

const AUTOMATIC: &str = "AUTOMATIC";

impl Kind for FileSystem {
    const NAME: &'static str = "file-system";
    const LAYER: Layer = Layer::Storage;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/deployment"),
        Field::immutable("/storage"),
        // UpdateFileSystem takes a newer Lustre version, and unmounts every client for it.
        Field::in_place("/version").interrupts(),
        Field::immutable("/subnet"),
        Field::immutable("/securityGroups").set(),
        Field::in_place("/capacity").only_grows(),
        Field::in_place("/throughput"),
        Field::in_place("/metadataIops").only_grows(),
        Field::immutable("/efa"),
        Field::in_place("/compression"),
        Field::in_place("/backupDays"),
    ];
    // About 10 minutes to be made, clearly longer with EFA; botocore has no waiter for FSx.
    const PATIENCE: Patience = Patience { poll: 15, stall: 2_400, total: 5_400, streak: 1 };
    // Nodes have it mounted; one that loses its file system hangs instead of draining.
    const DELETED_AFTER: &'static [&'static str] = &["node-group"];
    const AWS_NAME: &'static str = "fsx:file-system";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.file_system_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        let mut outputs =
            Outputs::from([("id".to_owned(), live.file_system_id.clone()), ("arn".to_owned(), live.arn.clone())]);
        outputs.extend(live.dns_name.iter().map(|dns| ("dns".to_owned(), dns.clone())));
        outputs.extend(live.mount_name.iter().map(|name| ("mount-name".to_owned(), name.clone())));
        outputs
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            deployment: live.deployment.clone(),
            storage: live.storage.clone(),
            version: live.version.clone(),
            subnet: Link::is(&live.subnet),
            security_groups: live.security_groups.iter().map(Link::is).collect(),
            capacity: live.capacity,
            throughput: live.throughput,
            metadata_iops: live.metadata_iops.filter(|_| live.metadata_mode != AUTOMATIC),
            efa: live.efa,
            compression: live.compression.clone(),
            backup_days: live.backup_days,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        let said = match &live.failure {
            Some(failure) => format!("{}: {failure}", live.lifecycle),
            None => live.lifecycle.clone(),
        };
        match live.lifecycle.as_str() {
            "AVAILABLE" => Readiness::Ready,
            "FAILED" | "MISCONFIGURED" | "MISCONFIGURED_UNAVAILABLE" => Readiness::Broken(said),
            _ if live.running.is_empty() => Readiness::Pending(said),
            _ => Readiness::Pending(format!("{said}: {}", live.running.join(", "))),
        }
    }
    /// A file system that is deleted is no longer described at all.
    fn going(live: &Observed) -> bool {
        live.lifecycle == "DELETING"
    }
    fn headline(want: &Desired) -> String {
        let efa = if want.efa { ", EFA" } else { "" };
        format!(
            "{} GiB {}, {} MB/s a TiB{efa}, in {}",
            want.capacity,
            want.deployment,
            want.throughput,
            want.subnet.target()
        )
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        let gib = f64::from(want.capacity);
        vec![
            Demand::one("fsxPersistent2"),
            Demand::Count { of: "fsxPersistent2Gib".to_owned(), n: want.capacity },
            Demand::billed(&format!("fsxGibMonths:{}", want.throughput), gib),
            Demand::addresses(&want.subnet, interfaces(want.capacity)),
        ]
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.deployment != "PERSISTENT_2" {
            broken.push("only PERSISTENT_2 takes EFA and a metadata configuration".to_owned());
        }
        if want.version != "2.15" {
            broken.push("FSx makes 2.15 where a metadata configuration is given, and 2.10 takes no S3 link".to_owned());
        }
        if want.security_groups.is_empty() {
            broken.push("FSx wants a security group that lets 988 in, or refuses at once".to_owned());
        }
        if want.backup_days > 0 {
            broken.push("a file system that is linked to S3 has no backups".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let plain = Desired {
            deployment: "PERSISTENT_2".to_owned(),
            storage: "SSD".to_owned(),
            version: "2.15".to_owned(),
            subnet: Link::to(&Address::new("subnet", "private-usw2-az2"), "id"),
            security_groups: vec![Link::to(&Address::new("security-group", "fsx"), "id")],
            capacity: 4_800,
            throughput: 250,
            metadata_iops: None,
            efa: false,
            compression: "LZ4".to_owned(),
            backup_days: 0,
        };
        let efa = Desired { capacity: 19_200, metadata_iops: Some(12_000), efa: true, ..plain.clone() };
        vec![plain, efa]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let lifecycle = match phase {
            Phase::Coming => "CREATING",
            Phase::There => "AVAILABLE",
            Phase::Changing => "UPDATING",
            Phase::Going => "DELETING",
        };
        let mode = if want.metadata_iops.is_some() { "USER_PROVISIONED" } else { AUTOMATIC };
        Observed {
            file_system_id: id.to_owned(),
            arn: imagined_arn(stamp, "fsx", &format!("file-system/{id}")),
            lifecycle: lifecycle.to_owned(),
            failure: None,
            running: vec![],
            deployment: want.deployment.clone(),
            storage: want.storage.clone(),
            version: want.version.clone(),
            subnet: want.subnet.to_string(),
            security_groups: want.security_groups.iter().map(Link::to_string).collect(),
            capacity: want.capacity,
            throughput: want.throughput,
            metadata_mode: mode.to_owned(),
            metadata_iops: want.metadata_iops.or(Some(1_500)),
            efa: want.efa,
            compression: want.compression.clone(),
            backup_days: want.backup_days,
            dns_name: Some(format!("{id}.fsx.{}.amazonaws.com", imagined_region(stamp))),
            mount_name: Some(id.chars().rev().take(8).collect()),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("fs-{serial}")
    }
}

/// Addresses that a file system takes: one interface a file server, about one a 2,400 GiB, and one for metadata (FSx guide,
/// file system access control; the exact number is FSx's).
fn interfaces(capacity: u32) -> u32 {
    capacity.div_ceil(2_400) + 1
}
