//! The images that EKS publishes for its nodes. Must never hold one that the scenario's releases do not name.

use super::text;
use crate::{
    catalog::AmiOs,
    model::hash,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, ec2, keep, page},
    },
};
use serde_json::{Value, json};

/// Account that owns EKS's images.
const OWNER: &str = "602401143452";

/// Member of template data by which EKS's own templates say which release their image is of. EC2 has no such member, and no
/// description shows it.
pub const NOTE: &str = "EksImage";

/// AMI types of managed node groups that images are published for: the type, its system, architecture, and variant.
const TYPES: &[(&str, AmiOs, &str, &str)] = &[
    ("AL2023_x86_64_STANDARD", AmiOs::Al2023, "x86_64", "standard"),
    ("AL2023_ARM_64_STANDARD", AmiOs::Al2023, "arm64", "standard"),
    ("AL2023_x86_64_NVIDIA", AmiOs::Al2023, "x86_64", "nvidia"),
    ("AL2023_ARM_64_NVIDIA", AmiOs::Al2023, "arm64", "nvidia"),
    ("AL2023_x86_64_NEURON", AmiOs::Al2023, "x86_64", "neuron"),
    ("BOTTLEROCKET_x86_64", AmiOs::Bottlerocket, "x86_64", ""),
    ("BOTTLEROCKET_ARM_64", AmiOs::Bottlerocket, "arm64", ""),
    ("BOTTLEROCKET_x86_64_NVIDIA", AmiOs::Bottlerocket, "x86_64", "-nvidia"),
    ("BOTTLEROCKET_ARM_64_NVIDIA", AmiOs::Bottlerocket, "arm64", "-nvidia"),
];

#[derive(Clone, Debug, PartialEq)]
pub struct Image {
    pub id: String,
    pub name: String,
    pub architecture: String,
    pub ami_type: &'static str,
    pub kubernetes: String,
    /// As managed node groups name it.
    pub release: String,
    /// Device and GiB of each disk.
    pub disks: Vec<(&'static str, u32)>,
}

impl World {
    /// Newest release of an AMI type for a Kubernetes version.
    pub fn newest_release(&self, ami_type: &str, kubernetes: &str) -> Option<String> {
        let (_, os, ..) = TYPES.iter().find(|(name, ..)| *name == ami_type)?;
        let al2023 = self.scenario.ami_releases.get(kubernetes)?;
        Some(match os {
            AmiOs::Al2023 => al2023.clone(),
            // Bottlerocket counts by itself; the same scenario gives the same release.
            AmiOs::Bottlerocket => format!("1.50.0-{}", hash(al2023, 8)),
        })
    }

    /// The image of a release, the newest one where none is named; `None` for an AMI type or version that EKS has not.
    pub fn eks_image(&self, region: &str, ami_type: &str, kubernetes: &str, release: Option<&str>) -> Option<Image> {
        let (ami_type, os, architecture, variant) = TYPES.iter().find(|(name, ..)| *name == ami_type)?;
        let newest = self.newest_release(ami_type, kubernetes)?;
        let release = release.unwrap_or(&newest).to_owned();
        let (_, build) = release.split_once('-')?;
        let (name, disks) = match os {
            AmiOs::Al2023 => {
                let name = format!("amazon-eks-node-al2023-{architecture}-{variant}-{kubernetes}-v{build}");
                (name, vec![("/dev/xvda", 20)])
            }
            AmiOs::Bottlerocket => {
                let name = format!("bottlerocket-aws-k8s-{kubernetes}{variant}-{architecture}-v{release}");
                (name, vec![("/dev/xvda", 4), ("/dev/xvdb", 20)])
            }
        };
        Some(Image {
            id: format!("ami-0{}", hash(&format!("{region} {name}"), 16)),
            name,
            architecture: (*architecture).to_owned(),
            ami_type,
            kubernetes: kubernetes.to_owned(),
            release,
            disks,
        })
    }

    /// Every published image of a region.
    pub fn images(&self, region: &str) -> Vec<Image> {
        let versions = self.scenario.ami_releases.keys();
        versions
            .flat_map(|version| TYPES.iter().filter_map(|(name, ..)| self.eks_image(region, name, version, None)))
            .collect()
    }

    /// The image of an id. Releases before the newest can still be launched: EKS's own templates say which they are.
    pub(super) fn image(&self, region: &str, id: &str) -> Result<Image, Fault> {
        if let Some(found) = self.images(region).into_iter().find(|image| image.id == id) {
            return Ok(found);
        }
        let named = self.machines(region).templates.values().flat_map(|template| template.versions.values());
        let older = named.filter(|version| text(&version.data, &["ImageId"]) == Some(id)).find_map(|version| {
            let of = |name: &str| text(&version.data, &[NOTE, name]);
            self.eks_image(region, of("AmiType")?, of("Version")?, of("Release"))
        });
        older.ok_or_else(|| ec2::missing(id))
    }
}

fn view(image: &Image) -> Value {
    let disks = image.disks.iter().map(|(device, size)| {
        json!({ "DeviceName": device, "Ebs": { "VolumeSize": size, "VolumeType": "gp3", "DeleteOnTermination": true,
            "Encrypted": false, "SnapshotId": format!("snap-0{}", hash(&format!("{} {device}", image.id), 16)) } })
    });
    json!({
        "ImageId": image.id,
        "Name": image.name,
        "ImageLocation": format!("amazon/{}", image.name),
        "ImageOwnerAlias": "amazon",
        "OwnerId": OWNER,
        "Architecture": image.architecture,
        "Description": format!("EKS node image, Kubernetes {}, release {}", image.kubernetes, image.release),
        "State": "available",
        "Public": true,
        "ImageType": "machine",
        "CreationDate": "2026-11-20T00:00:00.000Z",
        "EnaSupport": true,
        "Hypervisor": "xen",
        "VirtualizationType": "hvm",
        "PlatformDetails": "Linux/UNIX",
        "UsageOperation": "RunInstances",
        "RootDeviceName": "/dev/xvda",
        "RootDeviceType": "ebs",
        "ImdsSupport": "v2.0",
        "BlockDeviceMappings": disks.collect::<Vec<_>>(),
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let all = world.images(context.region);
    let (ids, owners) = (context.texts("ImageIds"), context.texts("Owners"));
    if let Some(id) = ids.iter().find(|id| all.iter().all(|image| image.id != **id)) {
        return Err(ec2::missing(id));
    }
    let ours = owners.is_empty() || owners.iter().any(|owner| owner == "amazon" || owner == OWNER);
    let mut found = vec![];
    for image in all.iter().filter(|image| ours && (ids.is_empty() || ids.contains(&image.id))) {
        let values = |name: &str| {
            Some(vec![match name {
                "image-id" => image.id.clone(),
                "name" => image.name.clone(),
                "architecture" => image.architecture.clone(),
                "state" => "available".to_owned(),
                "owner-id" => OWNER.to_owned(),
                "owner-alias" => "amazon".to_owned(),
                "is-public" => "true".to_owned(),
                "image-type" => "machine".to_owned(),
                "root-device-type" => "ebs".to_owned(),
                "virtualization-type" => "hvm".to_owned(),
                _ => return None,
            }])
        };
        if keep(context, &Default::default(), &values)? {
            found.push(view(image));
        }
    }
    let (images, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "Images": images, "NextToken": next }).into())
}
