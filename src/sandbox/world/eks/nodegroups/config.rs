//! UpdateNodegroupConfig. Must never replace a node.

use super::{
    Deed, Named,
    calls::{below, found, named, string_map, taints, update_config},
    judge, life,
};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        eks::{in_use, parameter},
    },
};
use serde_json::{Value, json};

/// Seconds until a configuration is in force.
const TAKES: f64 = 10.0;

/// Refuses a second change while one runs.
pub(super) fn refuse_unless_active(world: &World, named: &Named) -> Result<(), Fault> {
    match found(world, named)?.status.as_str() {
        "ACTIVE" | "DEGRADED" => Ok(()),
        _ => Err(in_use("Nodegroup cannot be updated as it is currently not in Active State")),
    }
}

pub(in crate::sandbox::world::eks) fn configure(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.once(context, "clientRequestToken", "InvalidParameterException", |world| {
        let (named, input) = (named(context)?, context.input);
        refuse_unless_active(world, &named)?;
        let mut group = found(world, &named)?.clone();
        let mut params = vec![];
        let mut param = |kind: &str, value: String| params.push((kind.to_owned(), value));
        if let Some(change) = input.get("labels") {
            let removed = below(change, "removeLabels");
            group.labels.retain(|key, _| !removed.contains(key));
            group.labels.extend(string_map(change.get("addOrUpdateLabels")));
            param("LabelsToAdd", change.get("addOrUpdateLabels").unwrap_or(&Value::Null).to_string());
        }
        if let Some(change) = input.get("taints") {
            let place = |taint: &(String, Option<String>, String)| (taint.0.clone(), taint.2.clone());
            let removed: Vec<_> = taints(change.get("removeTaints")).iter().map(place).collect();
            let added = taints(change.get("addOrUpdateTaints"));
            group.taints.retain(|taint| {
                !removed.contains(&place(taint)) && !added.iter().any(|new| place(new) == place(taint))
            });
            group.taints.extend(added);
            param("TaintsToAdd", change.get("addOrUpdateTaints").unwrap_or(&Value::Null).to_string());
        }
        if let Some(config) = input.get("updateConfig") {
            // What is not said stays, but for the two ways to say how many.
            let mut whole = group.update_config.as_object().cloned().unwrap_or_default();
            let given = config.as_object().cloned().unwrap_or_default();
            if given.keys().any(|key| key.starts_with("maxUnavailable")) {
                whole.retain(|key, _| !key.starts_with("maxUnavailable"));
            }
            whole.extend(given);
            group.update_config = update_config(Some(&Value::Object(whole)));
            param("MaxUnavailable", group.update_config["maxUnavailable"].to_string());
        }
        if let Some(repair) = input.get("nodeRepairConfig") {
            group.repair = repair.clone();
            param("NodeRepairEnabled", repair["enabled"].to_string());
        }
        let asg = group.asg.clone().ok_or_else(|| parameter("The nodegroup has no Auto Scaling group."))?;
        let scaling = world.scaling_group(&named.region, &asg);
        let (mut min, mut max, mut desired) =
            scaling.map_or((group.min, group.max, group.desired), |now| (now.min, now.max, now.desired));
        if let Some(sizes) = input.get("scalingConfig") {
            let given = |name: &str| sizes.get(name).and_then(Value::as_u64).and_then(|n| u32::try_from(n).ok());
            min = given("minSize").unwrap_or(min);
            max = given("maxSize").unwrap_or(max);
            desired = given("desiredSize").unwrap_or(desired);
            param("MinSize", min.to_string());
            param("MaxSize", max.to_string());
            param("DesiredSize", desired.to_string());
            judge::sizes(world, (min, max, desired))?;
        }
        judge::labels(&group)?;
        judge::taints(&group)?;
        judge::update_config(&group.update_config)?;
        if input.get("scalingConfig").is_some() {
            let refused = |fault: Fault| parameter(fault.message);
            world.resize(&named.region, &asg, (min, max, desired)).map_err(refused)?;
        }
        let update = world.begin_update(&named.region, &named.cluster, "ConfigUpdate", params, Some(&named.name), None);
        (group.min, group.max, group.desired) = (min, max, desired);
        group.update = Some(update.id.clone());
        group.status = "UPDATING".to_owned();
        if let Some(place) = world.nodegroup_mut(&named) {
            *place = group;
        }
        world.nodegroup_later(TAKES, Deed::Configured(named));
        Ok(json!({ "update": update.view() }))
    })
}

pub(super) fn configured(world: &mut World, named: &Named) {
    let Some(id) = world.nodegroup_mut(named).and_then(|group| group.update.take()) else { return };
    world.end_update(&named.region, &named.cluster, &id, None);
    if world.nodegroup(named).is_some_and(|group| group.status == "UPDATING") {
        life::set_status(world, named, "ACTIVE", vec![]);
    }
}
