//! RunInstances, TerminateInstances and what a machine's console shows. Must never start a machine by another way than a fleet
//! or a scaling group does.

use super::instance_view::view;
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Output, World,
        ec2::{find, invalid, missing},
    },
};
use serde_json::{Value, json};

pub(super) fn run(world: &mut World, context: &Context) -> Result<Output, Fault> {
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let region = context.region;
        let count = |name: &str| context.number(name).and_then(|n| usize::try_from(n).ok()).unwrap_or(0);
        let (least, most) = (count("MinCount"), count("MaxCount"));
        if least < 1 || most < least {
            return Err(invalid(format!("Invalid value '{most}' for instanceCount. Must be at least {least}, and 1.")));
        }
        let machine = world.prepare(region, context.input, None)?;
        let started = world.start(region, &machine, least, most)?;
        let batch = started.first().and_then(|id| world.instance(region, id)).map(|instance| instance.batch.clone());
        let instances: Vec<Value> = started.iter().filter_map(|id| view(world, region, id)).collect();
        Ok(json!({ "ReservationId": batch, "OwnerId": world.account, "Groups": [], "Instances": instances }))
    })
}

/// Either all of them or none.
pub(super) fn terminate(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (ids, region) = (context.texts("InstanceIds"), context.region);
    for id in &ids {
        if find(&world.machines(region).instances, id)?.protected {
            let message = format!(
                "The instance '{id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try \
                 again."
            );
            return Err(Fault::new("OperationNotPermitted", message));
        }
    }
    let state = |world: &World, id: &str| {
        let instance = world.instance(region, id).ok_or_else(|| missing(id))?;
        Ok(json!({ "Code": instance.code(), "Name": instance.state }))
    };
    let mut ending = vec![];
    for id in &ids {
        let before: Value = state(world, id)?;
        world.terminate(
            region,
            id,
            ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"),
        )?;
        ending.push(json!({ "InstanceId": id, "CurrentState": state(world, id)?, "PreviousState": before }));
    }
    Ok(json!({ "TerminatingInstances": ending }).into())
}

/// Nothing boots here, so no console has a word.
pub(super) fn console(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("InstanceId")?;
    find(&world.machines(context.region).instances, id)?;
    Ok(json!({ "InstanceId": id, "Timestamp": world.seconds(), "Output": "" }).into())
}
