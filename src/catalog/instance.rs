//! What an instance type is, in the words of EC2 DescribeInstanceTypes. Must never say what a stack wants of it.

use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// One EC2 instance type. Its price is in [`crate::catalog::Catalog::instance_price`], its interfaces in
/// [`crate::catalog::Catalog::efa_layout`].
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct InstanceType {
    /// `p5.48xlarge`
    pub name: String,
    pub vcpus: u32,
    pub memory_mib: u64,
    pub architectures: Vec<Architecture>,
    pub accelerator: Option<Accelerator>,
    /// `EfaInfo.MaximumEfaInterfaces`; 0 without EFA. Not the number of cards: p6-b300 has 17 cards and 16 of these.
    pub efa_max: u32,
    /// Ordered by index, which is the position; card 0 is the default one.
    #[serde(deserialize_with = "cards")]
    pub network_cards: Vec<NetworkCard>,
    pub max_network_interfaces: u32,
    pub ipv4_per_interface: u32,
    /// `NetworkPerformance` as AWS words it, EFA included: `3200 Gigabit`.
    pub network: String,
    /// Not in DescribeInstanceTypes: a table of ours.
    pub intra_node_link: IntraNodeLink,
    /// GB of local disks; 0 without.
    pub instance_store_gb: u32,
    pub placement_strategies: Vec<Placement>,
    pub spot: bool,
    /// Capacity blocks are sold for it.
    pub capacity_block: bool,
    /// Quota code of its on-demand vCPUs.
    pub on_demand_quota: Option<String>,
    /// Quota code of its Spot vCPUs; `None` where no published quota names the family (p6).
    pub spot_quota: Option<String>,
    /// EKS AMI types (`AL2023_x86_64_NVIDIA`); empty where EKS has none of its own.
    pub ami_types: Vec<String>,
    /// Regions that offer it; `None`: not known.
    pub regions: Option<Vec<String>>,
    /// Zone ids that offer it, for the regions of the compiled data.
    pub zones: BTreeMap<String, Vec<String>>,
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Architecture {
    #[serde(rename = "x86_64")]
    X86_64,
    #[serde(rename = "arm64")]
    Arm64,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Accelerator {
    /// `NVIDIA H100`
    pub name: String,
    pub kind: AcceleratorKind,
    /// Whole devices; 0 for a type that holds a part of one (g6f, gr6f).
    pub count: u32,
    /// Devices that a node offers to pods.
    pub logical_count: u32,
    /// Part of a device that a logical one is, 0.125–1.
    pub partition: f64,
    /// Of a logical device, binary: 81920 for the 80 GB of an H100.
    pub memory_mib_each: u64,
}

impl Accelerator {
    /// Bytes of one device.
    pub fn bytes_each(&self) -> u64 {
        self.memory_mib_each * 1024 * 1024
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AcceleratorKind {
    Nvidia,
    /// Trainium and Inferentia.
    Neuron,
    Amd,
    /// Gaudi, Qualcomm: no EKS AMI, no image of ours.
    Other,
}

impl AcceleratorKind {
    /// Name under which a node offers the devices, and the key of the default taint.
    pub fn resource(self) -> Option<&'static str> {
        match self {
            AcceleratorKind::Nvidia => Some("nvidia.com/gpu"),
            AcceleratorKind::Neuron => Some("aws.amazon.com/neuron"),
            AcceleratorKind::Amd => Some("amd.com/gpu"),
            AcceleratorKind::Other => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NetworkCard {
    pub max_interfaces: u32,
    /// Gbit/s that last; `None` where the dump gives every card the bandwidth of the whole node, or only a peak is known.
    pub baseline_gbps: Option<f64>,
    pub peak_gbps: Option<f64>,
}

/// How the accelerators of one node reach each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum IntraNodeLink {
    NvSwitch,
    NvLinkMesh,
    NeuronLink,
    RoceOnboard,
    Pcie,
    /// One device, or none.
    Single,
    Unknown,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Placement {
    Cluster,
    Partition,
    Spread,
}

/// Operating system of an EKS AMI.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum AmiOs {
    Al2023,
    Bottlerocket,
}

impl InstanceType {
    /// `p5`, `p6-b200`: what stands before the dot.
    pub fn family(&self) -> &str {
        family(&self.name)
    }

    /// Devices that a node offers to pods; 0 without accelerators.
    pub fn devices(&self) -> u32 {
        self.accelerator.as_ref().map_or(0, |a| a.logical_count)
    }

    /// Bytes of all devices of a node.
    pub fn accelerator_bytes(&self) -> u64 {
        self.accelerator.as_ref().map_or(0, |a| a.bytes_each() * u64::from(a.logical_count))
    }

    /// Gbit/s of IP traffic through the first card, at best and so as a bound: EFA carries none of it, whatever
    /// [`InstanceType::network`] says. `None`: not known.
    pub fn ip_gbps(&self) -> Option<f64> {
        self.network_cards.first().and_then(|card| card.peak_gbps)
    }

    /// EKS AMI type for an operating system; `None` where EKS has none (Neuron on Bottlerocket, Gaudi).
    pub fn ami_type(&self, os: AmiOs) -> Option<&str> {
        let prefix = match os {
            AmiOs::Al2023 => "AL2023_",
            AmiOs::Bottlerocket => "BOTTLEROCKET_",
        };
        self.ami_types.iter().map(String::as_str).find(|name| name.starts_with(prefix))
    }

    pub fn allows(&self, placement: Placement) -> bool {
        self.placement_strategies.contains(&placement)
    }
}

/// What stands before the dot of a type's name; the whole of a name without one.
pub fn family(instance_type: &str) -> &str {
    instance_type.split_once('.').map_or(instance_type, |(family, _)| family)
}

/// Runs of equal cards: how many, interfaces each, baseline, peak.
fn cards<'de, D: Deserializer<'de>>(d: D) -> Result<Vec<NetworkCard>, D::Error> {
    let runs = Vec::<(usize, u32, Option<f64>, Option<f64>)>::deserialize(d)?;
    Ok(runs
        .into_iter()
        .flat_map(|(n, max_interfaces, baseline_gbps, peak_gbps)| {
            std::iter::repeat_n(NetworkCard { max_interfaces, baseline_gbps, peak_gbps }, n)
        })
        .collect())
}
