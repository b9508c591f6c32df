//! Instances: where types are offered, what runs, what is reserved. Must never leave out instances that an account hides.

use super::{count, field, time};
use crate::{
    aws::{Aws, failed},
    clock::rfc3339,
    cloud::{Offering, Reservation, RunningInstances},
    contract::{CloudError, Purchase},
    model::STACK,
};
use aws_sdk_ec2::types::{CapacityReservationType, Filter, Instance, InstanceLifecycleType, LocationType};
use std::collections::BTreeMap;

/// EC2 takes this many values of one filter.
const FILTER_VALUES: usize = 200;

pub(super) async fn offerings(aws: &Aws, instance_types: &[String]) -> Result<Vec<Offering>, CloudError> {
    let call = "ec2:DescribeInstanceTypeOfferings";
    let mut offered = vec![];
    for types in instance_types.chunks(FILTER_VALUES) {
        let filter = Filter::builder().name("instance-type").set_values(Some(types.to_vec())).build();
        let request = aws.ec2().describe_instance_type_offerings().filters(filter);
        let mut pages = request.location_type(LocationType::AvailabilityZoneId).into_paginator().items().send();
        while let Some(offering) = pages.try_next().await.map_err(failed(call))? {
            let instance_type = field(call, "instanceType", offering.instance_type)?.as_str().to_owned();
            offered.push(Offering { instance_type, zone: field(call, "location", offering.location)? });
        }
    }
    offered.sort_by(|a, b| (&a.instance_type, &a.zone).cmp(&(&b.instance_type, &b.zone)));
    Ok(offered)
}

/// Instances that draw on vCPU quotas: those that start and stop do so too.
pub(super) async fn running(aws: &Aws) -> Result<Vec<RunningInstances>, CloudError> {
    let call = "ec2:DescribeInstances";
    let states = ["pending", "running", "stopping"].map(str::to_owned).to_vec();
    let filter = Filter::builder().name("instance-state-name").set_values(Some(states)).build();
    let request = aws.ec2().describe_instances().filters(filter).include_managed_resources(true);
    let mut pages = request.into_paginator().page_size(1000).items().send();
    let mut counts = BTreeMap::<(String, Purchase, Option<String>), u32>::new();
    while let Some(reservation) = pages.try_next().await.map_err(failed(call))? {
        for instance in reservation.instances.unwrap_or_default() {
            let tags = instance.tags.iter().flatten();
            let stack =
                tags.into_iter().find(|tag| tag.key.as_deref() == Some(STACK)).and_then(|tag| tag.value.clone());
            let purchase = purchase(&instance);
            let instance_type = field(call, "instanceType", instance.instance_type)?.as_str().to_owned();
            *counts.entry((instance_type, purchase, stack)).or_default() += 1;
        }
    }
    let row = |((instance_type, purchase, stack), count)| RunningInstances { instance_type, purchase, count, stack };
    Ok(counts.into_iter().map(row).collect())
}

fn purchase(instance: &Instance) -> Purchase {
    match &instance.instance_lifecycle {
        Some(InstanceLifecycleType::Spot) => Purchase::Spot,
        Some(InstanceLifecycleType::CapacityBlock) => Purchase::CapacityBlock,
        // It runs in the capacity that the reservation has taken from the quota already.
        _ if instance.capacity_reservation_id.is_some() => Purchase::Reservation,
        _ => Purchase::OnDemand,
    }
}

pub(super) async fn reservations(aws: &Aws, ids: &[String]) -> Result<Vec<Reservation>, CloudError> {
    let call = "ec2:DescribeCapacityReservations";
    let request = aws.ec2().describe_capacity_reservations().set_capacity_reservation_ids(Some(ids.to_vec()));
    let answer = request.send().await.map_err(failed(call))?;
    let facts = answer.capacity_reservations.unwrap_or_default().into_iter().map(|reservation| {
        let text = |at: &Option<_>| at.as_ref().and_then(time).map(rfc3339);
        Ok(Reservation {
            block: reservation.reservation_type == Some(CapacityReservationType::CapacityBlock),
            start: text(&reservation.start_date),
            end: text(&reservation.end_date),
            id: field(call, "capacityReservationId", reservation.capacity_reservation_id)?,
            instance_type: field(call, "instanceType", reservation.instance_type)?,
            zone: field(call, "availabilityZoneId", reservation.availability_zone_id)?,
            total: count(reservation.total_instance_count),
            available: count(reservation.available_instance_count),
            state: field(call, "state", reservation.state)?.as_str().to_owned(),
            placement_group: reservation.placement_group_arn,
        })
    });
    facts.collect()
}
