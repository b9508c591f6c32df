//! EKS managed node groups. Must never take a live size between min and max for drift.

use crate::{
    contract::{Change, Demand, Field, FieldsOf, Kind, Layer, Ownership, Patience, Phase, Purchase, Readiness},
    model::{Link, Outputs, PhysicalId, RESOURCE, Stamp, Tags, anchor_only},
    resources::launch_template::{Volume, named},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

mod imagined;
#[cfg(feature = "aws")]
mod live;
#[cfg(feature = "aws")]
mod members;
#[cfg(feature = "aws")]
mod observed;
#[cfg(feature = "aws")]
mod write;

pub struct NodeGroup;

/// Tag of a node group: the start size that it was last scaled to, written once that scaling was asked for. Absent: 0.
pub const START: &str = "infer-stack/desired";

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Name of the cluster.
    pub cluster: Link,
    /// At most 63 characters, unique in the cluster.
    pub name: String,
    pub subnets: Vec<Link>,
    /// ARN of the node role.
    pub role: Link,
    /// In the order in which EKS prefers them. Sent in the launch template instead for a capacity block.
    pub instance_types: Vec<String>,
    pub ami_type: String,
    pub capacity_type: CapacityType,
    /// Id of the launch template.
    pub template: Link,
    /// Number of the template's version.
    pub template_version: Link,
    /// Kubernetes version, `1.35`.
    pub version: String,
    /// AMI release, `1.35.2-20261120`; `None`: EKS takes the newest for the version.
    pub release: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    pub min: u32,
    /// 1 and up: EKS takes no group that can hold nothing.
    pub max: u32,
    /// Size that the group starts with. Afterwards any size in `min..=max` is right.
    pub start: u32,
    /// Created with size 0 and scaled once ACTIVE, so that missing capacity leaves a healthy group and not CREATE_FAILED.
    pub create_empty: bool,
    pub update: Update,
    pub node_repair: bool,
    /// Tags that live instances and their volumes carry: a changed tag goes to them directly, as it would roll every node by
    /// way of the template.
    pub instance_tags: Tags,
    /// Placement group that the nodes stand in, by way of the template: EC2 deletes none that holds an instance.
    pub placement_group: Option<Link>,
    /// Security groups that the nodes' interfaces wear, by way of the template: EC2 deletes none that is worn.
    pub security_groups: Vec<Link>,
    /// Reservation or capacity block that the nodes launch into, by way of the template.
    pub reservation: Option<String>,
    pub footprint: Footprint,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum CapacityType {
    OnDemand,
    Spot,
    CapacityBlock,
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Taint {
    pub key: String,
    pub value: Option<String>,
    pub effect: Effect,
}

/// Spelt as EKS does, not as Kubernetes does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Effect {
    NoSchedule,
    NoExecute,
    PreferNoSchedule,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Update {
    pub strategy: UpdateStrategy,
    /// Nodes that are replaced at a time.
    pub max_unavailable: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum UpdateStrategy {
    /// Starts new nodes before it ends old ones: needs capacity and quota for both.
    Default,
    /// Ends old nodes first.
    Minimal,
}

/// What one node takes besides itself, as template and subnets say: for quota, addresses, money and the plan's line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Footprint {
    /// Zone id, where all subnets are in one.
    pub zone: Option<String>,
    pub efa: u32,
    /// IPv4 addresses of a node with the pods it starts with.
    pub addresses: u32,
    pub volume: Volume,
}

/// EKS `Nodegroup`, with what its launch template's version, its ASG and its instances say.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub cluster: String,
    pub name: String,
    pub arn: String,
    /// `CREATING`, `ACTIVE`, `UPDATING`, `DELETING`, `CREATE_FAILED`, `DELETE_FAILED`, `DEGRADED`.
    pub status: String,
    pub issues: Vec<Issue>,
    pub version: String,
    pub release: Option<String>,
    pub capacity_type: CapacityType,
    pub ami_type: String,
    /// Of the group, else of its template.
    pub instance_types: Vec<String>,
    pub subnets: Vec<String>,
    pub role: String,
    pub labels: BTreeMap<String, String>,
    pub taints: Vec<Taint>,
    pub min_size: u32,
    pub max_size: u32,
    pub desired_size: u32,
    pub max_unavailable: Option<u32>,
    pub update_strategy: Option<UpdateStrategy>,
    pub node_repair: bool,
    pub template_id: String,
    pub template_version: String,
    /// Of that version.
    pub placement_group: Option<String>,
    pub security_groups: Vec<String>,
    pub reservation: Option<String>,
    pub footprint: Footprint,
    /// `None` until EKS has made it.
    pub asg: Option<String>,
    /// Instances of the ASG in service.
    pub in_service: u32,
    /// Newest activity of the ASG, in its own words, and its cause where it failed.
    pub activity: Option<String>,
    /// Tags of each live instance of the group, and of each of their volumes.
    pub member_tags: Vec<Tags>,
    pub tags: Tags,
}

/// EKS `Issue`.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Issue {
    pub code: String,
    pub message: String,
    pub resources: Vec<String>,
}

/// A release that EKS picked is not one that somebody wished for.
fn fields_of(want: &Desired) -> Vec<Field> {
    let free = want.release.is_none();
    let settle = |field: &Field| match field.at {
        "/release" if free => Field { change: Change::CreateOnly, ..*field },
        _ => *field,
    };
    NodeGroup::FIELDS.iter().map(settle).collect()
}

impl Kind for NodeGroup {
    const NAME: &'static str = "node-group";
    const LAYER: Layer = Layer::Nodes;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/cluster"),
        Field::immutable("/name"),
        Field::immutable("/subnets").set(),
        Field::immutable("/role"),
        Field::immutable("/instanceTypes"),
        Field::immutable("/amiType"),
        Field::immutable("/capacityType"),
        // UpdateNodegroupVersion takes other versions of the group's template, never another template.
        Field::immutable("/template"),
        Field::in_place("/templateVersion").interrupts(),
        Field::in_place("/version").interrupts(),
        Field::in_place("/release").interrupts(),
        Field::in_place("/labels"),
        Field::in_place("/taints").set(),
        Field::in_place("/min"),
        Field::in_place("/max"),
        Field::in_place("/start"),
        Field::create_only("/createEmpty"),
        Field::in_place("/update"),
        Field::in_place("/nodeRepair"),
        Field::in_place("/instanceTags"),
        // These three change by way of the template's version, in the same call. They are the group's because its nodes, and
        // not the template, keep EC2 from deleting a placement group or a security group.
        Field::in_place("/placementGroup").interrupts().holds(),
        Field::in_place("/securityGroups").set().interrupts().holds(),
        Field::in_place("/reservation").interrupts(),
        Field::create_only("/footprint"),
    ];
    const FIELDS_OF: Option<FieldsOf<Desired>> = Some(fields_of);
    // A roll drains each node for up to 15 minutes; a launch without capacity is retried by the ASG for as long as it is let.
    const PATIENCE: Patience = Patience { poll: 10, stall: 1_200, total: 5_400, streak: 1 };
    const AWS_NAME: &'static str = "eks:nodegroup";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        format!("{}/{}", live.cluster, live.name)
    }
    /// [`START`] is a field of the wish and no tag of it.
    fn tags(live: &Observed) -> Tags {
        live.tags.iter().filter(|(key, _)| *key != START).map(|(key, value)| (key.clone(), value.clone())).collect()
    }
    fn outputs(live: &Observed) -> Outputs {
        let mut outputs = Outputs::from([
            ("id".to_owned(), Self::id(live)),
            ("arn".to_owned(), live.arn.clone()),
            ("name".to_owned(), live.name.clone()),
        ]);
        outputs.extend(live.asg.iter().map(|asg| ("asg".to_owned(), asg.clone())));
        outputs
    }
    fn project(live: &Observed) -> Desired {
        let start = live.tags.get(START).and_then(|text| text.parse().ok()).unwrap_or(0);
        Desired {
            cluster: Link::is(&live.cluster),
            name: live.name.clone(),
            subnets: live.subnets.iter().map(Link::is).collect(),
            role: Link::is(&live.role),
            instance_types: live.instance_types.clone(),
            ami_type: live.ami_type.clone(),
            capacity_type: live.capacity_type,
            template: Link::is(&live.template_id),
            template_version: Link::is(&live.template_version),
            version: live.version.clone(),
            release: live.release.clone(),
            labels: live.labels.clone(),
            taints: live.taints.clone(),
            min: live.min_size,
            max: live.max_size,
            start,
            create_empty: live.update_strategy == Some(UpdateStrategy::Minimal),
            update: Update {
                strategy: live.update_strategy.unwrap_or(UpdateStrategy::Default),
                max_unavailable: live.max_unavailable.unwrap_or(1),
            },
            node_repair: live.node_repair,
            instance_tags: instance_tags(live),
            placement_group: live.placement_group.as_ref().map(Link::is),
            security_groups: live.security_groups.iter().map(Link::is).collect(),
            reservation: live.reservation.clone(),
            footprint: live.footprint.clone(),
        }
    }
    fn ready(live: &Observed) -> Readiness {
        let issue = live.issues.first().map(Issue::text);
        match live.status.as_str() {
            "ACTIVE" if live.in_service >= live.desired_size => Readiness::Ready,
            "CREATE_FAILED" | "DELETE_FAILED" | "DEGRADED" => {
                Readiness::Broken(issue.unwrap_or_else(|| live.status.clone()))
            }
            status => {
                let mut news = match status {
                    "ACTIVE" => String::new(),
                    status => format!("{status}, "),
                };
                news += &format!("{} of {} instances in service", live.in_service, live.desired_size);
                if let Some(activity) = &live.activity {
                    news += &format!("; ASG: {activity}");
                }
                if let Some(issue) = issue {
                    news += &format!("; EKS: {issue}");
                }
                Readiness::Pending(news)
            }
        }
    }
    fn going(live: &Observed) -> bool {
        live.status == "DELETING"
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        let types = want.instance_types.join(" or ");
        let mut parts = vec![format!("{} × {types} ({}–{})", want.start, want.min, want.max)];
        match (want.capacity_type, &want.reservation) {
            (CapacityType::CapacityBlock, Some(id)) => parts.push(format!("capacity block {id}")),
            (_, Some(id)) => parts.push(format!("reservation {id}")),
            (CapacityType::Spot, None) => parts.push("spot".to_owned()),
            (CapacityType::OnDemand | CapacityType::CapacityBlock, None) => {}
        }
        if let Some(group) = &want.placement_group {
            parts.push(format!("placement group {}", named(group)));
        }
        if want.footprint.efa > 0 {
            parts.push(format!("{} EFA", want.footprint.efa));
        }
        parts.push(format!("{} GiB {}", want.footprint.volume.size, want.footprint.volume.r#type));
        parts.join(", ")
    }
    /// A group that is created empty is there before its nodes start.
    fn brings(want: &Desired) -> Option<&'static str> {
        (want.create_empty && want.start > 0).then_some("instance")
    }

    fn demand(want: &Desired) -> Vec<Demand> {
        demand(want)
    }
    fn check(want: &Desired) -> Vec<String> {
        check(want)
    }
    fn samples() -> Vec<Desired> {
        imagined::samples()
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        imagined::imagine(want, id, stamp, phase)
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        format!("{}/{}", want.cluster, want.name)
    }
}

impl Issue {
    fn text(&self) -> String {
        match self.resources.as_slice() {
            [] => format!("{}: {}", self.code, self.message),
            resources => format!("{}: {} ({})", self.code, self.message, resources.join(", ")),
        }
    }
}

impl Desired {
    /// How its instances are paid for.
    pub fn purchase(&self) -> Purchase {
        match (self.capacity_type, &self.reservation) {
            (CapacityType::CapacityBlock, _) => Purchase::CapacityBlock,
            (CapacityType::Spot, _) => Purchase::Spot,
            (CapacityType::OnDemand, Some(_)) => Purchase::Reservation,
            (CapacityType::OnDemand, None) => Purchase::OnDemand,
        }
    }
}

/// The tags that every member carries, of those that the group itself carries: the group's follow the file at once, so a member
/// that lags behind them shows as drift, and an empty group never does. What EKS, AWS or a driver put on a member is theirs.
fn instance_tags(live: &Observed) -> Tags {
    let shown = |(key, value): (&String, &String)| {
        if !carried(key) {
            return None;
        }
        let other = live.member_tags.iter().map(|tags| tags.get(key)).find(|found| *found != Some(value));
        match other {
            None => Some((key.clone(), value.clone())),
            Some(found) => found.map(|found| (key.clone(), found.clone())),
        }
    };
    live.tags.iter().filter_map(shown).collect()
}

/// True for tags of a group that its members carry too.
fn carried(key: &str) -> bool {
    let own = key != START && key != RESOURCE && !anchor_only(key);
    own && !key.starts_with("aws:") && !key.starts_with("eks:")
}

fn demand(want: &Desired) -> Vec<Demand> {
    let sizes = |each: f64| (each * f64::from(want.min), each * f64::from(want.start), each * f64::from(want.max));
    let billed = |unit: &str, each: f64| {
        let (min, now, max) = sizes(each);
        Demand::Billed { unit: unit.to_owned(), min, now, max }
    };
    let volume = &want.footprint.volume;
    let mut demands = vec![Demand::one("nodeGroup")];
    // EKS starts with the type it prefers; the others are for when that one can't be had.
    demands.extend(want.instance_types.first().map(|instance_type| Demand::Instances {
        instance_type: instance_type.clone(),
        purchase: want.purchase(),
        zone: want.footprint.zone.clone(),
        min: want.min,
        now: want.start,
        max: want.max,
    }));
    demands.push(billed(&format!("{}GibMonths", volume.r#type), f64::from(volume.size)));
    // gp3 has 3,000 IOPS and 125 MiB/s in its price; other types bill every IOPS under a unit of their own.
    if volume.r#type == "gp3" {
        let extra = |value: Option<u32>, free: u32| value.map_or(0, |value| value.saturating_sub(free));
        let beyond = [("gp3IopsMonths", extra(volume.iops, 3_000)), ("gp3MibpsMonths", extra(volume.throughput, 125))];
        demands.extend(beyond.iter().filter(|(_, n)| *n > 0).map(|(unit, n)| billed(unit, f64::from(*n))));
    } else if let Some(iops) = volume.iops {
        demands.push(billed(&format!("{}IopsMonths", volume.r#type), f64::from(iops)));
    }
    // The ASG spreads over its subnets as evenly as it can.
    let subnets = u32::try_from(want.subnets.len()).unwrap_or(u32::MAX).max(1);
    let each = want.max.div_ceil(subnets) * want.footprint.addresses;
    demands.extend(want.subnets.iter().map(|subnet| Demand::addresses(subnet, each)));
    demands
}

fn check(want: &Desired) -> Vec<String> {
    let mut broken = vec![];
    if want.name.is_empty() || want.name.len() > 63 {
        broken.push("EKS takes 1 to 63 characters for a node group's name".to_owned());
    }
    if want.max < 1 {
        broken.push("EKS takes no node group with a largest size of 0".to_owned());
    }
    if want.min > want.max || want.start > want.max {
        broken.push(format!("{} nodes to start and at least {} do not fit under {}", want.start, want.min, want.max));
    }
    if want.max > 450 {
        broken.push("EKS takes 450 nodes a node group unless raised".to_owned());
    }
    if want.subnets.is_empty() {
        broken.push("EKS wants a subnet".to_owned());
    }
    if !(1..=20).contains(&want.instance_types.len()) {
        broken.push("EKS takes 1 to 20 instance types: without any it starts t3.medium".to_owned());
    }
    if want.capacity_type == CapacityType::CapacityBlock && (want.subnets.len() != 1 || want.instance_types.len() != 1)
    {
        broken.push("a capacity block is of one type, and the group's one subnet stands in its zone".to_owned());
    }
    if want.taints.len() > 50 {
        broken.push("EKS takes 50 taints a node group".to_owned());
    }
    if !(1..=100).contains(&want.update.max_unavailable) {
        broken.push("EKS takes 1 to 100 nodes to be replaced at a time".to_owned());
    }
    if want.security_groups.is_empty() {
        broken.push("nodes whose template names groups get none from EKS: at least the cluster's is needed".to_owned());
    }
    broken
}
