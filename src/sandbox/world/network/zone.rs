//! Regions, availability zones and what the account may. Must never say anything of a zone that the catalogue does not.

use crate::{
    catalog::Catalog,
    cloud::Zone,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, ec2, keep},
    },
};
use serde_json::{Value, json};

impl World {
    /// Zones of a region, by id, with the letters that this account has for them.
    pub fn zones(&self, region: &str) -> Vec<Zone> {
        let known = Catalog::compiled().zones(region).value.filter(|zones| !zones.is_empty());
        let mut ids = known.unwrap_or_else(|| (1..=3).map(|n| format!("{}-az{n}", short(region))).collect());
        ids.sort();
        let letters = 'a'..='z';
        ids.into_iter().zip(letters).map(|(id, letter)| Zone { id, name: format!("{region}{letter}") }).collect()
    }

    /// Letter name of a zone id; of an unknown one nothing.
    pub fn zone_name(&self, region: &str, id: &str) -> String {
        self.zones(region).into_iter().find(|zone| zone.id == id).map_or_else(String::new, |zone| zone.name)
    }
}

/// How zone ids abbreviate a region: `usw2` of `us-west-2`, `apse1` of `ap-southeast-1`.
fn short(region: &str) -> String {
    let way = |part: &str| match part {
        "north" | "south" | "east" | "west" | "central" => part[..1].to_owned(),
        "northeast" => "ne".to_owned(),
        "northwest" => "nw".to_owned(),
        "southeast" => "se".to_owned(),
        "southwest" => "sw".to_owned(),
        "gov" => "g".to_owned(),
        other => other.to_owned(),
    };
    region.split('-').map(way).collect()
}

fn filtered(context: &Context, value: &Value, names: &[(&str, &str)]) -> Result<bool, Fault> {
    keep(context, &Default::default(), &|name| {
        let (_, member) = names.iter().find(|(known, _)| *known == name)?;
        Some(vec![value[*member].as_str().unwrap_or_default().to_owned()])
    })
}

pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let region = context.region;
    let (ids, names) = (context.texts("ZoneIds"), context.texts("ZoneNames"));
    let zones = world.zones(region);
    if let Some(wrong) = names.iter().find(|name| zones.iter().all(|zone| zone.name != **name)) {
        return Err(ec2::invalid(format!("Invalid availability zone: [{wrong}]")));
    }
    let mut found = vec![];
    for zone in zones {
        let value = json!({
            "ZoneId": zone.id,
            "ZoneName": zone.name,
            "RegionName": region,
            "GroupName": region,
            "NetworkBorderGroup": region,
            "ZoneType": "availability-zone",
            "OptInStatus": "opt-in-not-required",
            "State": "available",
            "Messages": [],
        });
        let members = [
            ("zone-id", "ZoneId"),
            ("zone-name", "ZoneName"),
            ("region-name", "RegionName"),
            ("group-name", "GroupName"),
            ("zone-type", "ZoneType"),
            ("opt-in-status", "OptInStatus"),
            ("state", "State"),
        ];
        let wanted = (ids.is_empty() || ids.contains(&zone.id)) && (names.is_empty() || names.contains(&zone.name));
        if wanted && filtered(context, &value, &members)? {
            found.push(value);
        }
    }
    Ok(json!({ "AvailabilityZones": found }).into())
}

pub(super) fn regions(_: &mut World, context: &Context) -> Result<Output, Fault> {
    let names = context.texts("RegionNames");
    let catalog = Catalog::compiled();
    if let Some(wrong) = names.iter().find(|name| !catalog.regions().contains(*name)) {
        return Err(ec2::invalid(format!("Invalid region name: [{wrong}]")));
    }
    let mut found = vec![];
    for region in catalog.regions().iter().filter(|region| names.is_empty() || names.contains(region)) {
        let value = json!({
            "RegionName": region,
            "Endpoint": format!("ec2.{region}.amazonaws.com"),
            "OptInStatus": "opt-in-not-required",
        });
        let members = [("region-name", "RegionName"), ("endpoint", "Endpoint"), ("opt-in-status", "OptInStatus")];
        if filtered(context, &value, &members)? {
            found.push(value);
        }
    }
    Ok(json!({ "Regions": found }).into())
}

pub(super) fn account_attributes(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let attributes = [
        ("supported-platforms", "VPC".to_owned()),
        // This account has deleted its default VPCs, as careful ones do.
        ("default-vpc", "none".to_owned()),
        ("max-elastic-ips", world.limit("elasticIp").to_string()),
        ("vpc-max-elastic-ips", world.limit("elasticIp").to_string()),
        ("vpc-max-security-groups-per-interface", world.limit("securityGroupOfInterface").to_string()),
    ];
    let wanted = context.texts("AttributeNames");
    let found = attributes
        .iter()
        .filter(|(name, _)| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name))
        .map(|(name, value)| json!({ "AttributeName": name, "AttributeValues": [{ "AttributeValue": value }] }));
    Ok(json!({ "AccountAttributes": found.collect::<Vec<_>>() }).into())
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn zone_ids_abbreviate_regions() {
        let regions = ["us-west-2", "ap-southeast-1", "eu-central-1", "us-gov-west-1", "ca-central-1"];
        assert_eq!(regions.map(short), ["usw2", "apse1", "euc1", "usgw1", "cac1"]);
    }
}
