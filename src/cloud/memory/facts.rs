//! Answers about the account and the region, from scenario, catalogue and world. Must never answer what the catalogue does
//! not know with "none": it says that it can't.

use super::{account::Inner, world::Moment};
use crate::{
    cloud::{AddonVersion, Answer, Caller, Fact, Offering, QuotaValue, RunningInstances, Zone},
    contract::{Class, CloudError, Demand, Purchase},
    model::STACK,
};
use std::collections::BTreeMap;

/// ARN of who calls.
pub(super) fn caller(inner: &Inner) -> String {
    inner.scenario.principal.replace("ACCOUNT", &inner.world.account)
}

pub(super) fn answer(inner: &Inner, fact: &Fact, now: Moment) -> Result<Answer, CloudError> {
    let (world, scenario, catalog) = (&inner.world, &inner.scenario, &inner.catalog);
    Ok(match fact {
        Fact::Caller => Answer::Caller(Caller { account: world.account.clone(), principal: caller(inner) }),
        Fact::CallerAddress => Answer::CallerAddress(scenario.caller_address.clone()),
        Fact::Zones => {
            Answer::Zones(zones(inner)?.into_iter().zip('a'..).map(|(id, letter)| named(inner, id, letter)).collect())
        }
        Fact::Offerings { instance_types } => Answer::Offerings(offerings(inner, instance_types)),
        Fact::Quotas { codes } => {
            let value = |code: &str| match scenario.quotas.get(code) {
                Some(value) => Some(QuotaValue { value: *value, applied: true }),
                None => Some(QuotaValue { value: catalog.quota(code)?.default?, applied: false }),
            };
            Answer::Quotas(codes.iter().filter_map(|(code, _)| Some((code.clone(), value(code)?))).collect())
        }
        Fact::Running => Answer::Running(running(inner, now)?),
        Fact::Counts => Answer::Counts(counts(inner, now)?),
        Fact::ClusterVersions => Answer::ClusterVersions(catalog.cluster_versions().value),
        Fact::AddonVersions { cluster_version, addons } => Answer::AddonVersions(
            addons
                .iter()
                .filter_map(|addon| {
                    let version = scenario.addons.get(addon)?.replace("{version}", cluster_version);
                    Some(AddonVersion { addon: addon.clone(), version })
                })
                .collect(),
        ),
        Fact::AmiReleases { cluster_version, ami_types } => {
            let release = scenario.ami_releases.get(cluster_version);
            let of = |ami: &String| Some((ami.clone(), release?.clone()));
            Answer::AmiReleases(ami_types.iter().filter_map(of).collect())
        }
        Fact::Reservations { ids } => {
            let missing = ids.iter().find(|id| !world.brought.reservations.contains_key(*id));
            if let Some(id) = missing {
                return Err(refused(
                    "ec2:DescribeCapacityReservations",
                    Class::NotFound,
                    "InvalidCapacityReservationId.NotFound",
                    id,
                ));
            }
            Answer::Reservations(ids.iter().filter_map(|id| world.brought.reservations.get(id).cloned()).collect())
        }
        Fact::Subnets { ids } => {
            let missing = ids.iter().find(|id| !world.brought.subnets.contains_key(*id));
            if let Some(id) = missing {
                return Err(refused("ec2:DescribeSubnets", Class::NotFound, "InvalidSubnetID.NotFound", id));
            }
            Answer::Subnets(ids.iter().filter_map(|id| world.brought.subnets.get(id).cloned()).collect())
        }
        Fact::Bucket { name } => {
            let made = world.living(now).find(|object| object.kind == "bucket" && object.is_called(name));
            Answer::Bucket(
                made.map(|object| object.region.clone()).or_else(|| world.brought.buckets.get(name).cloned()),
            )
        }
    })
}

pub(super) fn refused(call: &str, class: Class, code: &str, id: &str) -> CloudError {
    CloudError::new(call, class, code, format!("The ID '{id}' does not exist"))
}

/// Zone ids of the region, in order.
pub(super) fn zones(inner: &Inner) -> Result<Vec<String>, CloudError> {
    let zones = inner.catalog.zones(&inner.region).value.ok_or_else(|| {
        let message = format!("the simulated account has no region {}", inner.region);
        CloudError::new("ec2:DescribeAvailabilityZones", Class::Unsupported, "OptInRequired", message)
    })?;
    Ok(zones)
}

fn named(inner: &Inner, id: String, letter: char) -> Zone {
    Zone { name: format!("{}{letter}", inner.region), id }
}

/// A type whose zones the catalogue does not know (general ones) is offered in all of them; a type it does not know at all
/// in none.
fn offerings(inner: &Inner, instance_types: &[String]) -> Vec<Offering> {
    let of = |instance_type: &String| {
        let known = inner.catalog.instance_type(instance_type).is_some();
        let listed = inner.catalog.offered_zones(instance_type, &inner.region).value;
        let zones = listed.or_else(|| zones(inner).ok().filter(|_| known)).unwrap_or_default();
        zones.into_iter().map(|zone| Offering { instance_type: instance_type.clone(), zone }).collect::<Vec<_>>()
    };
    instance_types.iter().flat_map(of).collect()
}

fn running(inner: &Inner, now: Moment) -> Result<Vec<RunningInstances>, CloudError> {
    let mut counts = BTreeMap::<(String, Purchase, Option<String>), u32>::new();
    for (instance_type, purchase, stack) in instances(inner, now)? {
        *counts.entry((instance_type, purchase, stack)).or_default() += 1;
    }
    let row = |((instance_type, purchase, stack), count)| RunningInstances { instance_type, purchase, count, stack };
    Ok(counts.into_iter().map(row).collect())
}

/// Type, purchase and stack of every instance in the region that is not terminated.
pub(super) fn instances(inner: &Inner, now: Moment) -> Result<Vec<(String, Purchase, Option<String>)>, CloudError> {
    let mut found = vec![];
    let Some(kind) = inner.kind("instance") else { return Ok(found) };
    for object in inner.world.living(now).filter(|o| o.kind == "instance" && o.region == inner.region) {
        for demand in kind.demand(&object.want).map_err(|e| inner.misshapen(&e))? {
            if let Demand::Instances { instance_type, purchase, .. } = demand {
                found.push((instance_type, purchase, object.stamp.tags.get(STACK).cloned()));
            }
        }
    }
    Ok(found)
}

/// What the region's objects count against quotas of countable things.
pub(super) fn counts(inner: &Inner, now: Moment) -> Result<BTreeMap<String, u32>, CloudError> {
    let counted = inner.catalog.quotas().iter().filter_map(|quota| quota.counts.clone());
    let mut counts: BTreeMap<String, u32> = counted.map(|of| (of, 0)).collect();
    for object in inner.world.living(now).filter(|o| o.region == inner.region) {
        let Some(kind) = inner.kind(&object.kind) else { continue };
        for demand in kind.demand(&object.want).map_err(|e| inner.misshapen(&e))? {
            if let Demand::Count { of, n } = demand {
                *counts.entry(of).or_default() += n;
            }
        }
    }
    Ok(counts)
}
