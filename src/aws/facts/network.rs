//! Zones of the region, and subnets that are brought along. Must never name a zone by its letter alone.

use super::{count, field};
use crate::{
    aws::{Aws, failed},
    cloud::{SubnetFacts, Zone},
    contract::CloudError,
};
use aws_sdk_ec2::types::{AvailabilityZoneState, Filter};

/// The zones that the account may use, local zones and wavelength zones left out.
pub(super) async fn zones(aws: &Aws) -> Result<Vec<Zone>, CloudError> {
    let call = "ec2:DescribeAvailabilityZones";
    let kind = Filter::builder().name("zone-type").values("availability-zone").build();
    let answer = aws.ec2().describe_availability_zones().filters(kind).send().await.map_err(failed(call))?;
    let zones = answer.availability_zones.unwrap_or_default();
    let open = zones.into_iter().filter(|zone| zone.state == Some(AvailabilityZoneState::Available));
    open.map(|zone| {
        Ok(Zone { id: field(call, "zoneId", zone.zone_id)?, name: field(call, "zoneName", zone.zone_name)? })
    })
    .collect()
}

pub(super) async fn subnets(aws: &Aws, ids: &[String]) -> Result<Vec<SubnetFacts>, CloudError> {
    let call = "ec2:DescribeSubnets";
    let request = aws.ec2().describe_subnets().set_subnet_ids(Some(ids.to_vec()));
    let answer = request.send().await.map_err(failed(call))?;
    let facts = answer.subnets.unwrap_or_default().into_iter().map(|subnet| {
        Ok(SubnetFacts {
            id: field(call, "subnetId", subnet.subnet_id)?,
            vpc: field(call, "vpcId", subnet.vpc_id)?,
            zone: field(call, "availabilityZoneId", subnet.availability_zone_id)?,
            cidr: field(call, "cidrBlock", subnet.cidr_block)?,
            free_addresses: count(subnet.available_ip_address_count),
        })
    });
    facts.collect()
}
