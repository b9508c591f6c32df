//! From demands to money. Must never round before it sums.

use crate::{
    catalog::{Catalog, Price, hours_of},
    contract::{Demand, Purchase, ShapeError},
    cost::{Cost, Item, Taken, Unpriced, pools, running, wished},
    desired::DesiredGraph,
    model::EXPIRES,
    observed::Snapshot,
    resources,
    stack::Spec,
};
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

/// Prices a graph, and the pools of the spec it is of, against what lives. `now` is the moment of the run, RFC 3339; the
/// expiry is the one of the graph's anchors. Without a spec (destroy) nothing is wished.
pub fn price(
    spec: Option<&Spec>,
    graph: &DesiredGraph,
    snapshot: &Snapshot,
    catalog: &Catalog,
    now: &str,
) -> Result<Cost, ShapeError> {
    let region = &graph.identity.region;
    let bill = |taken: Vec<Taken>| {
        let mut bill =
            Bill { catalog, region, items: BTreeMap::new(), unknown: BTreeMap::new(), dates: BTreeSet::new() };
        taken.into_iter().for_each(|taken| bill.add(taken));
        bill
    };
    let extended = extended(graph, catalog, now);
    let mut wished = wished(graph, snapshot)?;
    wished.extend(spec.map(pools).unwrap_or_default());
    let after = bill(at_support(wished, extended));
    let before = bill(at_support(running(snapshot)?, extended));
    let items: Vec<Item> =
        after.items.into_values().filter(|item| item.hourly_max > 0.0 || item.hourly > 0.0).collect();
    let sum = |of: fn(&Item) -> f64| items.iter().map(of).sum::<f64>();
    let hourly_after = sum(|item| item.hourly);
    let mut unknown = after.unknown;
    unknown.extend(before.unknown);
    let dates: BTreeSet<String> = after.dates.into_iter().chain(before.dates).collect();
    Ok(Cost {
        currency: "USD".to_owned(),
        hourly_now: before.items.values().map(|item| item.hourly).sum(),
        hourly_after,
        hourly_min: sum(|item| item.hourly_min),
        hourly_max: sum(|item| item.hourly_max),
        until_expiry: graph.anchor_tags.get(EXPIRES).and_then(|end| hours_between(now, end)).map(|h| h * hourly_after),
        items,
        as_of: dates.into_iter().next(),
        unknown: unknown.into_values().collect(),
    })
}

/// Hours from one RFC 3339 time to another, 0 where it has passed; `None` where one is no time (`never`).
fn hours_between(now: &str, end: &str) -> Option<f64> {
    let (now, end) = (now.parse::<Timestamp>().ok()?, end.parse::<Timestamp>().ok()?);
    Some(end.duration_since(now).as_secs_f64().max(0.0) / 3600.0)
}

const STANDARD: &str = "eksClusterHours";
const EXTENDED: &str = "eksClusterExtendedHours";

/// True where the control plane is past its standard support and stays, at six times the price.
fn extended(graph: &DesiredGraph, catalog: &Catalog, now: &str) -> bool {
    let address = crate::stack::names::cluster();
    let Some(wish) = graph.wishes.get(&address) else { return false };
    let Ok(wish) = serde_json::from_value::<resources::cluster::Desired>(wish.doc.clone()) else { return false };
    let today = now.get(..10).unwrap_or(now);
    let versions = catalog.cluster_versions().value;
    let ended = versions.iter().any(|known| {
        known.version == wish.version && known.end_of_standard_support.as_deref().is_some_and(|end| end < today)
    });
    ended && wish.support == resources::cluster::Support::Extended
}

fn at_support(taken: Vec<Taken>, extended: bool) -> Vec<Taken> {
    let swap = |mut taken: Taken| {
        if let Demand::Billed { unit, .. } = &mut taken.demand
            && unit == STANDARD
        {
            EXTENDED.clone_into(unit);
        }
        taken
    };
    if extended { taken.into_iter().map(swap).collect() } else { taken }
}

struct Bill<'a> {
    catalog: &'a Catalog,
    region: &'a str,
    items: BTreeMap<(String, String), Item>,
    unknown: BTreeMap<(String, String), Unpriced>,
    /// Of the prices used.
    dates: BTreeSet<String>,
}

impl Bill<'_> {
    fn add(&mut self, taken: Taken) {
        let address = taken.address.to_string();
        match taken.demand {
            Demand::Instances { instance_type, purchase, min, now, max, .. } => {
                let price = self.catalog.instance_price(&instance_type, purchase, self.region);
                let why = match purchase {
                    Purchase::Spot => format!("{instance_type} on Spot has no list price: the market sets it"),
                    Purchase::CapacityBlock => {
                        format!("a capacity block of {instance_type} is paid up front, at the price of its offering")
                    }
                    Purchase::OnDemand | Purchase::Reservation => {
                        format!("no price of {instance_type} in {} is known", self.region)
                    }
                };
                self.line(address, instance_type, [min, now, max].map(f64::from), price, 1.0, why);
            }
            Demand::Billed { unit, min, now, max } => {
                let Some(hours) = hours_of(&unit) else {
                    let why = "it is billed by use, not by time".to_owned();
                    self.unknown.insert((address.clone(), unit.clone()), Unpriced { address, unit, why });
                    return;
                };
                let price = self.catalog.price(&unit, self.region);
                let why = format!("no price of {unit} in {} is known", self.region);
                self.line(address, unit, [min, now, max], price, hours, why);
            }
            Demand::Count { .. } | Demand::Addresses { .. } => {}
        }
    }

    fn line(&mut self, address: String, unit: String, sizes: [f64; 3], price: Option<Price>, hours: f64, why: String) {
        let [min, now, max] = sizes;
        let key = (address.clone(), unit.clone());
        let Some(price) = price else {
            // What is never there needs no price.
            if max > 0.0 || now > 0.0 {
                self.unknown.insert(key, Unpriced { address, unit, why });
            }
            return;
        };
        let each = price.usd * hours;
        let estimate = !price.confirmed;
        self.dates.insert(price.as_of);
        let item = self.items.entry(key).or_insert(Item {
            address,
            unit,
            quantity: 0.0,
            hourly: 0.0,
            hourly_min: 0.0,
            hourly_max: 0.0,
            estimate,
        });
        item.quantity += now;
        item.hourly += each * now;
        item.hourly_min += each * min;
        item.hourly_max += each * max;
    }
}
