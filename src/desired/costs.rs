//! The costs layer: the tag keys that billing splits by. Must never wish a key to be inactive.

use crate::{
    catalog::Catalog,
    choose::Choices,
    desired::DesiredGraph,
    resources::cost_tags::{self, CostTags},
    stack::{Spec, names},
};

/// Adds the wishes of the layer.
pub fn costs(graph: &mut DesiredGraph, spec: &Spec, _choices: &Choices, _catalog: &Catalog) {
    let wished = &spec.cost_allocation;
    if wished.activate.is_empty() {
        return;
    }
    let want = cost_tags::Desired {
        active: wished.activate.iter().cloned().collect(),
        backfill_months: u32::from(wished.backfill_months),
    };
    graph.wish(&CostTags, &names::cost_tags(), &want, "costAllocation.activate");
}
