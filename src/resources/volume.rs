//! EBS volumes, of nodes and of claims that pods made. Must never be wished for.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags},
    resources::launch_template,
};
use serde::{Deserialize, Serialize};

pub struct Volume;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    pub volume: launch_template::Volume,
    /// Zone id.
    pub zone: String,
    pub encrypted: bool,
    /// Instance that it is attached to: it can't be deleted before that one is gone.
    pub attached: Option<Link>,
    /// Goes with its instance; without it the volume is billed until somebody deletes it.
    pub delete_on_termination: bool,
}

/// EC2 `Volume`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// `vol-…`
    pub volume_id: String,
    /// `creating`, `available`, `in-use`, `deleting`, `deleted`, `error`.
    pub state: String,
    pub shape: Desired,
    pub tags: Tags,
}

impl Kind for Volume {
    const NAME: &'static str = "volume";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::Byproduct;
    const FIELDS: &'static [Field] = &[
        Field::in_place("/volume"),
        Field::immutable("/zone"),
        Field::immutable("/encrypted"),
        Field::in_place("/attached").holds(),
        Field::in_place("/deleteOnTermination"),
    ];
    const PATIENCE: Patience = Patience { poll: 5, stall: 300, total: 900, streak: 1 };
    const AWS_NAME: &'static str = "ec2:volume";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.volume_id.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        [("id".to_owned(), live.volume_id.clone())].into()
    }
    fn project(live: &Observed) -> Desired {
        live.shape.clone()
    }
    fn ready(live: &Observed) -> Readiness {
        match live.state.as_str() {
            "available" | "in-use" => Readiness::Ready,
            "error" => Readiness::Broken("error: AWS could not make the volume, or lost it".to_owned()),
            state => Readiness::Pending(state.to_owned()),
        }
    }
    fn gone(live: &Observed) -> bool {
        live.state == "deleted"
    }
    fn going(live: &Observed) -> bool {
        live.state == "deleting"
    }
    fn headline(want: &Desired) -> String {
        let place = want.attached.as_ref().map(|to| format!(", attached to {}", to.target())).unwrap_or_default();
        format!("{} GiB {} in {}{place}", want.volume.size, want.volume.r#type, want.zone)
    }
    fn demand(want: &Desired) -> Vec<Demand> {
        vec![Demand::billed(&format!("{}GibMonths", want.volume.r#type), f64::from(want.volume.size))]
    }
    fn samples() -> Vec<Desired> {
        vec![Desired {
            volume: launch_template::Volume {
                r#type: "gp3".to_owned(),
                size: 500,
                iops: Some(6_000),
                throughput: Some(500),
            },
            zone: "usw2-az2".to_owned(),
            encrypted: true,
            attached: Some(Link::to(&Address::new("instance", "p5-0"), "id")),
            delete_on_termination: true,
        }]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = match (phase, &want.attached) {
            (Phase::Coming, _) => "creating",
            (Phase::There | Phase::Changing, Some(_)) => "in-use",
            (Phase::There | Phase::Changing, None) => "available",
            (Phase::Going, _) => "deleting",
        };
        Observed { volume_id: id.to_owned(), state: state.to_owned(), shape: want.clone(), tags: stamp.tags.clone() }
    }
    fn imagine_id(_want: &Desired, serial: &str) -> PhysicalId {
        format!("vol-{serial}")
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, Volume};
    use crate::{
        aws::{
            Aws,
            answers::{byproduct, count, deleted, field, found},
            ec2::{filter, listed, of_stack, tags},
            failed,
        },
        contract::{CloudError, Kind, Live},
        model::{Link, PhysicalId, Scope, Stamp},
        resources::launch_template,
    };
    use aws_sdk_ec2::types::{self, Filter};

    const DESCRIBE: &str = "ec2:DescribeVolumes";

    fn observe(volume: types::Volume) -> Result<Observed, CloudError> {
        let number = |n: Option<i32>| n.map(|n| count(Some(n)));
        let attachment = volume.attachments.and_then(|mut all| all.pop());
        Ok(Observed {
            volume_id: field(DESCRIBE, "volumeId", volume.volume_id)?,
            state: field(DESCRIBE, "state", volume.state)?.as_str().to_owned(),
            shape: Desired {
                volume: launch_template::Volume {
                    r#type: field(DESCRIBE, "volumeType", volume.volume_type)?.as_str().to_owned(),
                    size: count(volume.size),
                    iops: number(volume.iops),
                    throughput: number(volume.throughput),
                },
                zone: field(DESCRIBE, "availabilityZoneId", volume.availability_zone_id)?,
                encrypted: volume.encrypted.unwrap_or_default(),
                attached: attachment.as_ref().and_then(|to| to.instance_id.as_ref()).map(Link::is),
                delete_on_termination: attachment.and_then(|to| to.delete_on_termination).unwrap_or_default(),
            },
            tags: tags(volume.tags),
        })
    }

    async fn look(aws: &Aws, filter: Filter) -> Result<Vec<Observed>, CloudError> {
        let request = aws.ec2().describe_volumes().filters(filter).include_managed_resources(true);
        let pages = request.into_paginator().page_size(500).items().send();
        let volumes = pages.collect::<Result<Vec<_>, _>>().await.map_err(failed(DESCRIBE))?;
        volumes.into_iter().map(observe).collect()
    }

    impl Live<Aws> for Volume {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // The driver of pods' volumes tags what it makes with the cluster's name, whatever else it was told.
            let of_cluster = filter(&format!("tag:kubernetes.io/cluster/{}", scope.cluster), "owned");
            listed::<Self, _>([of_stack(scope), of_cluster], |filter| look(aws, filter)).await
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let answer = aws.ec2().describe_volumes().volume_ids(id).send().await.map_err(failed(DESCRIBE));
            found(answer)?.and_then(|answer| answer.volumes?.pop()).map(observe).transpose()
        }

        async fn create(_: &Aws, _: &Desired, _: &Stamp) -> Result<PhysicalId, CloudError> {
            byproduct(Self::NAME)
        }

        async fn update(_: &Aws, _: &str, _: &Desired, _: &[String], _: &Stamp) -> Result<(), CloudError> {
            byproduct(Self::NAME)
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            deleted(aws.ec2().delete_volume().volume_id(id).send().await.map_err(failed("ec2:DeleteVolume")))
        }
    }
}
