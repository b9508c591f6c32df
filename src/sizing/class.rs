//! Which instance type would hold a replica that another does not. Must never name one that the region is known not to
//! offer.

use super::budget::{Ask, Budget, budget};
use crate::{
    catalog::{Catalog, InstanceType},
    contract::Purchase,
};

/// The nearest type on whose single node a replica fits, with its budget: of the same family if one does, else of the same
/// kind of accelerator, the cheapest first and those without a known price last. The ask's own split is left aside: a
/// larger device may need none.
pub fn nearest_fitting_class(
    ask: &Ask,
    than: &InstanceType,
    region: &str,
    catalog: &Catalog,
) -> Option<(&'static InstanceType, Budget)> {
    let ask = Ask { parallelism: super::Parallelism::Auto, ..*ask };
    let kind = than.accelerator.as_ref().map(|a| a.kind);
    catalog
        .instance_types()
        .filter(|t| t.name != than.name && t.accelerator.is_some())
        .filter(|t| kind.is_none() || t.accelerator.as_ref().map(|a| a.kind) == kind)
        .filter(|t| catalog.offered_zones(&t.name, region).value.is_none_or(|zones| !zones.is_empty()))
        .map(|t| (t, budget(&ask, t)))
        .filter(|(_, budget)| budget.fits() && budget.nodes_per_replica == 1)
        .min_by(|(a, _), (b, _)| {
            let price = |t: &InstanceType| catalog.instance_price(&t.name, Purchase::OnDemand, region).map(|p| p.usd);
            let order = |t: &InstanceType| (t.family() != than.family(), price(t).unwrap_or(f64::INFINITY));
            let (a, b) = (order(a), order(b));
            a.0.cmp(&b.0).then(a.1.total_cmp(&b.1))
        })
}
