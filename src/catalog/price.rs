//! What things cost, and how well that is known. Must never show an unknown price as zero.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Hours of a month, as AWS's own calculator counts them.
pub const HOURS_PER_MONTH: f64 = 730.0;

#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// US dollars for one unit (an hour, a GiB-month, …).
    pub usd: f64,
    /// `YYYY-MM-DD`
    pub as_of: String,
    pub source: String,
    /// Region that the price holds for; where it is not the one asked for, it stands in.
    pub region: String,
    pub stands_in: bool,
    /// Read in AWS's own words, and for the region asked for.
    pub confirmed: bool,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct PriceList {
    pub region: String,
    pub units_as_of: String,
    pub units: BTreeMap<String, UnitPrice>,
    pub instances_source: String,
    pub instances_as_of: String,
    /// Dollars an hour by region and type.
    pub instances: BTreeMap<String, BTreeMap<String, f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnitPrice {
    usd: f64,
    confirmed: bool,
    source: String,
}

impl PriceList {
    pub fn unit(&self, unit: &str, region: &str) -> Option<Price> {
        let price = self.units.get(unit)?;
        let stands_in = region != self.region;
        Some(Price {
            usd: price.usd,
            as_of: self.units_as_of.clone(),
            source: price.source.clone(),
            region: self.region.clone(),
            stands_in,
            confirmed: price.confirmed && !stands_in,
        })
    }

    pub fn instance(&self, instance_type: &str, region: &str) -> Option<Price> {
        let at = |place: &str| self.instances.get(place).and_then(|list| list.get(instance_type)).copied();
        let own = at(region).map(|usd| (usd, region));
        let (usd, place) = own.or_else(|| at(&self.region).map(|usd| (usd, self.region.as_str())))?;
        Some(Price {
            usd,
            as_of: self.instances_as_of.clone(),
            source: self.instances_source.clone(),
            region: place.to_owned(),
            stands_in: place != region,
            confirmed: place == region,
        })
    }
}

/// What a billed unit comes to in an hour: units named `…Hours` are hours already, those named `…Months` (with or without
/// a `:variant`) are spread over [`HOURS_PER_MONTH`]. `None`: billed by use, not by time (`natGatewayGb`).
pub fn hours_of(unit: &str) -> Option<f64> {
    let name = unit.split_once(':').map_or(unit, |(name, _)| name);
    if name.ends_with("Hours") {
        Some(1.0)
    } else if name.ends_with("Months") {
        Some(1.0 / HOURS_PER_MONTH)
    } else {
        None
    }
}
