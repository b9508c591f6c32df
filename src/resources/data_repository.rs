//! Links between a Lustre file system and a bucket (data repository associations). Must never delete what is in the bucket.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags, imagined_arn},
    resources::launch_template::named,
};
use serde::{Deserialize, Serialize};

pub struct DataRepository;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Id of the file system.
    pub file_system: Link,
    /// Directory of the file system. `/` only as long as it is the only association.
    pub path: String,
    /// Name of the bucket, of the file system's region.
    pub bucket: Link,
    /// Empty, or ends in `/`.
    pub prefix: String,
    /// What of the bucket shows up by itself. Empty: nothing does.
    pub import: Vec<Event>,
    /// Without it what is in the bucket already never shows up.
    pub import_at_creation: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Event {
    New,
    Changed,
    Deleted,
}

/// FSx `DataRepositoryAssociation`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `dra-…`
    pub association_id: String,
    pub arn: String,
    /// `CREATING`, `AVAILABLE`, `MISCONFIGURED`, `UPDATING`, `DELETING`, `FAILED`.
    pub lifecycle: String,
    /// `FailureDetails.Message`.
    pub failure: Option<String>,
    pub file_system_id: String,
    pub file_system_path: String,
    /// `s3://bucket/prefix/`
    pub data_repository_path: String,
    pub auto_import: Vec<Event>,
    pub batch_import_on_create: bool,
    pub tags: Tags,
}

impl Kind for DataRepository {
    const NAME: &'static str = "data-repository";
    const LAYER: Layer = Layer::Storage;
    const OWNERSHIP: Ownership = Ownership::ByTag;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/fileSystem"),
        Field::immutable("/path"),
        Field::immutable("/bucket"),
        Field::immutable("/prefix"),
        Field::in_place("/import").set(),
        // Read back, but an import is done once: to change it later means nothing.
        Field::create_only("/importAtCreation"),
    ];
    // Ten minutes are too short in practice, and a large bucket takes hours to be listed.
    const PATIENCE: Patience = Patience { poll: 15, stall: 3_600, total: 14_400, streak: 1 };
    const AWS_NAME: &'static str = "fsx:association";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.association_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id".to_owned(), live.association_id.clone()), ("arn".to_owned(), live.arn.clone())].into()
    }
    fn project(live: &Observed) -> Desired {
        let repository = live.data_repository_path.trim_start_matches("s3://");
        let (bucket, prefix) = repository.split_once('/').unwrap_or((repository, ""));
        let slash = if prefix.is_empty() || prefix.ends_with('/') { "" } else { "/" };
        Desired {
            file_system: Link::is(&live.file_system_id),
            path: live.file_system_path.clone(),
            bucket: Link::is(bucket),
            prefix: format!("{prefix}{slash}"),
            import: live.auto_import.clone(),
            import_at_creation: live.batch_import_on_create,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match (live.lifecycle.as_str(), &live.failure) {
            ("AVAILABLE", _) => Readiness::Ready,
            // Another tool's notification on the same keys makes it MISCONFIGURED; FSx looks again within 15 minutes.
            ("MISCONFIGURED" | "FAILED", Some(why)) => Readiness::Broken(format!("{}: {why}", live.lifecycle)),
            ("MISCONFIGURED" | "FAILED", None) => Readiness::Broken(live.lifecycle.clone()),
            (state, _) => Readiness::Pending(state.to_owned()),
        }
    }
    fn going(live: &Observed) -> bool {
        live.lifecycle == "DELETING"
    }
    fn headline(want: &Desired) -> String {
        format!("{} shows s3://{}/{}", want.path, named(&want.bucket), want.prefix)
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if !want.path.starts_with('/') {
            broken.push("FSx wants the path of a directory that starts with a slash".to_owned());
        }
        if !want.prefix.is_empty() && !want.prefix.ends_with('/') {
            broken.push("FSx takes a prefix that ends with a slash".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        vec![Desired {
            file_system: Link::to(&Address::new("file-system", "weights"), "id"),
            path: "/".to_owned(),
            bucket: Link::to(&Address::new("bucket", "weights"), "name"),
            prefix: "llama-3.1-70b/".to_owned(),
            import: vec![Event::New, Event::Changed, Event::Deleted],
            import_at_creation: true,
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let lifecycle = match phase {
            Phase::Coming => "CREATING",
            Phase::There => "AVAILABLE",
            Phase::Changing => "UPDATING",
            Phase::Going => "DELETING",
        };
        Observed {
            association_id: id.to_owned(),
            arn: imagined_arn(stamp, "fsx", &format!("association/{}/{id}", want.file_system)),
            lifecycle: lifecycle.to_owned(),
            failure: None,
            file_system_id: want.file_system.to_string(),
            file_system_path: want.path.clone(),
            data_repository_path: format!("s3://{}/{}", want.bucket, want.prefix),
            auto_import: want.import.clone(),
            batch_import_on_create: want.import_at_creation,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("dra-{serial}")
    }
}
