//! What create, update and delete do to the simulated account, and what AWS would refuse. Must never be kinder than AWS where a
//! rule decides the order of things.

use super::{
    account::Inner,
    births,
    facts::{caller, counts, refused},
    nodes,
    world::{Made, Moment, Object},
};
use crate::{
    contract::{AnyKind, Change, Class, CloudError, Demand, Phase, Readiness, TAGS},
    model::{Doc, PhysicalId, Stamp, hash, identifiers, links},
};
use serde_json::json;

/// Kinds whose create call takes no idempotency token: a repeat makes a second one, or is refused by name.
const TOKENLESS: &[&str] = &[
    "vpc",
    "subnet",
    "internet-gateway",
    "elastic-ip",
    "security-group",
    "placement-group",
    "role",
    "instance-profile",
    "log-group",
    "bucket",
    "queue",
    "event-rule",
];

/// Kinds of which AWS goes on listing what was deleted, and for how many seconds.
const RECORDS: &[(&str, Moment)] = &[("nat-gateway", 3600), ("instance", 3600)];

/// Seconds that a change takes, where it is not done when the call returns.
const CHANGES: &[(&str, &str, Moment)] = &[
    ("cluster", "/version", 540),
    ("cluster", "", 60),
    ("node-group", "", 120),
    ("addon", "", 35),
    ("file-system", "", 300),
];

pub(super) fn create(
    inner: &mut Inner,
    kind: &'static dyn AnyKind,
    want: &Doc,
    stamp: &Stamp,
    now: Moment,
) -> Result<PhysicalId, CloudError> {
    let call = operation("Create", kind);
    if let Some(link) = links(want).first() {
        let message = format!("the value of {} is {}, which is not made yet", link.path, link.address);
        return Err(CloudError::new(&call, Class::Invalid, "InvalidParameterValue", message));
    }
    let digest = hash(&format!("{}{want}{:?}", kind.name(), stamp.tags), 64);
    let takes_token = !stamp.token.is_empty() && !TOKENLESS.contains(&kind.name());
    if let Some(made) = inner.world.tokens.get(&stamp.token).filter(|_| takes_token) {
        if made.digest == digest {
            return Ok(made.id.clone());
        }
        let message = format!("the token {} was used with other parameters", stamp.token);
        return Err(CloudError::new(&call, Class::AlreadyExists, "IdempotentParameterMismatch", message));
    }
    targets_stand(inner, &call, want, now)?;
    name_is_free(inner, kind, &call, want, now)?;
    counts_fit(inner, kind, &call, want, now)?;

    let serial = inner.world.serial();
    let id = kind.imagine_id(want, &serial).map_err(|e| inner.misshapen(&e))?;
    let mut carried = want.clone();
    leave_for_later(kind.name(), &mut carried);
    let object = insert(inner, kind, carried, id.clone(), stamp.clone(), None, now)?;
    if takes_token {
        inner.world.tokens.insert(stamp.token.clone(), Made { id: id.clone(), digest });
    }
    births::after_create(inner, &object, now)?;
    Ok(id)
}

/// Takes out of a wish what the create call of its kind can't carry, and what AWS has in its place until the next call.
fn leave_for_later(kind: &str, want: &mut Doc) {
    let later = match kind {
        "vpc" => json!({ "dnsHostnames": false }),
        "subnet" => json!({ "mapPublicIp": false }),
        "internet-gateway" => json!({ "vpc": null }),
        "route-table" => json!({ "routes": [], "subnets": [] }),
        "security-group" => json!({ "ingress": [], "egress": [] }),
        "role" => json!({ "managed": [], "inline": {} }),
        "instance-profile" => json!({ "role": null }),
        "event-rule" => json!({ "targets": [] }),
        "log-group" => json!({ "retention": null }),
        "access-entry" => json!({ "policies": [] }),
        "bucket" => json!({ "tlsOnly": false, "abortIncompleteDays": null }),
        "node-group" => return nodes::created(want),
        _ => return,
    };
    if let (Some(want), Doc::Object(later)) = (want.as_object_mut(), later) {
        want.extend(later);
    }
}

/// Puts an object into the world, ready after the time that its kind takes.
pub(super) fn insert(
    inner: &mut Inner,
    kind: &'static dyn AnyKind,
    want: Doc,
    id: PhysicalId,
    stamp: Stamp,
    made_by: Option<PhysicalId>,
    now: Moment,
) -> Result<Object, CloudError> {
    let seconds = inner.catalog.timing(kind.name()).and_then(|timing| timing.expected_create()).unwrap_or(1);
    let ready = now + Moment::from(seconds) * 1000;
    let mut object = Object {
        kind: kind.name().to_owned(),
        id,
        region: inner.region.clone(),
        want,
        stamp,
        outputs: crate::model::Outputs::new(),
        created: now,
        ready,
        changed: now,
        deleting: None,
        gone: None,
        record_until: None,
        made_by,
        size: None,
        trouble: None,
    };
    object.outputs = outputs(inner, kind, &object)?;
    inner.world.objects.push(object.clone());
    Ok(object)
}

fn outputs(inner: &Inner, kind: &dyn AnyKind, object: &Object) -> Result<crate::model::Outputs, CloudError> {
    let there = kind.imagine(&object.want, &object.id, &object.stamp, Phase::There);
    let look = there.and_then(|doc| kind.look(&doc)).map_err(|e| inner.misshapen(&e))?;
    Ok(look.outputs)
}

pub(super) fn update(
    inner: &mut Inner,
    kind: &'static dyn AnyKind,
    id: &str,
    want: &Doc,
    changed: &[String],
    stamp: &Stamp,
    now: Moment,
) -> Result<(), CloudError> {
    let call = operation("Update", kind);
    let at = inner
        .world
        .find(kind.name(), id, now)
        .filter(|at| inner.world.objects[*at].exists(now))
        .ok_or_else(|| refused(&call, Class::NotFound, "NotFound", id))?;
    let busy = inner.world.objects[at].phase(now);
    if busy == Phase::Going || busy != Phase::There && takes_long(inner, kind) {
        let message = format!("{id} is being {}", if busy == Phase::Coming { "created" } else { "changed" });
        return Err(CloudError::new(&call, Class::Conflict, "ResourceInUseException", message));
    }
    targets_stand(inner, &call, want, now)?;
    let fields = kind.fields(want).map_err(|e| inner.misshapen(&e))?;
    let mut next = inner.world.objects[at].clone();
    let mut seconds = 1;
    for path in changed {
        let Some(top) = path.split('/').nth(1).filter(|top| !top.is_empty()) else {
            return Err(CloudError::new(
                &call,
                Class::Invalid,
                "InvalidParameterValue",
                format!("no field at `{path}`"),
            ));
        };
        if top == "tags" && kind.tagged() {
            // What AWS itself tagged stays.
            next.stamp.tags.retain(|key, _| key.starts_with("aws:") || key.starts_with("eks:"));
            next.stamp.tags.extend(stamp.tags.clone());
            continue;
        }
        if fields.iter().any(|field| field.covers(path) && field.change == Change::Immutable) {
            let message = format!("{path} of {id} can't be changed");
            return Err(CloudError::new(&call, Class::Invalid, "InvalidParameterCombination", message));
        }
        match (want.get(top), next.want.as_object_mut()) {
            (Some(value), Some(map)) => drop(map.insert(top.to_owned(), value.clone())),
            (None, Some(map)) => drop(map.remove(top)),
            (_, None) => {}
        }
        let takes = CHANGES.iter().find(|(name, at, _)| *name == kind.name() && path.starts_with(at));
        seconds = seconds.max(takes.map_or(1, |(.., seconds)| *seconds));
    }
    next.stamp.address = stamp.address.clone();
    if changed.iter().any(|path| path != TAGS) {
        next.changed = next.ready.max(now) + seconds * 1000;
    }
    next.outputs = outputs(inner, kind, &next)?;
    let before = std::mem::replace(&mut inner.world.objects[at], next.clone());
    births::after_update(inner, &before, &next, now)
}

pub(super) fn delete(inner: &mut Inner, kind: &'static dyn AnyKind, id: &str, now: Moment) -> Result<(), CloudError> {
    let call = operation("Delete", kind);
    let Some(at) = inner.world.find(kind.name(), id, now) else { return Ok(()) };
    let object = inner.world.objects[at].clone();
    if !object.exists(now) || object.phase(now) == Phase::Going {
        return Ok(());
    }
    if object.phase(now) != Phase::There && takes_long(inner, kind) && kind.name() == "cluster" {
        let message = format!("{id} is being created or changed");
        return Err(CloudError::new(&call, Class::Conflict, "ResourceInUseException", message));
    }
    let attached = match kind.name() {
        "network-interface" => !object.want["instance"].is_null() || object.want["requesterManaged"] == Doc::Bool(true),
        "volume" => !object.want["attached"].is_null(),
        _ => false,
    };
    if attached {
        let message = format!("{id} is currently in use");
        return Err(CloudError::new(&call, Class::InUse, "InvalidParameterValue", message));
    }
    let leaning = inner.world.leaning(&object, now, &|name| inner.kind(name)).map_err(|e| inner.misshapen(&e))?;
    if let Some(other) = leaning {
        let message = format!("{id} has a dependent object: {} {}", other.kind, other.id);
        return Err(CloudError::new(&call, Class::InUse, "DependencyViolation", message));
    }
    let seconds = inner.catalog.timing(kind.name()).and_then(|timing| timing.expected_delete()).unwrap_or(1);
    let gone = now + Moment::from(seconds) * 1000;
    end(inner, at, now, gone);
    births::after_delete(inner, &object, gone, now)
}

/// Lets an object go from `now` until `gone`.
pub(super) fn end(inner: &mut Inner, at: usize, now: Moment, gone: Moment) {
    let object = &mut inner.world.objects[at];
    object.deleting = Some(now);
    object.gone = Some(gone);
    object.record_until =
        RECORDS.iter().find(|(name, _)| *name == object.kind).map(|(_, seconds)| gone + seconds * 1000);
}

/// Every link leads to something that exists and can be used.
fn targets_stand(inner: &Inner, call: &str, want: &Doc, now: Moment) -> Result<(), CloudError> {
    for (path, value) in identifiers(want) {
        let Some(target) = inner.world.living(now).find(|object| object.offers(&value)) else {
            if inner.world.brought.knows(&value)
                || value == caller(inner)
                || inner.scenario.brought_appears && !inner.world.retired.contains(&value)
            {
                continue;
            }
            return Err(refused(call, Class::NotFound, "InvalidID.NotFound", &value));
        };
        let Some(kind) = inner.kind(&target.kind) else { continue };
        let ready = kind.look(&inner.shown(target, kind, now)?).map_err(|e| inner.misshapen(&e))?.ready;
        if matches!(ready, Readiness::Pending(_)) && target.phase(now) == Phase::Coming {
            let message = format!("{value}, at {path}, is not ready");
            return Err(CloudError::new(call, Class::NotYet, "IncorrectState", message));
        }
    }
    Ok(())
}

fn name_is_free(inner: &Inner, kind: &dyn AnyKind, call: &str, want: &Doc, now: Moment) -> Result<(), CloudError> {
    let wished = |doc: &Doc| kind.words(doc).map(|words| words.name).map_err(|e| inner.misshapen(&e));
    let Some(name) = wished(want)? else { return Ok(()) };
    // Names of node groups and their like are unique in their cluster, those of security groups in their VPC.
    let place = |doc: &Doc| (doc.get("cluster").cloned(), doc.get("vpc").cloned());
    for other in inner.world.living(now).filter(|other| other.kind == kind.name() && other.region == inner.region) {
        if wished(&other.want)?.as_ref() == Some(&name) && place(&other.want) == place(want) {
            return Err(CloudError::new(call, Class::AlreadyExists, taken(kind), format!("{name} already exists")));
        }
    }
    if kind.name() == "bucket" && inner.world.brought.buckets.contains_key(&name) {
        return Err(CloudError::new(call, Class::AlreadyExists, taken(kind), format!("{name} already exists")));
    }
    Ok(())
}

/// The code with which AWS refuses a taken name.
fn taken(kind: &dyn AnyKind) -> &'static str {
    match kind.name() {
        "role" | "instance-profile" => "EntityAlreadyExists",
        "security-group" => "InvalidGroup.Duplicate",
        "placement-group" => "InvalidPlacementGroup.Duplicate",
        "launch-template" => "InvalidLaunchTemplateName.AlreadyExistsException",
        "bucket" => "BucketAlreadyOwnedByYou",
        "log-group" => "ResourceAlreadyExistsException",
        "queue" => "QueueNameExists",
        _ => "ResourceInUseException",
    }
}

fn counts_fit(inner: &Inner, kind: &dyn AnyKind, call: &str, want: &Doc, now: Moment) -> Result<(), CloudError> {
    for demand in kind.demand(want).map_err(|e| inner.misshapen(&e))? {
        let Demand::Count { of, n } = demand else { continue };
        let Some(quota) = inner.catalog.count_quota(&of).filter(|quota| quota.per == crate::catalog::Per::Region)
        else {
            continue;
        };
        let granted = quota.code.as_ref().and_then(|code| inner.scenario.quotas.get(code)).copied().or(quota.default);
        let used = counts(inner, now)?.get(&of).copied().unwrap_or(0);
        if granted.is_some_and(|limit| f64::from(used + n) > limit) {
            let message = format!("{}: {used} in use, limit reached", quota.name);
            return Err(CloudError::new(call, Class::Quota, "LimitExceeded", message));
        }
    }
    Ok(())
}

/// True for kinds whose changes AWS runs one at a time.
fn takes_long(inner: &Inner, kind: &dyn AnyKind) -> bool {
    let seconds = inner.catalog.timing(kind.name()).and_then(|timing| timing.expected_create());
    seconds.is_some_and(|seconds| seconds > 30)
}

/// `ec2:CreateNatGateway`
pub(super) fn operation(verb: &str, kind: &dyn AnyKind) -> String {
    let service = kind.aws_name().split(':').next().unwrap_or_default();
    let mut name = format!("{service}:{verb}");
    for word in kind.name().split('-') {
        let mut letters = word.chars();
        name.extend(letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters));
    }
    name
}
