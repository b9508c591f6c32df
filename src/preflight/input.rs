//! Everything the judges look at, gathered once. Must never hold a verdict.

use crate::{
    catalog::Catalog,
    choose::{Choices, Circumstances, ClassChoice},
    contract::{Demand, ShapeError},
    cost::{Cost, Taken, lived, pools, wished},
    desired::DesiredGraph,
    observed::Snapshot,
    stack::{NodeClass, Spec, names},
};

pub struct Input<'a> {
    pub spec: &'a Spec,
    pub choices: &'a Choices,
    pub graph: &'a DesiredGraph,
    pub snapshot: &'a Snapshot,
    /// With the live facts laid over it.
    pub catalog: &'a Catalog,
    pub cost: &'a Cost,
    pub circumstances: &'a Circumstances,
    /// What the plan's objects and Karpenter's pools take …
    pub(super) wished: Vec<Taken>,
    /// … and what lives.
    pub(super) lived: Vec<Taken>,
}

impl<'a> Input<'a> {
    pub fn new(
        spec: &'a Spec,
        choices: &'a Choices,
        graph: &'a DesiredGraph,
        snapshot: &'a Snapshot,
        catalog: &'a Catalog,
        cost: &'a Cost,
        circumstances: &'a Circumstances,
    ) -> Result<Self, ShapeError> {
        let mut wished = wished(graph, snapshot)?;
        wished.extend(pools(spec));
        let lived = lived(snapshot)?;
        Ok(Self { spec, choices, graph, snapshot, catalog, cost, circumstances, wished, lived })
    }

    pub(super) fn region(&self) -> &str {
        &self.spec.region
    }

    /// The file's classes with what was chosen for them.
    pub(super) fn classes(&self) -> impl Iterator<Item = (&'a NodeClass, &'a ClassChoice)> {
        let choices = self.choices;
        self.spec.node_classes.iter().filter_map(move |class| Some((class, choices.classes.get(&class.name)?)))
    }

    /// Zones that a class's nodes may be in.
    pub(super) fn zones(choice: &ClassChoice) -> Vec<&str> {
        choice.groups.iter().flat_map(|group| group.zones.value.iter().map(String::as_str)).collect()
    }

    /// Nodes of a class: wished now, wished at most, live.
    pub(super) fn nodes(&self, class: &NodeClass, choice: &ClassChoice) -> (u32, u32, u32) {
        let mut groups: Vec<_> = choice.groups.iter().map(|group| names::node_group(&group.name)).collect();
        groups.push(names::node_pool(&class.name));
        let of = |taken: &[Taken]| {
            let mine = taken.iter().filter(|taken| groups.contains(&taken.address));
            mine.fold((0, 0), |(now, max), taken| match &taken.demand {
                Demand::Instances { now: n, max: m, .. } => (now + n, max + m),
                _ => (now, max),
            })
        };
        let (now, max) = of(&self.wished);
        (now, max.max(class.nodes.max), of(&self.lived).0)
    }
}
