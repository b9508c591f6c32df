//! Disks of a launch: those of its image, and what the request changes or adds. Must never give a disk that EBS refuses.

use super::{image::Image, items, number, text};
use crate::sandbox::{wire::Fault, world::ec2::invalid};
use serde_json::Value;

/// One volume to make, with or without an instance.
#[derive(Clone, Debug, PartialEq)]
pub struct NewVolume {
    pub kind: String,
    /// GiB.
    pub size: u32,
    pub iops: Option<u32>,
    /// MiB/s.
    pub throughput: Option<u32>,
    pub encrypted: bool,
    pub kms_key: Option<String>,
    pub snapshot: Option<String>,
}

/// One disk of a launch.
#[derive(Clone, Debug, PartialEq)]
pub struct NewDisk {
    pub device: String,
    pub volume: NewVolume,
    pub delete_on_termination: bool,
}

pub(super) fn read(data: &Value, image: &Image) -> Result<Vec<NewDisk>, Fault> {
    let mut disks: Vec<NewDisk> = image.disks.iter().map(|(device, size)| of_image(device, *size)).collect();
    for mapping in items(data, "BlockDeviceMappings") {
        let device = text(mapping, &["DeviceName"])
            .ok_or_else(|| Fault::new("MissingParameter", "The request must contain the parameter deviceName"))?;
        let at = disks.iter().position(|disk| disk.device == device);
        if mapping.get("NoDevice").is_some() {
            disks.retain(|disk| disk.device != device);
            continue;
        }
        // Local disks need no volume.
        let Some(ebs) = mapping.get("Ebs").filter(|ebs| ebs.is_object()) else { continue };
        let disk = read_one(device, ebs, at.map(|at| &disks[at]))?;
        match at {
            Some(at) => disks[at] = disk,
            None => disks.push(disk),
        }
    }
    disks.iter().try_for_each(|disk| judge(&disk.volume))?;
    Ok(disks)
}

fn of_image(device: &str, size: u32) -> NewDisk {
    let volume = NewVolume {
        kind: "gp3".to_owned(),
        size,
        iops: None,
        throughput: None,
        encrypted: false,
        kms_key: None,
        snapshot: None,
    };
    NewDisk { device: device.to_owned(), volume, delete_on_termination: true }
}

fn read_one(device: &str, ebs: &Value, before: Option<&NewDisk>) -> Result<NewDisk, Fault> {
    let flag = |name: &str| ebs.get(name).and_then(Value::as_bool);
    let kind = text(ebs, &["VolumeType"]).map(str::to_owned);
    let size = number(ebs, "VolumeSize")
        .or(before.map(|disk| disk.volume.size))
        .ok_or_else(|| Fault::new("MissingParameter", "The request must contain the parameter size or snapshotId"))?;
    if let Some(before) = before.filter(|before| size < before.volume.size) {
        let least = before.volume.size;
        let message = format!("Volume of size {size}GB is smaller than snapshot, expect size>= {least}GB");
        return Err(Fault::new("InvalidBlockDeviceMapping", message));
    }
    let kms_key = text(ebs, &["KmsKeyId"]).map(str::to_owned);
    let encrypted = flag("Encrypted").unwrap_or(false);
    if kms_key.is_some() && !encrypted {
        let message = "The parameter KmsKeyId requires the parameter Encrypted to be set.";
        return Err(Fault::new("InvalidParameterDependency", message));
    }
    Ok(NewDisk {
        device: device.to_owned(),
        volume: NewVolume {
            kind: kind.unwrap_or_else(|| before.map_or_else(|| "gp2".to_owned(), |disk| disk.volume.kind.clone())),
            size,
            iops: number(ebs, "Iops"),
            throughput: number(ebs, "Throughput"),
            encrypted,
            kms_key,
            snapshot: text(ebs, &["SnapshotId"]).map(str::to_owned),
        },
        delete_on_termination: flag("DeleteOnTermination").unwrap_or(true),
    })
}

/// What a type of volume takes (EBS user guide, volume types): GiB, IOPS, and IOPS for each GiB.
struct Bounds {
    size: (u32, u32),
    iops: Option<(u32, u32)>,
    ratio: u32,
}

fn bounds(kind: &str) -> Option<Bounds> {
    let of = |size, iops, ratio| Some(Bounds { size, iops, ratio });
    match kind {
        "gp3" => of((1, 65_536), Some((3_000, 80_000)), 500),
        "gp2" => of((1, 16_384), None, 0),
        "io1" => of((4, 16_384), Some((100, 64_000)), 50),
        "io2" => of((4, 65_536), Some((100, 256_000)), 1_000),
        "st1" | "sc1" => of((125, 16_384), None, 0),
        "standard" => of((1, 1_024), None, 0),
        _ => None,
    }
}

/// What EBS refuses.
pub(super) fn judge(volume: &NewVolume) -> Result<(), Fault> {
    let kind = &volume.kind;
    let Some(bounds) = bounds(kind) else {
        return Err(Fault::new("UnknownVolumeType", format!("Unknown volume type '{kind}'")));
    };
    let (least, most) = bounds.size;
    if !(least..=most).contains(&volume.size) {
        let message = format!("Volume size of {} GiB is invalid for {kind}: expected {least} to {most}.", volume.size);
        return Err(invalid(message));
    }
    let combination = |message: String| Err(Fault::new("InvalidParameterCombination", message));
    match (bounds.iops, volume.iops) {
        (Some((least, most)), Some(iops)) if !(least..=most).contains(&iops) => {
            return Err(invalid(format!(
                "Volume iops of {iops} is not supported: expected {least} to {most} for {kind}."
            )));
        }
        (Some(_), Some(iops)) if iops > 3_000.max(bounds.ratio.saturating_mul(volume.size)) => {
            let ratio = f64::from(iops) / f64::from(volume.size);
            let message = format!("Iops to volume size ratio of {ratio:.6} is too high; maximum is {}.", bounds.ratio);
            return Err(invalid(message));
        }
        (None, Some(_)) => return combination(format!("The parameter iops is not supported for {kind} volumes.")),
        (Some(_), None) if kind != "gp3" => {
            return Err(Fault::new(
                "MissingParameter",
                format!("The parameter iops must be specified for {kind} volumes."),
            ));
        }
        _ => {}
    }
    match volume.throughput {
        Some(_) if kind != "gp3" => {
            combination(format!("The parameter throughput is not supported for {kind} volumes."))
        }
        Some(mib) if !(125..=2_000).contains(&mib) => {
            Err(invalid(format!("Throughput of {mib} MiBps is invalid: expected 125 to 2000.")))
        }
        Some(mib) if f64::from(mib) > f64::from(volume.iops.unwrap_or(3_000)) * 0.25 => {
            let ratio = f64::from(mib) / f64::from(volume.iops.unwrap_or(3_000));
            let message = format!(
                "Throughput (MiBps) to iops ratio of {ratio:.6} is too high; maximum is 0.250000 MiBps per iops."
            );
            Err(invalid(message))
        }
        _ => Ok(()),
    }
}
