//! EBS snapshots. Must never go with their volume.

use super::{Deed, seconds};
use crate::sandbox::{
    wire::Fault,
    world::{
        Context, Moment, Output, World,
        ec2::{Listing, describe, find, tagged},
        limits,
        tags::specified,
        time,
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    pub volume: String,
    /// GiB of the volume.
    pub size: u32,
    pub encrypted: bool,
    pub description: String,
    /// `pending`, `completed`
    pub state: String,
    pub started: Moment,
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "snapshot")?;
    let (volume, region) = (context.required("VolumeId")?, context.region.to_owned());
    let of = find(&world.machines(&region).volumes, volume)?;
    let snapshot = Snapshot {
        volume: volume.to_owned(),
        size: of.size,
        encrypted: of.encrypted,
        description: context.text("Description").unwrap_or_default().to_owned(),
        state: "pending".to_owned(),
        started: world.now,
    };
    let id = world.id("snap");
    world.machines_mut(&region).snapshots.insert(id.clone(), snapshot.clone());
    world.register(&region, "snapshot", &id, tags);
    let view = tagged(world, &region, &id, view(world, &id, &snapshot));
    world.later(limits::creation("snapshot"), time::Deed::Compute(Deed::SnapshotComes { region, id }));
    Ok(view.into())
}

pub(super) fn comes(world: &mut World, region: &str, id: &str) {
    if let Some(snapshot) = world.machines_mut(region).snapshots.get_mut(id) {
        snapshot.state = "completed".to_owned();
    }
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("SnapshotId")?;
    find(&world.machines(context.region).snapshots, id)?;
    world.machines_mut(context.region).snapshots.remove(id);
    world.unregister(context.region, id);
    Ok(Output::default())
}

fn progress(world: &World, snapshot: &Snapshot) -> String {
    if snapshot.state == "completed" {
        return "100%".to_owned();
    }
    let share = seconds(world.now - snapshot.started) / limits::creation("snapshot");
    format!("{}%", (share * 100.0).clamp(0.0, 99.0) as u32)
}

fn view(world: &World, id: &str, snapshot: &Snapshot) -> Value {
    json!({
        "SnapshotId": id,
        "VolumeId": snapshot.volume,
        "VolumeSize": snapshot.size,
        "Encrypted": snapshot.encrypted,
        "Description": snapshot.description,
        "State": snapshot.state,
        "Progress": progress(world, snapshot),
        "StartTime": seconds(snapshot.started),
        "OwnerId": world.account,
        "StorageTier": "standard",
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let owners = context.texts("OwnerIds");
    let mut all = world.machines(context.region).snapshots.clone();
    // Those of others, which a call without owners would list too, don't exist here.
    all.retain(|_, _| owners.is_empty() || owners.iter().any(|owner| owner == "self" || *owner == world.account));
    let listing = Listing {
        ids: "SnapshotIds",
        prefix: "snap",
        member: "Snapshots",
        values: &|id, snapshot: &Snapshot, name| {
            Some(vec![match name {
                "snapshot-id" => id.to_owned(),
                "volume-id" => snapshot.volume.clone(),
                "volume-size" => snapshot.size.to_string(),
                "status" => snapshot.state.clone(),
                "encrypted" => snapshot.encrypted.to_string(),
                "description" => snapshot.description.clone(),
                "progress" => progress(world, snapshot),
                "start-time" => seconds(snapshot.started).to_string(),
                "owner-id" => world.account.clone(),
                "storage-tier" => "standard".to_owned(),
                _ => return None,
            }])
        },
        view: &|id, snapshot| view(world, id, snapshot),
    };
    describe(world, context, &all, listing)
}
