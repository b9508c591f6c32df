//! EBS volumes. Must never go while attached.

use super::{
    Deed,
    disk::{NewVolume, judge},
    instance_view::operator,
    seconds,
};
use crate::{
    model::Tags,
    sandbox::{
        wire::Fault,
        world::{
            Context, Moment, Output, World,
            ec2::{Listing, describe, find, find_mut, invalid, tagged},
            limits,
            tags::specified,
            time,
        },
    },
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Volume {
    pub kind: String,
    /// GiB.
    pub size: u32,
    pub iops: Option<u32>,
    pub throughput: Option<u32>,
    pub encrypted: bool,
    pub kms_key: Option<String>,
    pub snapshot: Option<String>,
    /// Zone id.
    pub zone: String,
    /// `creating`, `available`, `in-use`, `deleting`
    pub state: String,
    pub created: Moment,
    pub attachment: Option<Attachment>,
    /// Service that manages it for the account, and hides it by default.
    pub operator: Option<String>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Attachment {
    pub instance: String,
    pub device: String,
    pub delete_on_termination: bool,
    pub since: Moment,
}

/// What gp3 has in its price, which is what it has unless told otherwise.
const GP3: (u32, u32) = (3_000, 125);

impl World {
    /// Makes a volume, attached to nothing.
    pub(in crate::sandbox::world) fn make_volume(
        &mut self,
        region: &str,
        zone: &str,
        new: &NewVolume,
        tags: Tags,
    ) -> Result<String, Fault> {
        judge(new)?;
        let same = self.machines(region).volumes.values().filter(|volume| volume.kind == new.kind);
        let gib: u64 = same.map(|volume| u64::from(volume.size)).sum::<u64>() + u64::from(new.size);
        let limit = u64::try_from(self.limit(&format!("{}Tib", new.kind))).unwrap_or(u64::MAX).saturating_mul(1024);
        if gib > limit {
            let message = format!("You have exceeded your maximum storage of {} volumes: {limit} GiB.", new.kind);
            return Err(Fault::new("VolumeLimitExceeded", message));
        }
        let id = self.id("vol");
        let gp3 = new.kind == "gp3";
        let volume = Volume {
            kind: new.kind.clone(),
            size: new.size,
            iops: new.iops.or(gp3.then_some(GP3.0)),
            throughput: new.throughput.or(gp3.then_some(GP3.1)),
            encrypted: new.encrypted,
            kms_key: new.kms_key.clone(),
            snapshot: new.snapshot.clone(),
            zone: zone.to_owned(),
            state: "creating".to_owned(),
            created: self.now,
            attachment: None,
            operator: None,
        };
        self.machines_mut(region).volumes.insert(id.clone(), volume);
        self.register(region, "volume", &id, tags);
        Ok(id)
    }

    /// Leaves a volume as a driver of pods' volumes leaves it: attached to nothing, and billed.
    pub(in crate::sandbox::world) fn leave_volume(&mut self, region: &str, zone: &str, cluster: &str, n: u32) {
        let new = NewVolume {
            kind: "gp3".to_owned(),
            size: 100,
            iops: None,
            throughput: None,
            encrypted: true,
            kms_key: None,
            snapshot: None,
        };
        let tags = Tags::from([
            ("kubernetes.io/created-for/pvc/name".to_owned(), format!("data-{n}")),
            ("ebs.csi.aws.com/cluster".to_owned(), "true".to_owned()),
            (format!("kubernetes.io/cluster/{cluster}"), "owned".to_owned()),
        ]);
        // An account that may hold no more has no leftovers.
        if let Ok(id) = self.make_volume(region, zone, &new, tags) {
            comes(self, region, &id);
        }
    }

    pub(super) fn attach_volume(
        &mut self,
        region: &str,
        id: &str,
        instance: &str,
        device: &str,
        delete_on_termination: bool,
    ) {
        let attachment = Attachment {
            instance: instance.to_owned(),
            device: device.to_owned(),
            delete_on_termination,
            since: self.now,
        };
        if let Some(volume) = self.machines_mut(region).volumes.get_mut(id) {
            volume.attachment = Some(attachment);
            volume.state = "in-use".to_owned();
        }
    }

    /// The instance is gone: the volume too, or it stays and bills on.
    pub(super) fn detach_volume(&mut self, region: &str, id: &str, instance: &str) {
        let Some(volume) = self.machines_mut(region).volumes.get_mut(id) else { return };
        let Some(attachment) = volume.attachment.take_if(|to| to.instance == instance) else { return };
        volume.state = "available".to_owned();
        if attachment.delete_on_termination {
            goes(self, region, id);
        }
    }
}

pub(super) fn comes(world: &mut World, region: &str, id: &str) {
    if let Some(volume) = world.machines_mut(region).volumes.get_mut(id).filter(|volume| volume.state == "creating") {
        volume.state = "available".to_owned();
    }
}

pub(super) fn goes(world: &mut World, region: &str, id: &str) {
    world.machines_mut(region).volumes.remove(id);
    world.unregister(region, id);
}

pub(super) fn create(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let tags = specified(context, "volume")?;
    world.once(context, "ClientToken", "IdempotentParameterMismatch", |world| {
        let region = context.region.to_owned();
        let number = |name: &str| context.number(name).and_then(|n| u32::try_from(n).ok());
        let snapshot = context.text("SnapshotId");
        let least = match snapshot {
            Some(id) => Some(find(&world.machines(&region).snapshots, id)?.size),
            None => None,
        };
        let size = number("Size").or(least).ok_or_else(|| {
            Fault::new("MissingParameter", "The request must contain the parameter size or snapshotId")
        })?;
        if least.is_some_and(|least| size < least) {
            return Err(invalid("The size of a volume can't be smaller than that of its snapshot."));
        }
        let zones = world.zones(&region);
        let zone = zones.iter().find(|zone| {
            context.text("AvailabilityZoneId") == Some(zone.id.as_str())
                || context.text("AvailabilityZone") == Some(zone.name.as_str())
        });
        let wrong = context.text("AvailabilityZone").or(context.text("AvailabilityZoneId")).unwrap_or_default();
        let zone =
            zone.ok_or_else(|| Fault::new("InvalidZone.NotFound", format!("The zone '{wrong}' does not exist.")))?;
        let zone = zone.id.clone();
        let new = NewVolume {
            kind: context.text("VolumeType").unwrap_or("gp2").to_owned(),
            size,
            iops: number("Iops"),
            throughput: number("Throughput"),
            encrypted: context.flag("Encrypted").unwrap_or(false),
            kms_key: context.text("KmsKeyId").map(str::to_owned),
            snapshot: snapshot.map(str::to_owned),
        };
        let id = world.make_volume(&region, &zone, &new, tags)?;
        let view = find(&world.machines(&region).volumes, &id).map(|volume| view(world, &region, &id, volume))?;
        let view = tagged(world, &region, &id, view);
        world.later(limits::creation("volume"), time::Deed::Compute(Deed::VolumeComes { region, id }));
        Ok(view)
    })
}

pub(super) fn delete(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, region) = (context.required("VolumeId")?, context.region.to_owned());
    let volume = find_mut(&mut world.machines_mut(&region).volumes, id)?;
    if let Some(attachment) = &volume.attachment {
        let message = format!("Volume {id} is currently attached to {}", attachment.instance);
        return Err(Fault::new("VolumeInUse", message));
    }
    if volume.state != "deleting" {
        volume.state = "deleting".to_owned();
        let deed = Deed::VolumeGoes { region, id: id.to_owned() };
        world.later(limits::deletion("volume"), time::Deed::Compute(deed));
    }
    Ok(Output::default())
}

fn view(world: &World, region: &str, id: &str, volume: &Volume) -> Value {
    let attachments = volume.attachment.iter().map(|to| {
        json!({
            "VolumeId": id,
            "InstanceId": to.instance,
            "Device": to.device,
            "State": "attached",
            "DeleteOnTermination": to.delete_on_termination,
            "AttachTime": seconds(to.since),
        })
    });
    json!({
        "VolumeId": id,
        "VolumeType": volume.kind,
        "Size": volume.size,
        "Iops": volume.iops,
        "Throughput": volume.throughput,
        "Encrypted": volume.encrypted,
        "KmsKeyId": volume.kms_key,
        "SnapshotId": volume.snapshot.clone().unwrap_or_default(),
        "AvailabilityZone": world.zone_name(region, &volume.zone),
        "AvailabilityZoneId": volume.zone,
        "State": volume.state,
        "CreateTime": seconds(volume.created),
        "MultiAttachEnabled": false,
        "Attachments": attachments.collect::<Vec<_>>(),
        "Operator": operator(volume.operator.as_deref()),
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let mut all = world.machines(region).volumes.clone();
    if context.flag("IncludeManagedResources") != Some(true) && context.texts("VolumeIds").is_empty() {
        all.retain(|_, volume| volume.operator.is_none());
    }
    let listing = Listing {
        ids: "VolumeIds",
        prefix: "vol",
        member: "Volumes",
        values: &|id, volume: &Volume, name| {
            let to = volume.attachment.as_ref();
            let one = |value: Option<String>| value.into_iter().collect();
            Some(match name {
                "volume-id" => vec![id.to_owned()],
                "volume-type" => vec![volume.kind.clone()],
                "size" => vec![volume.size.to_string()],
                "status" => vec![volume.state.clone()],
                "encrypted" => vec![volume.encrypted.to_string()],
                "snapshot-id" => one(volume.snapshot.clone()),
                "availability-zone" => vec![world.zone_name(region, &volume.zone)],
                "availability-zone-id" => vec![volume.zone.clone()],
                "create-time" => vec![seconds(volume.created).to_string()],
                "attachment.instance-id" => one(to.map(|to| to.instance.clone())),
                "attachment.device" => one(to.map(|to| to.device.clone())),
                "attachment.status" => one(to.map(|_| "attached".to_owned())),
                "attachment.delete-on-termination" => one(to.map(|to| to.delete_on_termination.to_string())),
                "operator.managed" => vec![volume.operator.is_some().to_string()],
                _ => return None,
            })
        },
        view: &|id, volume| view(world, region, id, volume),
    };
    describe(world, context, &all, listing)
}
