//! A template's data between our words and EC2's. Must never read back otherwise than it was written.

use super::{
    Desired, Disk, Interface, InterfaceType, Metadata, Volume,
    live::{signed, unsigned},
};
use crate::{
    aws::{answers::count, ec2},
    model::{Link, Tags},
};
use aws_sdk_ec2::types::{
    self, InstanceType, LaunchTemplateCapacityReservationSpecificationRequest as ReservationRequest,
    LaunchTemplateHttpTokensState as Tokens, LaunchTemplateInstanceMetadataTagsState as TagsState,
    LaunchTemplateInstanceNetworkInterfaceSpecificationRequest as InterfaceRequest, MarketType, ResourceType,
    VolumeType,
};
use aws_smithy_types::base64;

fn kind(kind: InterfaceType) -> &'static str {
    match kind {
        InterfaceType::Ena => "interface",
        InterfaceType::Efa => "efa",
        InterfaceType::EfaOnly => "efa-only",
    }
}

pub(in crate::resources) fn kind_of(text: Option<&str>) -> InterfaceType {
    match text {
        Some("efa") => InterfaceType::Efa,
        Some("efa-only") => InterfaceType::EfaOnly,
        // EC2 leaves out what is the default.
        _ => InterfaceType::Ena,
    }
}

/// The data of a version by a wish whose links are known.
pub(super) fn write(want: &Desired) -> types::RequestLaunchTemplateData {
    let metadata = types::LaunchTemplateInstanceMetadataOptionsRequest::builder()
        .http_tokens(if want.metadata.tokens_required { Tokens::Required } else { Tokens::Optional })
        .http_put_response_hop_limit(signed(want.metadata.hop_limit))
        .instance_metadata_tags(if want.metadata.instance_tags { TagsState::Enabled } else { TagsState::Disabled })
        .build();
    let placement = want
        .placement_group
        .as_ref()
        .map(|group| types::LaunchTemplatePlacementRequest::builder().group_name(group.target()).build());
    let market = want.capacity_block.then(|| {
        types::LaunchTemplateInstanceMarketOptionsRequest::builder().market_type(MarketType::CapacityBlock).build()
    });
    let reservation = want.reservation.as_ref().map(|id| {
        let target = types::CapacityReservationTarget::builder().capacity_reservation_id(id).build();
        ReservationRequest::builder().capacity_reservation_target(target).build()
    });
    let tagged = [ResourceType::Instance, ResourceType::Volume, ResourceType::NetworkInterface];
    let tags = tagged.into_iter().filter(|_| !want.instance_tags.is_empty()).map(|kind| {
        let all = ec2::stamped(kind.clone(), &want.instance_tags).tags;
        types::LaunchTemplateTagSpecificationRequest::builder().resource_type(kind).set_tags(all).build()
    });
    types::RequestLaunchTemplateData::builder()
        .set_network_interfaces(Some(want.interfaces.iter().map(write_interface).collect()))
        .set_block_device_mappings(Some(want.volumes.iter().map(write_disk).collect()))
        .set_placement(placement)
        .set_instance_market_options(market)
        .set_capacity_reservation_specification(reservation)
        .set_instance_type(want.instance_type.as_deref().map(InstanceType::from))
        .metadata_options(metadata)
        .set_user_data(want.user_data.as_ref().map(base64::encode))
        .set_tag_specifications(Some(tags.collect()))
        .build()
}

fn write_interface(interface: &Interface) -> InterfaceRequest {
    InterfaceRequest::builder()
        .network_card_index(signed(interface.card))
        .device_index(signed(interface.device))
        .interface_type(kind(interface.r#type))
        .set_groups(Some(interface.groups.iter().map(|group| group.target().to_owned()).collect()))
        .delete_on_termination(interface.delete_on_termination)
        .build()
}

fn write_disk(disk: &Disk) -> types::LaunchTemplateBlockDeviceMappingRequest {
    let ebs = types::LaunchTemplateEbsBlockDeviceRequest::builder()
        .volume_type(VolumeType::from(disk.volume.r#type.as_str()))
        .volume_size(signed(disk.volume.size))
        .set_iops(disk.volume.iops.map(signed))
        .set_throughput(disk.volume.throughput.map(signed))
        .encrypted(disk.encrypted)
        .set_kms_key_id(disk.kms_key.clone())
        .delete_on_termination(disk.delete_on_termination)
        .build();
    types::LaunchTemplateBlockDeviceMappingRequest::builder().device_name(&disk.device).ebs(ebs).build()
}

/// A version's data in our words; what the wish has no words for is left out.
pub(super) fn read(name: String, data: types::ResponseLaunchTemplateData) -> Desired {
    let metadata = data.metadata_options;
    let market = data.instance_market_options.and_then(|options| options.market_type);
    let target = data.capacity_reservation_specification.and_then(|it| it.capacity_reservation_target);
    let group = data.placement.and_then(|placement| placement.group_name).filter(|name| !name.is_empty());
    Desired {
        name,
        interfaces: data.network_interfaces.into_iter().flatten().map(read_interface).collect(),
        volumes: data.block_device_mappings.into_iter().flatten().filter_map(read_disk).collect(),
        placement_group: group.map(Link::is),
        reservation: target.and_then(|target| target.capacity_reservation_id),
        capacity_block: market == Some(MarketType::CapacityBlock),
        instance_type: data.instance_type.map(|name| name.as_str().to_owned()),
        metadata: Metadata {
            tokens_required: metadata.as_ref().and_then(|it| it.http_tokens.as_ref()) == Some(&Tokens::Required),
            hop_limit: metadata.as_ref().and_then(|it| unsigned(it.http_put_response_hop_limit)).unwrap_or(1),
            instance_tags: metadata.and_then(|it| it.instance_metadata_tags) == Some(TagsState::Enabled),
        },
        user_data: data.user_data.map(|text| decoded(&text)),
        instance_tags: data.tag_specifications.into_iter().flatten().find_map(of_instances).unwrap_or_default(),
    }
}

/// What is no text is shown as it is on the wire: it differs from every wish then.
fn decoded(text: &str) -> String {
    let bytes = base64::decode(text).ok();
    bytes.and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_else(|| text.to_owned())
}

fn of_instances(specification: types::LaunchTemplateTagSpecification) -> Option<Tags> {
    (specification.resource_type == Some(ResourceType::Instance)).then(|| ec2::tags(specification.tags))
}

fn read_interface(interface: types::LaunchTemplateInstanceNetworkInterfaceSpecification) -> Interface {
    Interface {
        card: count(interface.network_card_index),
        device: count(interface.device_index),
        r#type: kind_of(interface.interface_type.as_deref()),
        groups: interface.groups.into_iter().flatten().map(Link::is).collect(),
        delete_on_termination: interface.delete_on_termination.unwrap_or(false),
    }
}

fn read_disk(mapping: types::LaunchTemplateBlockDeviceMapping) -> Option<Disk> {
    let ebs = mapping.ebs?;
    Some(Disk {
        device: mapping.device_name.unwrap_or_default(),
        volume: Volume {
            r#type: ebs.volume_type.map_or_else(String::new, |kind| kind.as_str().to_owned()),
            size: count(ebs.volume_size),
            iops: unsigned(ebs.iops),
            throughput: unsigned(ebs.throughput),
        },
        encrypted: ebs.encrypted.unwrap_or(false),
        kms_key: ebs.kms_key_id,
        delete_on_termination: ebs.delete_on_termination.unwrap_or(true),
    })
}
