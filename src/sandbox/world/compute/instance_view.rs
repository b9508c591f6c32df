//! Instances as EC2 describes and filters them. Must never change one.

use super::{Instance, Market, seconds};
use crate::{
    catalog::Catalog,
    sandbox::{
        wire::Fault,
        world::{
            Context, Output, World,
            ec2::{find, malformed, missing},
            keep, page, tags,
        },
    },
};
use serde_json::{Map, Value, json};

use super::instance_type::architecture_name;

fn architecture(instance: &Instance) -> Option<&'static str> {
    let known = Catalog::compiled().instance_type(&instance.instance_type)?;
    known.architectures.first().map(|architecture| architecture_name(*architecture))
}

fn lifecycle(instance: &Instance) -> Option<&'static str> {
    match instance.market {
        Market::OnDemand => None,
        Market::Spot => Some("spot"),
        Market::CapacityBlock => Some("capacity-block"),
    }
}

pub(super) fn view(world: &World, region: &str, id: &str) -> Option<Value> {
    let instance = world.instance(region, id)?;
    let seats = world.interfaces_of(region, id);
    let interfaces: Vec<Value> = seats.iter().filter_map(|eni| world.interface_view(region, eni)).map(seated).collect();
    let primary = interfaces.first().cloned().unwrap_or(Value::Null);
    let machines = world.machines(region);
    let disks: Vec<Value> = instance.disks.iter().map(|disk| disk_view(world, region, id, disk)).collect();
    let group = instance.group.as_deref();
    // What is gone from the network is not shown there.
    let there = |text: &str| (!interfaces.is_empty()).then(|| text.to_owned());
    let mut metadata = Map::from_iter([
        ("State".to_owned(), json!("applied")),
        ("HttpTokens".to_owned(), json!("optional")),
        ("HttpPutResponseHopLimit".to_owned(), json!(1)),
        ("HttpEndpoint".to_owned(), json!("enabled")),
        ("HttpProtocolIpv6".to_owned(), json!("disabled")),
        ("InstanceMetadataTags".to_owned(), json!("disabled")),
    ]);
    metadata.extend(instance.metadata.as_object().cloned().unwrap_or_default());
    let profile = instance.profile.as_ref().map(|profile| json!({ "Arn": profile, "Id": "AIPASANDBOX" }));
    Some(json!({
        "InstanceId": id,
        "InstanceType": instance.instance_type,
        "ImageId": instance.image,
        "State": { "Code": instance.code(), "Name": instance.state },
        "StateReason": instance.reason.as_ref().map(|(code, message)| json!({ "Code": code, "Message": message })),
        "StateTransitionReason": instance.reason.as_ref().map(|_| "User initiated"),
        "LaunchTime": seconds(instance.launched),
        "AmiLaunchIndex": instance.launch_index,
        "Architecture": architecture(instance),
        "Placement": {
            "AvailabilityZone": instance.zone_name,
            "AvailabilityZoneId": instance.zone,
            "GroupName": group.and_then(|id| machines.group_name(id)).unwrap_or_default(),
            "GroupId": group,
            "PartitionNumber": instance.partition,
            "Tenancy": "default",
        },
        "InstanceLifecycle": lifecycle(instance),
        "CapacityReservationId": instance.reservation,
        "CapacityReservationSpecification": { "CapacityReservationPreference": "open" },
        "VpcId": there(&instance.vpc),
        "SubnetId": there(&instance.subnet),
        "PrivateIpAddress": primary["PrivateIpAddress"],
        "PrivateDnsName": primary["PrivateDnsName"].as_str().unwrap_or_default(),
        "PublicIpAddress": primary["Association"]["PublicIp"],
        "PublicDnsName": primary["Association"]["PublicDnsName"].as_str().unwrap_or_default(),
        "SecurityGroups": primary["Groups"],
        "SourceDestCheck": primary["SourceDestCheck"],
        "NetworkInterfaces": interfaces,
        "BlockDeviceMappings": disks,
        "RootDeviceName": "/dev/xvda",
        "RootDeviceType": "ebs",
        "EbsOptimized": true,
        "EnaSupport": true,
        "Hypervisor": "xen",
        "VirtualizationType": "hvm",
        "PlatformDetails": "Linux/UNIX",
        "UsageOperation": "RunInstances",
        "Monitoring": { "State": "disabled" },
        "MetadataOptions": metadata,
        "IamInstanceProfile": profile,
        "KeyName": instance.key,
        "ClientToken": instance.client_token.clone().unwrap_or_default(),
        "Operator": operator(instance.operator.as_deref()),
        "Tags": tags::listed(world.tags_of(region, id)),
    }))
}

/// An interface as its instance shows it: without what only the interface's own description says.
fn seated(mut view: Value) -> Value {
    let keep = |value: &mut Value, names: &[&str]| {
        if let Some(members) = value.as_object_mut() {
            members.retain(|name, _| names.contains(&name.as_str()));
        }
    };
    const OF_ASSOCIATION: &[&str] = &["IpOwnerId", "PublicDnsName", "PublicIp"];
    keep(
        &mut view,
        &[
            "Association",
            "Attachment",
            "Description",
            "Groups",
            "InterfaceType",
            "Ipv6Addresses",
            "MacAddress",
            "NetworkInterfaceId",
            "OwnerId",
            "PrivateDnsName",
            "PrivateIpAddress",
            "PrivateIpAddresses",
            "SourceDestCheck",
            "Status",
            "SubnetId",
            "VpcId",
        ],
    );
    keep(&mut view["Association"], OF_ASSOCIATION);
    let of_attachment =
        ["AttachTime", "AttachmentId", "DeleteOnTermination", "DeviceIndex", "NetworkCardIndex", "Status"];
    keep(&mut view["Attachment"], &of_attachment);
    for address in view["PrivateIpAddresses"].as_array_mut().into_iter().flatten() {
        keep(&mut address["Association"], OF_ASSOCIATION);
    }
    view
}

/// What EC2 says of things that a service manages for the account.
pub(super) fn operator(principal: Option<&str>) -> Value {
    json!({ "Managed": principal.is_some(), "Principal": principal, "HiddenByDefault": principal.is_some() })
}

fn disk_view(world: &World, region: &str, id: &str, disk: &super::instance::Attached) -> Value {
    let volume = world.machines(region).volumes.get(&disk.volume);
    let attachment = volume.and_then(|volume| volume.attachment.as_ref()).filter(|to| to.instance == id);
    json!({
        "DeviceName": disk.device,
        "Ebs": {
            "VolumeId": disk.volume,
            "DeleteOnTermination": attachment.map(|to| to.delete_on_termination),
            "Status": "attached",
            "AttachTime": attachment.map(|to| seconds(to.since)),
        },
    })
}

fn values(world: &World, region: &str, id: &str, instance: &Instance, name: &str) -> Option<Vec<String>> {
    let one = |value: Option<&str>| value.map(str::to_owned).into_iter().collect();
    let interfaces = || world.interfaces_of(region, id);
    let of_interfaces = |read: &dyn Fn(&Value) -> Vec<String>| {
        interfaces().iter().filter_map(|eni| world.interface_view(region, eni)).flat_map(|view| read(&view)).collect()
    };
    let member = |name: &'static str| move |view: &Value| view[name].as_str().map(str::to_owned).into_iter().collect();
    let group_ids = |view: &Value| {
        let groups = view["Groups"].as_array().map_or(&[][..], Vec::as_slice);
        groups.iter().filter_map(|group| group["GroupId"].as_str().map(str::to_owned)).collect::<Vec<_>>()
    };
    let group_name = || instance.group.as_deref().and_then(|group| world.machines(region).group_name(group));
    Some(match name {
        "instance-id" => vec![id.to_owned()],
        "instance-type" => vec![instance.instance_type.clone()],
        "instance-state-name" => vec![instance.state.clone()],
        "instance-state-code" => vec![instance.code().to_string()],
        "instance-lifecycle" => one(lifecycle(instance)),
        "image-id" => vec![instance.image.clone()],
        "vpc-id" => vec![instance.vpc.clone()],
        "subnet-id" => vec![instance.subnet.clone()],
        "availability-zone" => vec![instance.zone_name.clone()],
        "availability-zone-id" => vec![instance.zone.clone()],
        "placement-group-name" => one(group_name()),
        "placement-partition-number" => instance.partition.iter().map(u32::to_string).collect(),
        "capacity-reservation-id" => one(instance.reservation.as_deref()),
        "reservation-id" => vec![instance.batch.clone()],
        "client-token" => one(instance.client_token.as_deref()),
        "key-name" => one(instance.key.as_deref()),
        "iam-instance-profile.arn" => one(instance.profile.as_deref()),
        "owner-id" => vec![world.account.clone()],
        "architecture" => one(architecture(instance)),
        "launch-index" => vec![instance.launch_index.to_string()],
        "tenancy" => vec!["default".to_owned()],
        "metadata-options.http-tokens" => one(instance.metadata["HttpTokens"].as_str().or(Some("optional"))),
        "operator.managed" => vec![instance.operator.is_some().to_string()],
        "operator.principal" => one(instance.operator.as_deref()),
        "block-device-mapping.volume-id" => instance.disks.iter().map(|disk| disk.volume.clone()).collect(),
        "block-device-mapping.device-name" => instance.disks.iter().map(|disk| disk.device.clone()).collect(),
        "network-interface.network-interface-id" => interfaces(),
        "network-interface.subnet-id" => of_interfaces(&member("SubnetId")),
        "network-interface.vpc-id" => of_interfaces(&member("VpcId")),
        "private-ip-address" => of_interfaces(&member("PrivateIpAddress")),
        "private-dns-name" => of_interfaces(&member("PrivateDnsName")),
        "network-interface.group-id" => of_interfaces(&group_ids),
        "instance.group-id" | "group-id" => of_interfaces(&group_ids).into_iter().take(5).collect(),
        _ => return None,
    })
}

/// Ids of the instances that a call asks for, in the order of launch.
fn chosen(world: &World, context: &Context, states: &[&str]) -> Result<Vec<String>, Fault> {
    let (all, wanted) = (&world.machines(context.region).instances, context.texts("InstanceIds"));
    let shows = |id: &str| world.registered(context.region, id).is_some_and(|tagged| world.shows(tagged.since));
    for id in &wanted {
        if !id.starts_with("i-") {
            return Err(malformed(id, "i"));
        }
        if !all.contains_key(id) || !shows(id) {
            return Err(missing(id));
        }
    }
    if !wanted.is_empty() && context.number("MaxResults").is_some() {
        let message = "The parameter instancesSet cannot be used with the parameter maxResults";
        return Err(Fault::new("InvalidParameterCombination", message));
    }
    let hidden = context.flag("IncludeManagedResources") != Some(true);
    let mut found = vec![];
    for (id, instance) in all {
        let listed =
            if wanted.is_empty() { shows(id) && !(hidden && instance.operator.is_some()) } else { wanted.contains(id) };
        let in_state = states.is_empty() || states.contains(&instance.state.as_str());
        let own = world.tags_of(context.region, id);
        let filter = |name: &str| values(world, context.region, id, instance, name);
        if listed && in_state && keep(context, own, &filter)? {
            found.push((instance.launched, instance.batch.clone(), id.clone()));
        }
    }
    found.sort();
    Ok(found.into_iter().map(|(_, _, id)| id).collect())
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let most = context.number("MaxResults").filter(|n| *n < 5);
    if let Some(n) = most {
        let message = format!("Value ( {n} ) for parameter maxResults is invalid. Expecting a value greater than 5.");
        return Err(Fault::new("InvalidParameterValue", message));
    }
    let found = chosen(world, context, &[])?;
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    let mut batches: Vec<Value> = vec![];
    for id in found {
        let Some(instance) = world.instance(context.region, &id) else { continue };
        let view = view(world, context.region, &id).unwrap_or(Value::Null);
        match batches.last_mut().filter(|batch| batch["ReservationId"] == json!(instance.batch)) {
            Some(batch) => {
                if let Some(instances) = batch["Instances"].as_array_mut() {
                    instances.push(view);
                }
            }
            None => batches.push(json!({
                "ReservationId": instance.batch,
                "OwnerId": world.account,
                "Groups": [],
                "Instances": [view],
            })),
        }
    }
    Ok(json!({ "Reservations": batches, "NextToken": next }).into())
}

pub(super) fn statuses(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let world = &*world;
    let states: &[&str] = if context.flag("IncludeAllInstances") == Some(true) { &[] } else { &["running"] };
    let found = chosen(world, context, states)?;
    let (found, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    let statuses = found.iter().filter_map(|id| {
        let instance = world.instance(context.region, id)?;
        let booted = world.now >= instance.launched + (super::ready_after(&instance.instance_type) * 1000.0) as i64;
        let status = match (instance.state.as_str(), booted) {
            ("running", true) => "ok",
            ("running", false) => "initializing",
            _ => "not-applicable",
        };
        let checks = json!({ "Status": status, "Details": [] });
        Some(json!({
            "InstanceId": id,
            "AvailabilityZone": instance.zone_name,
            "AvailabilityZoneId": instance.zone,
            "InstanceState": { "Code": instance.code(), "Name": instance.state },
            "InstanceStatus": checks,
            "SystemStatus": checks,
            "AttachedEbsStatus": checks,
            "Events": [],
        }))
    });
    Ok(json!({ "InstanceStatuses": statuses.collect::<Vec<_>>(), "NextToken": next }).into())
}

pub(super) fn attribute(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (id, world) = (context.required("InstanceId")?, &*world);
    let instance = find(&world.machines(context.region).instances, id)?;
    let view = view(world, context.region, id).unwrap_or(Value::Null);
    let (member, value) = match context.required("Attribute")? {
        "instanceType" => ("InstanceType", json!({ "Value": instance.instance_type })),
        "userData" => ("UserData", json!({ "Value": instance.user_data })),
        "disableApiTermination" => ("DisableApiTermination", json!({ "Value": instance.protected })),
        "instanceInitiatedShutdownBehavior" => ("InstanceInitiatedShutdownBehavior", json!({ "Value": "terminate" })),
        "rootDeviceName" => ("RootDeviceName", json!({ "Value": view["RootDeviceName"] })),
        "blockDeviceMapping" => ("BlockDeviceMappings", view["BlockDeviceMappings"].clone()),
        "sourceDestCheck" => ("SourceDestCheck", json!({ "Value": view["SourceDestCheck"] })),
        "groupSet" => ("Groups", view["SecurityGroups"].clone()),
        "ebsOptimized" => ("EbsOptimized", json!({ "Value": true })),
        "enaSupport" => ("EnaSupport", json!({ "Value": true })),
        "disableApiStop" => ("DisableApiStop", json!({ "Value": false })),
        "enclaveOptions" => ("EnclaveOptions", json!({ "Enabled": false })),
        other => {
            let message = format!("The attribute '{other}' is not supported by this endpoint.");
            return Err(Fault::new("Unsupported", message));
        }
    };
    Ok(json!({ "InstanceId": id, (member): value }).into())
}
