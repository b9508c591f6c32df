//! EBS snapshots, which backup tools and people take of a stack's volumes. Must never be wished for.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

pub struct Snapshot;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// `vol-…`; text and no link, as a snapshot outlives its volume.
    pub volume: String,
    /// GiB of the volume: the most that the snapshot bills.
    pub size: u32,
    pub encrypted: bool,
}

/// EC2 `Snapshot`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `snap-…`
    pub snapshot_id: String,
    /// `pending`, `completed`, `error`, `recoverable`, `recovering`.
    pub state: String,
    pub progress: Option<String>,
    pub shape: Desired,
    pub tags: Tags,
}

impl Kind for Snapshot {
    const NAME: &'static str = "snapshot";
    const LAYER: Layer = Layer::Storage;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] =
        &[Field::immutable("/volume"), Field::immutable("/size"), Field::immutable("/encrypted")];
    const PATIENCE: Patience = Patience { poll: 15, stall: 1_800, total: 7_200, streak: 1 };
    const AWS_NAME: &'static str = "ec2:snapshot";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.snapshot_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id".to_owned(), live.snapshot_id.clone())].into()
    }
    fn project(live: &Observed) -> Desired {
        live.shape.clone()
    }
    fn ready(live: &Observed) -> Readiness {
        match (live.state.as_str(), &live.progress) {
            ("completed", _) => Readiness::Ready,
            ("error", _) => Readiness::Broken("error".to_owned()),
            (state, Some(progress)) => Readiness::Pending(format!("{state}, {progress}")),
            (state, None) => Readiness::Pending(state.to_owned()),
        }
    }
    fn headline(want: &Desired) -> String {
        format!("of {}, at most {} GiB", want.volume, want.size)
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        let most = f64::from(want.size);
        vec![Demand::Billed { unit: "snapshotGibMonths".to_owned(), min: 0.0, now: most, max: most }]
    }
    fn samples() -> Vec<Desired> {
        vec![Desired { volume: "vol-0123456789abcdef0".to_owned(), size: 500, encrypted: true }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = if phase == Phase::Coming { "pending" } else { "completed" };
        Observed {
            snapshot_id: id.to_owned(),
            state: state.to_owned(),
            progress: (phase == Phase::Coming).then(|| "0%".to_owned()),
            shape: want.clone(),
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("snap-{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, Snapshot};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, count, deleted, field, found},
            ec2::{listed, of_stack, tags},
            failed,
        },
        contract::{CloudError, Kind, Live},
        model::{PhysicalId, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, Filter};

    const DESCRIBE: &str = "ec2:DescribeSnapshots";

    fn observe(snapshot: types::Snapshot) -> Result<Observed, CloudError> {
        Ok(Observed {
            snapshot_id: field(DESCRIBE, "snapshotId", snapshot.snapshot_id)?,
            state: field(DESCRIBE, "status", snapshot.state)?.as_str().to_owned(),
            progress: snapshot.progress,
            shape: Desired {
                volume: field(DESCRIBE, "volumeId", snapshot.volume_id)?,
                size: count(snapshot.volume_size),
                encrypted: snapshot.encrypted.unwrap_or_default(),
            },
            tags: tags(snapshot.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        // Without an owner EC2 lists everybody's public ones.
        let request = aws.ec2().describe_snapshots().owner_ids("self").filters(filter);
        let pages = request.into_paginator().page_size(1000).items().send();
        let snapshots = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        snapshots.into_iter().map(observe).collect()
    }

    impl Live<Aws> for Snapshot {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            listed::<Self, _>([of_stack(scope)], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_snapshots().snapshot_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.snapshots?.pop()).map(observe).transpose()
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            deleted(aws.ec2().delete_snapshot().snapshot_id(id).send().await.map_err(failed("ec2:DeleteSnapshot")))
        }
    }
}
