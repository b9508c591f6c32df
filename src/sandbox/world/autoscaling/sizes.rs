//! Sizes of groups, and their end. Must never set a size outside of what a group may have.

use super::group::{invalid, no_such};
use crate::sandbox::{
    wire::Fault,
    world::{Context, Output, World},
};

/// Members of UpdateAutoScalingGroup that are sizes, or that change nothing here.
const OFFERED: &[&str] =
    &["AutoScalingGroupName", "MinSize", "MaxSize", "DesiredCapacity", "DefaultCooldown", "Context"];

fn size(context: &Context, name: &str) -> Option<u32> {
    context.number(name).and_then(|n| u32::try_from(n).ok())
}

impl World {
    /// Gives a group other sizes: `(min, max, desired)`. Refused where they contradict each other.
    pub(in crate::sandbox::world) fn resize(
        &mut self,
        region: &str,
        name: &str,
        sizes: (u32, u32, u32),
    ) -> Result<(), Fault> {
        let (min, max, desired) = sizes;
        if min > max {
            return Err(invalid(format!("Max bound, {max}, must be greater than or equal to min bound, {min}")));
        }
        if !(min..=max).contains(&desired) {
            return Err(invalid(format!(
                "Desired capacity:{desired} must be between the specified min size:{min} and max size:{max}"
            )));
        }
        let group = self.scaling_group_mut(region, name).ok_or_else(|| no_such(name))?;
        let before = group.desired;
        group.request = format!(
            "a user request update of AutoScalingGroup constraints to min: {min}, max: {max}, desired: {desired} changing the \
             desired capacity from {before} to {desired}"
        );
        (group.min, group.max, group.desired) = sizes;
        self.look_again(region, name, 1.0);
        Ok(())
    }

    /// Starts the end of a group and of everything in it.
    pub(in crate::sandbox::world) fn end_scaling_group(&mut self, region: &str, name: &str) {
        if let Some(group) = self.scaling_group_mut(region, name) {
            group.deleting = true;
            (group.min, group.desired) = (0, 0);
            self.look_again(region, name, 1.0);
        }
    }
}

pub(super) fn update(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, region) = (context.required("AutoScalingGroupName")?, context.region);
    let given = context.input.as_object();
    if let Some(other) = given.into_iter().flat_map(|all| all.keys()).find(|key| !OFFERED.contains(&key.as_str())) {
        return Err(invalid(format!("{other} can't be changed here: EKS keeps it.")));
    }
    let group = world.scaling_group(region, name).ok_or_else(|| no_such(name))?;
    let min = size(context, "MinSize").unwrap_or(group.min);
    let max = size(context, "MaxSize").unwrap_or(group.max);
    let desired = size(context, "DesiredCapacity").unwrap_or_else(|| group.desired.clamp(min, max.max(min)));
    world.resize(region, name, (min, max, desired))?;
    Ok(Output::default())
}

pub(super) fn set_desired(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, region) = (context.required("AutoScalingGroupName")?, context.region);
    let group = world.scaling_group(region, name).ok_or_else(|| no_such(name))?;
    let desired = size(context, "DesiredCapacity").unwrap_or_default();
    let (min, max) = (group.min, group.max);
    let side = match desired {
        n if n > max => Some(("above max", max)),
        n if n < min => Some(("below min", min)),
        _ => None,
    };
    if let Some((side, bound)) = side {
        return Err(invalid(format!(
            "New SetDesiredCapacity value {desired} is {side} value {bound} for the AutoScalingGroup."
        )));
    }
    world.resize(region, name, (min, max, desired))?;
    Ok(Output::default())
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (name, region) = (context.required("AutoScalingGroupName")?, context.region);
    let group = world.scaling_group(region, name).ok_or_else(|| no_such(name))?;
    if context.flag("ForceDelete") != Some(true) && (group.desired > 0 || !group.members.is_empty()) {
        let message = "You cannot delete an AutoScalingGroup while there are instances or pending Spot instance request(s) \
                       still in the group.";
        return Err(Fault::new("ResourceInUse", message));
    }
    world.end_scaling_group(region, name);
    Ok(Output::default())
}
