//! What one live object costs. Must never count an unknown price as 0.

use crate::{
    catalog::{Catalog, hours_of},
    contract::{AnyKind, Demand, Ownership, ShapeError},
    observed::Live,
};

/// Dollars an hour of one live object at its live size; `None` where a price of what it takes is not known.
pub fn hourly(catalog: &Catalog, region: &str, kind: &dyn AnyKind, live: &Live) -> Result<Option<f64>, ShapeError> {
    // What a bucket costs hangs on what is in it, which no list says.
    let mut sum = (kind.ownership() != Ownership::Retained).then_some(0.0);
    for demand in kind.demand(&live.look.projected)? {
        let price = match demand {
            Demand::Instances { instance_type, purchase, now, .. } => {
                catalog.instance_price(&instance_type, purchase, region).map(|price| price.usd * f64::from(now))
            }
            Demand::Billed { unit, now, .. } => {
                let price = catalog.price(&unit, region).zip(hours_of(&unit));
                price.map(|(price, hours)| price.usd * hours * now)
            }
            Demand::Count { .. } | Demand::Addresses { .. } => continue,
        };
        sum = sum.zip(price).map(|(sum, price)| sum + price);
    }
    Ok(sum)
}
