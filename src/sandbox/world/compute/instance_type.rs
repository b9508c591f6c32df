//! Instance types and where they are offered. Must never say anything that the catalogue does not.

use crate::{
    catalog::{AcceleratorKind, Architecture, Catalog, InstanceType, Placement},
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, keep, page},
    },
};
use serde_json::{Value, json};

pub(super) fn architecture_name(architecture: Architecture) -> &'static str {
    match architecture {
        Architecture::X86_64 => "x86_64",
        Architecture::Arm64 => "arm64",
    }
}

fn strategy(placement: Placement) -> &'static str {
    match placement {
        Placement::Cluster => "cluster",
        Placement::Partition => "partition",
        Placement::Spread => "spread",
    }
}

fn view(known: &InstanceType) -> Value {
    let cards = known.network_cards.iter().enumerate().map(|(index, card)| {
        json!({
            "NetworkCardIndex": index,
            "NetworkPerformance": known.network,
            "MaximumNetworkInterfaces": card.max_interfaces,
            "BaselineBandwidthInGbps": card.baseline_gbps,
            "PeakBandwidthInGbps": card.peak_gbps,
        })
    });
    let mut usage = vec!["on-demand"];
    usage.extend(known.spot.then_some("spot"));
    usage.extend(known.capacity_block.then_some("capacity-block"));
    let metal = known.name.ends_with(".metal");
    let mut view = json!({
        "InstanceType": known.name,
        "CurrentGeneration": true,
        "FreeTierEligible": false,
        "SupportedUsageClasses": usage,
        "SupportedRootDeviceTypes": ["ebs"],
        "SupportedVirtualizationTypes": ["hvm"],
        "BareMetal": metal,
        "Hypervisor": if metal { Value::Null } else { json!("nitro") },
        "ProcessorInfo": {
            "SupportedArchitectures": known.architectures.iter().map(|one| architecture_name(*one)).collect::<Vec<_>>(),
        },
        "VCpuInfo": { "DefaultVCpus": known.vcpus },
        "MemoryInfo": { "SizeInMiB": known.memory_mib },
        "InstanceStorageSupported": known.instance_store_gb > 0,
        "EbsInfo": { "EbsOptimizedSupport": "default", "EncryptionSupport": "supported", "NvmeSupport": "required" },
        "NetworkInfo": {
            "NetworkPerformance": known.network,
            "MaximumNetworkInterfaces": known.max_network_interfaces,
            "MaximumNetworkCards": known.network_cards.len(),
            "DefaultNetworkCardIndex": 0,
            "NetworkCards": cards.collect::<Vec<_>>(),
            "Ipv4AddressesPerInterface": known.ipv4_per_interface,
            "Ipv6AddressesPerInterface": known.ipv4_per_interface,
            "Ipv6Supported": true,
            "EnaSupport": "required",
            "EfaSupported": known.efa_max > 0,
            "EfaInfo": (known.efa_max > 0).then(|| json!({ "MaximumEfaInterfaces": known.efa_max })),
        },
        "PlacementGroupInfo": {
            "SupportedStrategies": known.placement_strategies.iter().map(|one| strategy(*one)).collect::<Vec<_>>(),
        },
        "HibernationSupported": false,
        "BurstablePerformanceSupported": known.name.starts_with('t'),
        "DedicatedHostsSupported": false,
        "AutoRecoverySupported": known.instance_store_gb == 0,
    });
    if known.instance_store_gb > 0 {
        view["InstanceStorageInfo"] = json!({ "TotalSizeInGB": known.instance_store_gb, "NvmeSupport": "required" });
    }
    if let Some(devices) = &known.accelerator {
        let (maker, name) = devices.name.split_once(' ').unwrap_or(("", &devices.name));
        let each = json!({ "SizeInMiB": devices.memory_mib_each });
        let total = devices.memory_mib_each * u64::from(devices.logical_count);
        match devices.kind {
            AcceleratorKind::Neuron => {
                view["NeuronInfo"] = json!({
                    "NeuronDevices": [{ "Count": devices.count, "Name": name, "MemoryInfo": each }],
                    "TotalNeuronDeviceMemoryInMiB": total,
                });
            }
            AcceleratorKind::Nvidia | AcceleratorKind::Amd | AcceleratorKind::Other => {
                view["GpuInfo"] = json!({
                    "Gpus": [{
                        "Name": name,
                        "Manufacturer": maker,
                        "Count": devices.count,
                        "LogicalGpuCount": f64::from(devices.logical_count),
                        "GpuPartitionSize": devices.partition,
                        "MemoryInfo": each,
                    }],
                    "TotalGpuMemoryInMiB": total,
                });
            }
        }
    }
    view
}

fn values(known: &InstanceType, name: &str) -> Option<Vec<String>> {
    Some(match name {
        "instance-type" => vec![known.name.clone()],
        "bare-metal" => vec![known.name.ends_with(".metal").to_string()],
        "current-generation" => vec!["true".to_owned()],
        "free-tier-eligible" | "dedicated-hosts-supported" | "hibernation-supported" => vec!["false".to_owned()],
        "burstable-performance-supported" => vec![known.name.starts_with('t').to_string()],
        "hypervisor" => vec!["nitro".to_owned()],
        "instance-storage-supported" => vec![(known.instance_store_gb > 0).to_string()],
        "memory-info.size-in-mib" => vec![known.memory_mib.to_string()],
        "vcpu-info.default-vcpus" => vec![known.vcpus.to_string()],
        "network-info.efa-supported" => vec![(known.efa_max > 0).to_string()],
        "network-info.efa-info.maximum-efa-interfaces" => vec![known.efa_max.to_string()],
        "network-info.maximum-network-interfaces" => vec![known.max_network_interfaces.to_string()],
        "network-info.maximum-network-cards" => vec![known.network_cards.len().to_string()],
        "network-info.ipv4-addresses-per-interface" => vec![known.ipv4_per_interface.to_string()],
        "network-info.network-performance" => vec![known.network.clone()],
        "processor-info.supported-architecture" => {
            known.architectures.iter().map(|one| architecture_name(*one).to_owned()).collect()
        }
        "placement-group-info.supported-strategies" | "supported-strategies" => {
            known.placement_strategies.iter().map(|one| strategy(*one).to_owned()).collect()
        }
        "supported-root-device-type" => vec!["ebs".to_owned()],
        "supported-virtualization-type" => vec!["hvm".to_owned()],
        "supported-usage-class" => {
            let spot = known.spot.then(|| "spot".to_owned());
            let block = known.capacity_block.then(|| "capacity-block".to_owned());
            ["on-demand".to_owned()].into_iter().chain(spot).chain(block).collect()
        }
        _ => return None,
    })
}

impl World {
    /// Zone ids of a region that offer a type; every zone where no list names any.
    pub(super) fn zones_offering(&self, region: &str, instance_type: &str) -> Vec<String> {
        let known = Catalog::compiled().offered_zones(instance_type, region).value;
        known.unwrap_or_else(|| self.zones(region).into_iter().map(|zone| zone.id).collect())
    }
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (catalog, wanted) = (Catalog::compiled(), context.texts("InstanceTypes"));
    let offered = |name: &str| !world.zones_offering(context.region, name).is_empty();
    let unknown: Vec<_> =
        wanted.iter().filter(|name| catalog.instance_type(name).is_none() || !offered(name)).cloned().collect();
    if !unknown.is_empty() {
        let message = format!("The following supplied instance types do not exist: [{}]", unknown.join(", "));
        return Err(Fault::new("InvalidInstanceType", message));
    }
    let mut found = vec![];
    for known in catalog.instance_types().filter(|known| wanted.is_empty() || wanted.contains(&known.name)) {
        if offered(&known.name) && keep(context, &Default::default(), &|name| values(known, name))? {
            found.push(view(known));
        }
    }
    // EC2 gives at most 100 a page, asked or not.
    let most = context.number("MaxResults").unwrap_or(100);
    let (types, next) = page(found, context.text("NextToken"), Some(most), "InvalidNextToken")?;
    Ok(json!({ "InstanceTypes": types, "NextToken": next }).into())
}

pub(super) fn offerings(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let kind = context.text("LocationType").unwrap_or("region");
    let region = context.region;
    let mut found = vec![];
    for known in Catalog::compiled().instance_types() {
        let zones = world.zones_offering(region, &known.name);
        let locations = match kind {
            "availability-zone-id" => zones,
            "availability-zone" => zones.iter().map(|zone| world.zone_name(region, zone)).collect(),
            "region" if !zones.is_empty() => vec![region.to_owned()],
            _ => vec![],
        };
        for location in locations {
            let values = |name: &str| match name {
                "instance-type" => Some(vec![known.name.clone()]),
                "location" => Some(vec![location.clone()]),
                _ => None,
            };
            if keep(context, &Default::default(), &values)? {
                found.push(json!({ "InstanceType": known.name, "LocationType": kind, "Location": location }));
            }
        }
    }
    let (rows, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "InstanceTypeOfferings": rows, "NextToken": next }).into())
}
