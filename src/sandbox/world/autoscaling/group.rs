//! Auto Scaling groups and their members. Must never start or end a machine: `keep` does.

use super::{Activity, Deed};
use crate::{
    model::{Tags, arn},
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World, keep, page, time},
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeMap;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Group {
    pub id: String,
    pub created: Moment,
    /// Id and version of the template that new members start from.
    pub template: (String, u64),
    /// In the order of preference; none: the template's own.
    pub instance_types: Vec<String>,
    pub spot: bool,
    pub subnets: Vec<String>,
    pub min: u32,
    pub max: u32,
    pub desired: u32,
    pub tags: BTreeMap<String, Tag>,
    /// By instance.
    pub members: BTreeMap<String, Member>,
    /// The newest last.
    pub activities: Vec<Activity>,
    /// What last changed the sizes, in Auto Scaling's words.
    pub request: String,
    pub deleting: bool,
    /// Launches that failed since the last that did not.
    pub failures: u32,
    /// When it looks next.
    pub next: Option<Moment>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tag {
    pub value: String,
    pub at_launch: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// `Pending`, `InService`, `Terminating`
    pub state: String,
    pub template: (String, u64),
    pub zone: String,
    pub since: Moment,
    /// Its start, or its end, in `activities`.
    pub activity: String,
}

/// A group to make.
#[derive(Clone, Debug, Default)]
pub struct NewGroup {
    pub template: (String, u64),
    pub instance_types: Vec<String>,
    pub spot: bool,
    pub subnets: Vec<String>,
    pub min: u32,
    pub max: u32,
    pub desired: u32,
    pub tags: BTreeMap<String, Tag>,
}

impl Group {
    /// Members that count.
    pub fn living(&self) -> impl Iterator<Item = (&String, &Member)> {
        self.members.iter().filter(|(_, member)| member.state != "Terminating")
    }

    /// Newest activity that failed, unless one after it went well.
    pub fn trouble(&self) -> Option<&Activity> {
        self.activities.last().filter(|activity| activity.status == "Failed")
    }
}

pub(super) fn no_such(name: &str) -> Fault {
    Fault::new("ValidationError", format!("AutoScalingGroup name not found - no such group: {name}"))
}

pub(super) fn invalid(message: impl Into<String>) -> Fault {
    Fault::new("ValidationError", message)
}

impl World {
    pub fn scaling_group(&self, region: &str, name: &str) -> Option<&Group> {
        self.scaling.get(region)?.get(name)
    }

    pub(in crate::sandbox::world) fn scaling_group_mut(&mut self, region: &str, name: &str) -> Option<&mut Group> {
        self.scaling.get_mut(region)?.get_mut(name)
    }

    pub(in crate::sandbox::world) fn make_scaling_group(&mut self, region: &str, name: &str, new: NewGroup) {
        let id = self.uuid();
        let group = Group {
            id,
            created: self.now,
            template: new.template,
            instance_types: new.instance_types,
            spot: new.spot,
            subnets: new.subnets,
            min: new.min,
            max: new.max,
            desired: new.desired,
            tags: new.tags,
            members: BTreeMap::new(),
            activities: vec![],
            request: format!(
                "a user request created an AutoScalingGroup changing the desired capacity from 0 to {}",
                new.desired
            ),
            deleting: false,
            failures: 0,
            next: None,
        };
        self.scaling.entry(region.to_owned()).or_default().insert(name.to_owned(), group);
        self.look_again(region, name, 1.0);
    }

    /// Lets a group look within so many seconds; an earlier look stays.
    pub(in crate::sandbox::world) fn look_again(&mut self, region: &str, name: &str, seconds: f64) {
        let at = self.now.saturating_add((seconds * 1000.0) as Moment);
        let now = self.now;
        let Some(group) = self.scaling_group_mut(region, name) else { return };
        if group.next.is_some_and(|next| next > now && next <= at) {
            return;
        }
        group.next = Some(at);
        let deed = Deed::Looks { region: region.to_owned(), name: name.to_owned() };
        self.later(seconds, time::Deed::Scaling(deed));
    }

    pub(super) fn scaling_arn(&self, region: &str, name: &str, id: &str) -> String {
        arn("autoscaling", region, &self.account, &format!("autoScalingGroup:{id}:autoScalingGroupName/{name}"))
    }
}

fn view(world: &World, region: &str, name: &str, group: &Group) -> Value {
    let template = json!({ "LaunchTemplateId": group.template.0, "Version": group.template.1.to_string() });
    let zones: Vec<String> = {
        let net = world.net(region);
        let of = |subnet: &String| net.subnet(subnet).ok().map(|subnet| world.zone_name(region, &subnet.zone));
        group.subnets.iter().filter_map(of).collect()
    };
    let overrides: Vec<Value> = group.instance_types.iter().map(|one| json!({ "InstanceType": one })).collect();
    let members = group.members.iter().map(|(id, member)| {
        let instance = world.instance(region, id);
        json!({
            "InstanceId": id,
            "InstanceType": instance.map(|instance| &instance.instance_type),
            "AvailabilityZone": world.zone_name(region, &member.zone),
            "LifecycleState": member.state,
            "HealthStatus": "Healthy",
            "LaunchTemplate": { "LaunchTemplateId": member.template.0, "Version": member.template.1.to_string() },
            "ProtectedFromScaleIn": false,
        })
    });
    json!({
        "AutoScalingGroupName": name,
        "AutoScalingGroupARN": world.scaling_arn(region, name, &group.id),
        "MixedInstancesPolicy": {
            "LaunchTemplate": { "LaunchTemplateSpecification": template, "Overrides": overrides },
            "InstancesDistribution": {
                "OnDemandAllocationStrategy": "prioritized",
                "OnDemandBaseCapacity": 0,
                "OnDemandPercentageAboveBaseCapacity": if group.spot { 0 } else { 100 },
                "SpotAllocationStrategy": "capacity-optimized",
            },
        },
        "MinSize": group.min,
        "MaxSize": group.max,
        "DesiredCapacity": group.desired,
        "DefaultCooldown": 300,
        "AvailabilityZones": zones,
        "VPCZoneIdentifier": group.subnets.join(","),
        "HealthCheckType": "EC2",
        "HealthCheckGracePeriod": 15,
        "LoadBalancerNames": [],
        "TargetGroupARNs": [],
        "SuspendedProcesses": [],
        "EnabledMetrics": [],
        "TerminationPolicies": ["AllocationStrategy", "OldestLaunchTemplate", "OldestInstance"],
        "NewInstancesProtectedFromScaleIn": false,
        "CapacityRebalance": group.spot,
        "CreatedTime": group.created as f64 / 1000.0,
        "Status": group.deleting.then_some("Delete in progress"),
        "Instances": members.collect::<Vec<_>>(),
        "Tags": group.tags.iter().map(|(key, tag)| super::tags::view(name, key, tag)).collect::<Vec<_>>(),
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let names = context.texts("AutoScalingGroupNames");
    let mut found = vec![];
    for (name, group) in world.scaling.get(region).into_iter().flatten() {
        let own: Tags = group.tags.iter().map(|(key, tag)| (key.clone(), tag.value.clone())).collect();
        // What is not there is not listed, and no error.
        if (names.is_empty() || names.contains(name)) && fits(context, &own)? {
            found.push(view(world, region, name, group));
        }
    }
    let most = context.number("MaxRecords").unwrap_or(50);
    if !(1..=100).contains(&most) {
        return Err(invalid(format!("The MaxRecords value {most} is not between 1 and 100.")));
    }
    let (groups, next) = page(found, context.text("NextToken"), Some(most), "InvalidNextToken")?;
    Ok(json!({ "AutoScalingGroups": groups, "NextToken": next }).into())
}

fn fits(context: &Context, tags: &Tags) -> Result<bool, Fault> {
    keep(context, tags, &|_| None).map_err(|fault| invalid(fault.message))
}
