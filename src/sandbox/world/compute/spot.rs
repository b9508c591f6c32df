//! Spot prices and placement scores. Must never be taken for AWS's own: they only tell full pools from empty ones.

use super::seconds;
use crate::{
    catalog::Catalog,
    contract::Purchase,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, ec2::invalid, keep, page},
    },
};
use serde_json::json;

/// Share of the on-demand price.
const SHARE: f64 = 0.4;

pub(super) fn prices(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (region, catalog) = (context.region, Catalog::compiled());
    let (types, products) = (context.texts("InstanceTypes"), context.texts("ProductDescriptions"));
    let linux = products.is_empty() || products.iter().any(|product| product.starts_with("Linux/UNIX"));
    let mut found = vec![];
    for known in catalog.instance_types().filter(|known| linux && known.spot) {
        let price = catalog.instance_price(&known.name, Purchase::OnDemand, region);
        let Some(price) = price.filter(|_| types.is_empty() || types.contains(&known.name)) else { continue };
        for zone in world.zones_offering(region, &known.name) {
            let name = world.zone_name(region, &zone);
            let asked = context.text("AvailabilityZone").is_none_or(|asked| asked == name)
                && context.text("AvailabilityZoneId").is_none_or(|asked| asked == zone);
            let spot = format!("{:.6}", price.usd * SHARE);
            let values = |filter: &str| {
                Some(vec![match filter {
                    "availability-zone" => name.clone(),
                    "availability-zone-id" => zone.clone(),
                    "instance-type" => known.name.clone(),
                    "product-description" => "Linux/UNIX".to_owned(),
                    "spot-price" => spot.clone(),
                    "timestamp" => seconds(world.now).to_string(),
                    _ => return None,
                }])
            };
            if asked && keep(context, &Default::default(), &values)? {
                found.push(json!({
                    "InstanceType": known.name,
                    "AvailabilityZone": name,
                    "AvailabilityZoneId": zone,
                    "ProductDescription": "Linux/UNIX",
                    "SpotPrice": spot,
                    "Timestamp": world.seconds(),
                }));
            }
        }
    }
    let (rows, next) = page(found, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "SpotPriceHistory": rows, "NextToken": next }).into())
}

/// 9 where a pool has capacity, 1 where it has none.
pub(super) fn scores(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (catalog, types) = (Catalog::compiled(), context.texts("InstanceTypes"));
    if types.is_empty() {
        return Err(invalid("Instance types are needed: scores by requirements are not offered here."));
    }
    let mut regions = context.texts("RegionNames");
    if regions.is_empty() {
        regions.push(context.region.to_owned());
    }
    let mut rows = vec![];
    for region in regions {
        let score = |zone: &str| {
            let offered = |name: &String| world.zones_offering(&region, name).iter().any(|known| known == zone);
            let full = |name: &String| !world.scenario.is_empty(&catalog, name, zone, &region);
            if types.iter().any(|name| offered(name) && full(name)) { 9 } else { 1 }
        };
        let zones = world.zones(&region);
        if context.flag("SingleAvailabilityZone") == Some(true) {
            rows.extend(
                zones
                    .iter()
                    .map(|zone| json!({ "Region": region, "AvailabilityZoneId": zone.id, "Score": score(&zone.id) })),
            );
        } else if let Some(best) = zones.iter().map(|zone| score(&zone.id)).max() {
            rows.push(json!({ "Region": region, "Score": best }));
        }
    }
    let (rows, next) = page(rows, context.text("NextToken"), context.number("MaxResults"), "InvalidNextToken")?;
    Ok(json!({ "SpotPlacementScores": rows, "NextToken": next }).into())
}
