//! What the simulated account holds, as plain data that can be saved, and the questions asked of it. Must never read a clock:
//! every moment is passed in.

use crate::{
    contract::{AnyKind, Change, Ownership, Phase, ShapeError},
    model::{Doc, Identity, Link, Outputs, PhysicalId, Scope, Stamp, Tags, identifiers},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// Milliseconds since the epoch.
pub type Moment = i64;

/// One object. Its phase follows from its moments, so that nothing has to happen for time to pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Object {
    pub kind: String,
    pub id: PhysicalId,
    pub region: String,
    /// The kind's wish as last brought, links resolved.
    pub want: Doc,
    pub stamp: Stamp,
    pub outputs: Outputs,
    pub created: Moment,
    pub ready: Moment,
    pub changed: Moment,
    pub deleting: Option<Moment>,
    pub gone: Option<Moment>,
    /// Until then AWS still lists it, as deleted or terminated.
    #[serde(default)]
    pub record_until: Option<Moment>,
    /// Id of the object that brought it.
    #[serde(default)]
    pub made_by: Option<PhysicalId>,
    /// Nodes that a node group is to have.
    #[serde(default)]
    pub size: Option<u32>,
    /// Why it has fewer.
    #[serde(default)]
    pub trouble: Option<Trouble>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trouble {
    pub code: String,
    pub message: String,
}

fn cluster_of(object: &Object) -> Option<String> {
    match serde_json::from_value(object.want.get("cluster")?.clone()) {
        Ok(Link::Is(name)) => Some(name),
        Ok(Link::To { .. }) | Err(_) => None,
    }
}

impl Object {
    /// There for AWS: made, and not gone.
    pub fn exists(&self, now: Moment) -> bool {
        self.created <= now && self.gone.is_none_or(|gone| now < gone)
    }

    /// Gone, but still listed.
    pub fn is_record(&self, now: Moment) -> bool {
        self.gone.is_some_and(|gone| gone <= now) && self.record_until.is_some_and(|until| now < until)
    }

    pub fn phase(&self, now: Moment) -> Phase {
        match self.deleting {
            Some(since) if since <= now => Phase::Going,
            _ if now < self.ready => Phase::Coming,
            _ if now < self.changed => Phase::Changing,
            _ => Phase::There,
        }
    }

    /// True for a value that links to this object may hold.
    pub fn offers(&self, value: &str) -> bool {
        self.id == value || self.outputs.values().any(|output| output == value)
    }

    /// True for what names the object itself: what holds such a link keeps it from being deleted.
    pub fn is_called(&self, value: &str) -> bool {
        let named = |name: &str| self.outputs.get(name).is_some_and(|output| output == value);
        self.id == value || named("arn") || named("name")
    }

    /// Values that it links to.
    pub fn targets(&self) -> impl Iterator<Item = String> {
        identifiers(&self.want).into_iter().map(|(_, value)| value)
    }
}

/// The whole account: every region's objects, the store, tokens, and what a script left running.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct World {
    pub account: String,
    /// The world's time when it was saved: its clock goes on from there.
    pub now: Moment,
    pub next_id: u64,
    pub objects: Vec<Object>,
    /// Token to what was made with it.
    pub tokens: BTreeMap<String, Made>,
    /// Ids, names and ARNs of what is gone for good: a link to one of them is a mistake.
    pub retired: BTreeSet<String>,
    pub files: BTreeMap<String, File>,
    /// Things that live outside of every stack and that a stack file names.
    pub brought: super::brought::Brought,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Made {
    pub id: PhysicalId,
    pub digest: String,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    pub body: String,
    pub etag: String,
    pub written: Moment,
}

/// Kinds of which AWS lists what sits in a VPC.
const IN_VPC: &[&str] = &[
    "subnet",
    "internet-gateway",
    "nat-gateway",
    "route-table",
    "security-group",
    "vpc-endpoint",
    "network-interface",
    "instance",
    "load-balancer",
    "target-group",
];

/// Kinds that know no region.
const GLOBAL: &[&str] = &["role", "instance-profile", "cost-tags"];

impl World {
    pub fn serial(&mut self) -> String {
        self.next_id += 1;
        format!("{:017x}", self.next_id)
    }

    pub fn living(&self, now: Moment) -> impl Iterator<Item = &Object> {
        self.objects.iter().filter(move |object| object.exists(now))
    }

    pub fn find(&self, kind: &str, id: &str, now: Moment) -> Option<usize> {
        let at = |record: bool| {
            self.objects.iter().position(|object| {
                object.kind == kind && object.id == id && (object.exists(now) || record && object.is_record(now))
            })
        };
        at(false).or_else(|| at(true))
    }

    /// Whoever holds a link to `object` that AWS does not let go while it lives.
    pub fn leaning(
        &self,
        object: &Object,
        now: Moment,
        kind: &dyn Fn(&str) -> Option<&'static dyn AnyKind>,
    ) -> Result<Option<&Object>, ShapeError> {
        let near = |other: &&Object| other.region == object.region || GLOBAL.contains(&object.kind.as_str());
        for other in self.living(now).filter(near) {
            // What it brought itself goes with it.
            if (&other.id, &other.kind) == (&object.id, &object.kind) || other.made_by.as_ref() == Some(&object.id) {
                continue;
            }
            let held: Vec<_> = identifiers(&other.want).into_iter().filter(|(_, v)| object.is_called(v)).collect();
            if held.is_empty() {
                continue;
            }
            let Some(its) = kind(&other.kind) else { continue };
            let fields = its.fields(&other.want)?;
            let holds = |path: &str| {
                let mut covering = fields.iter().filter(|field| field.covers(path));
                covering.any(|field| field.change == Change::Immutable || field.holds)
            };
            if held.iter().any(|(path, _)| holds(path)) {
                return Ok(Some(other));
            }
        }
        Ok(None)
    }

    /// Objects of a kind that a list in this scope shows, records included.
    pub fn listed<'a>(
        &'a self,
        kind: &'static dyn AnyKind,
        scope: &'a Scope,
        now: Moment,
        lag: Moment,
    ) -> Result<Vec<&'a Object>, ShapeError> {
        let wished = scope.names.get(kind.name());
        let mut found = vec![];
        for object in &self.objects {
            let here = GLOBAL.contains(&kind.name()) || object.region == scope.identity.region;
            let shown = object.exists(now) && object.created <= now - lag || object.is_record(now);
            if object.kind != kind.name() || !here || !shown {
                continue;
            }
            let name = kind.words(&object.want)?.name;
            // A name inside a cluster says nothing of the same name inside another.
            let elsewhere = cluster_of(object).is_some_and(|cluster| cluster != scope.cluster);
            let named = wished.zip(name).is_some_and(|(all, name)| all.contains(&name));
            if named && !elsewhere || self.belongs(object, kind, scope, now) {
                found.push(object);
            }
        }
        Ok(found)
    }

    fn belongs(&self, object: &Object, kind: &dyn AnyKind, scope: &Scope, now: Moment) -> bool {
        if kind.ownership() == Ownership::Shared || tagged_for(&object.stamp.tags, &scope.identity, &scope.cluster) {
            return true;
        }
        if let Ownership::PartOf(parent) = kind.ownership() {
            let ours = |value: &String| {
                let parents = self.living(now).filter(|o| o.kind == parent && o.offers(value));
                parents.into_iter().any(|o| tagged_for(&o.stamp.tags, &scope.identity, &scope.cluster))
            };
            return object.targets().any(|value| ours(&value));
        }
        let in_vpc = scope.vpc.as_ref().filter(|_| IN_VPC.contains(&kind.name()));
        in_vpc.is_some_and(|vpc| self.reaches(object, vpc, 3))
    }

    /// True when links lead from the object to that VPC in at most `steps` steps.
    fn reaches(&self, object: &Object, vpc: &str, steps: usize) -> bool {
        object.targets().any(|value| {
            value == vpc
                || steps > 0
                    && self
                        .objects
                        .iter()
                        .filter(|next| IN_VPC.contains(&next.kind.as_str()) && next.id == value)
                        .any(|next| self.reaches(next, vpc, steps - 1))
        })
    }

    /// Forgets what is gone and no longer listed.
    pub fn prune(&mut self, now: Moment) {
        if !self.objects.iter().any(|object| object.gone.is_some_and(|gone| gone <= now) && !object.is_record(now)) {
            return;
        }
        let (kept, gone) = std::mem::take(&mut self.objects)
            .into_iter()
            .partition(|object: &Object| object.gone.is_none_or(|gone| now < gone) || object.is_record(now));
        self.objects = kept;
        for object in gone {
            let names = ["arn", "name"].map(|name| object.outputs.get(name).cloned());
            self.retired.extend(names.into_iter().flatten().chain([object.id]));
        }
    }
}

/// Tags by which AWS's own controllers and ours mark what belongs to a stack or its cluster.
fn tagged_for(tags: &Tags, identity: &Identity, cluster: &str) -> bool {
    let by_value = ["aws:eks:cluster-name", "eks:cluster-name", "eks:eks-cluster-name", "elbv2.k8s.aws/cluster"];
    identity.owns(tags)
        || by_value.iter().any(|key| tags.get(*key).is_some_and(|value| value == cluster))
        || tags.contains_key(&format!("kubernetes.io/cluster/{cluster}"))
}
