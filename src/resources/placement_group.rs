//! EC2 placement groups: where instances stand to each other. Must never be made for a reservation that has none.

use crate::{
    contract::{Demand, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Outputs, PhysicalId, Stamp, Tags, imagined_arn},
};
use serde::{Deserialize, Serialize};

pub struct PlacementGroup;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Unique in account and region; instances and launch templates name the group by it.
    pub name: String,
    pub strategy: Strategy,
    /// 1–7, with strategy `partition` only.
    pub partitions: Option<u32>,
    /// With strategy `spread` only.
    pub spread_level: Option<SpreadLevel>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    Cluster,
    Partition,
    Spread,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SpreadLevel {
    /// EC2's default, and what DescribePlacementGroups shows where none was asked for.
    Rack,
    /// Outposts only.
    Host,
}

/// EC2 `PlacementGroup`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub group_id: String,
    pub arn: String,
    pub group_name: String,
    /// `pending`, `available`, `deleting`, `deleted`.
    pub state: String,
    pub strategy: Strategy,
    pub partition_count: Option<u32>,
    pub spread_level: Option<SpreadLevel>,
    pub tags: Tags,
}

impl Kind for PlacementGroup {
    const NAME: &'static str = "placement-group";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::ByName;
    // EC2 has no ModifyPlacementGroup: ModifyInstancePlacement moves instances, nothing changes a group.
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::immutable("/strategy"),
        Field::immutable("/partitions"),
        Field::immutable("/spreadLevel"),
    ];
    const PATIENCE: Patience = Patience { poll: 2, stall: 120, total: 300, streak: 1 };
    const AWS_NAME: &'static str = "ec2:placement-group";

    type Desired = Desired;
    type Observed = Observed;

    /// The name: DeletePlacementGroup and every launch template take it, and not the id.
    fn id(live: &Observed) -> PhysicalId {
        live.group_name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        let outputs = [("id", &live.group_name), ("name", &live.group_name), ("arn", &live.arn)];
        outputs.map(|(name, value)| (name.to_owned(), value.clone())).into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.group_name.clone(),
            strategy: live.strategy,
            partitions: live.partition_count,
            spread_level: live.spread_level,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        match live.state.as_str() {
            "available" => Readiness::Ready,
            state => Readiness::Pending(state.to_owned()),
        }
    }
    fn gone(live: &Observed) -> bool {
        live.state == "deleted"
    }
    fn going(live: &Observed) -> bool {
        live.state == "deleting"
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.group_name.clone())
    }
    fn headline(want: &Desired) -> String {
        match (want.strategy, want.partitions) {
            (Strategy::Cluster, _) => "cluster: close together, in one zone".to_owned(),
            (Strategy::Partition, Some(n)) => format!("partition: {n} apart from each other"),
            (Strategy::Partition, None) => "partition".to_owned(),
            (Strategy::Spread, _) => "spread: each on a rack of its own, 7 a zone".to_owned(),
        }
    }
    fn demand(_want: &Desired) -> Vec<Demand> {
        vec![Demand::one("placementGroup")]
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.name.is_empty() || want.name.len() > 255 {
            broken.push("EC2 takes 1 to 255 characters for a placement group's name".to_owned());
        }
        match (want.strategy, want.partitions) {
            (Strategy::Partition, Some(1..=7)) => {}
            (Strategy::Partition, _) => broken.push("EC2 takes 1 to 7 partitions a placement group".to_owned()),
            (_, Some(_)) => broken.push("EC2 takes a partition count with strategy partition only".to_owned()),
            (_, None) => {}
        }
        if want.spread_level.is_some() && want.strategy != Strategy::Spread {
            broken.push("EC2 takes a spread level with strategy spread only".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let group = |strategy, partitions, spread_level| Desired {
            name: "llama-70b-p5".to_owned(),
            strategy,
            partitions,
            spread_level,
        };
        vec![
            group(Strategy::Cluster, None, None),
            group(Strategy::Partition, Some(7), None),
            group(Strategy::Spread, None, Some(SpreadLevel::Rack)),
        ]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let state = match phase {
            Phase::Coming => "pending",
            Phase::There | Phase::Changing => "available",
            Phase::Going => "deleting",
        };
        Observed {
            group_id: format!("pg-{id}"),
            arn: imagined_arn(stamp, "ec2", &format!("placement-group/{id}")),
            group_name: want.name.clone(),
            state: state.to_owned(),
            strategy: want.strategy,
            partition_count: want.partitions,
            spread_level: want.spread_level,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}

#[cfg(feature = "aws")]
mod live {
    use super::{Desired, Observed, PlacementGroup, SpreadLevel, Strategy};
    use crate::{
        aws::{
            Aws,
            answers::{deleted, field, found},
            ec2::{retag, stamped, tags},
            failed,
        },
        contract::{Class, CloudError, Kind, Live},
        model::{PhysicalId, STACK, Scope, Stamp},
    };
    use aws_sdk_ec2::types::{self, PlacementStrategy, ResourceType};

    const DESCRIBE: &str = "ec2:DescribePlacementGroups";

    fn observe(group: types::PlacementGroup) -> Result<Observed, CloudError> {
        let strategy = match field(DESCRIBE, "strategy", group.strategy)? {
            PlacementStrategy::Cluster => Strategy::Cluster,
            PlacementStrategy::Partition => Strategy::Partition,
            PlacementStrategy::Spread => Strategy::Spread,
            other => {
                let message = format!("a placement group has a strategy unknown to this version: {other}");
                return Err(CloudError::new(DESCRIBE, Class::Unknown, "UnreadableAnswer", message));
            }
        };
        let partitions = group.partition_count.and_then(|n| u32::try_from(n).ok());
        let level = group.spread_level.map(|level| match level {
            types::SpreadLevel::Host => SpreadLevel::Host,
            _ => SpreadLevel::Rack,
        });
        Ok(Observed {
            group_id: field(DESCRIBE, "groupId", group.group_id)?,
            arn: field(DESCRIBE, "groupArn", group.group_arn)?,
            group_name: field(DESCRIBE, "groupName", group.group_name)?,
            state: field(DESCRIBE, "state", group.state)?.as_str().to_owned(),
            strategy,
            partition_count: partitions.filter(|_| strategy == Strategy::Partition),
            spread_level: level.filter(|_| strategy == Strategy::Spread),
            tags: tags(group.tags),
        })
    }

    impl Live<Aws> for PlacementGroup {
        async fn list(aws: &Aws, scope: &Scope) -> Result<Vec<Observed>, CloudError> {
            // Filters would find ours by tag or by name, never by either in one call; EC2 gives all of them at once anyway.
            let answer = aws.ec2().describe_placement_groups().send().await.map_err(failed(DESCRIBE))?;
            let names = scope.names.get(Self::NAME);
            let ours = |live: &Observed| {
                live.tags.get(STACK) == Some(&scope.identity.stack)
                    || names.is_some_and(|names| names.contains(&live.group_name))
            };
            let all = answer.placement_groups.into_iter().flatten().map(observe).collect::<Result<Vec<_>, _>>()?;
            Ok(all.into_iter().filter(ours).collect())
        }

        async fn read(aws: &Aws, id: &str) -> Result<Option<Observed>, CloudError> {
            let request = aws.ec2().describe_placement_groups().group_names(id);
            let answer = found(request.send().await.map_err(failed(DESCRIBE)))?;
            answer.and_then(|answer| answer.placement_groups?.pop()).map(observe).transpose()
        }

        async fn create(aws: &Aws, want: &Desired, stamp: &Stamp) -> Result<PhysicalId, CloudError> {
            let strategy = match want.strategy {
                Strategy::Cluster => PlacementStrategy::Cluster,
                Strategy::Partition => PlacementStrategy::Partition,
                Strategy::Spread => PlacementStrategy::Spread,
            };
            let level = want.spread_level.map(|level| match level {
                SpreadLevel::Rack => types::SpreadLevel::Rack,
                SpreadLevel::Host => types::SpreadLevel::Host,
            });
            let request = aws
                .ec2()
                .create_placement_group()
                .group_name(&want.name)
                .strategy(strategy)
                .set_partition_count(want.partitions.and_then(|n| i32::try_from(n).ok()))
                .set_spread_level(level)
                .tag_specifications(stamped(ResourceType::PlacementGroup, &stamp.tags));
            request.send().await.map_err(failed("ec2:CreatePlacementGroup"))?;
            Ok(want.name.clone())
        }

        async fn update(aws: &Aws, id: &str, _: &Desired, changed: &[String], stamp: &Stamp) -> Result<(), CloudError> {
            // Tags go by id, everything else by name.
            match Self::read(aws, id).await? {
                Some(live) => retag(aws, &live.group_id, changed, stamp).await,
                None => {
                    let message = format!("The Placement Group '{id}' is unknown.");
                    Err(CloudError::new(DESCRIBE, Class::NotFound, "InvalidPlacementGroup.Unknown", message))
                }
            }
        }

        async fn delete(aws: &Aws, id: &str) -> Result<(), CloudError> {
            let request = aws.ec2().delete_placement_group().group_name(id);
            deleted(request.send().await.map_err(failed("ec2:DeletePlacementGroup")))
        }
    }
}
