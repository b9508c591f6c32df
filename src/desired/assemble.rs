//! Puts the layers of a stack together and adds what only the whole knows: the tags, and which layer waits for which. Must
//! never wish anything itself.

use crate::{
    catalog::Catalog,
    choose::{Choices, Circumstances, is_accelerated},
    desired::{
        DesiredGraph,
        cluster::{BEFORE_NODES, cluster},
        costs::costs,
        identity::identity as identity_layer,
        network::{network, way_out},
        nodes::nodes,
        storage::storage,
    },
    model::{Address, EXPIRES, Identity, REGION, RUN, STACK, Tags},
    stack::{Provisioner, Spec, carve::CarveError, names},
};

/// Why a stack can't be wished as it is written and chosen.
#[derive(Debug, thiserror::Error)]
pub enum DesiredError {
    #[error(transparent)]
    Network(#[from] CarveError),
}

/// Every wish of a stack. The same input gives the same wishes.
pub fn desired(
    spec: &Spec,
    choices: &Choices,
    catalog: &Catalog,
    identity: &Identity,
    circumstances: &Circumstances,
) -> Result<DesiredGraph, DesiredError> {
    let mut graph = DesiredGraph {
        tags: tags(spec, identity),
        anchor_tags: [(EXPIRES, &choices.expires.value), (RUN, &circumstances.run)]
            .map(|(key, value)| (key.to_owned(), value.clone()))
            .into(),
        ..DesiredGraph::empty(identity.clone())
    };
    network(&mut graph, spec, choices)?;
    identity_layer(&mut graph, spec, choices, catalog);
    cluster(&mut graph, spec, choices, catalog);
    nodes(&mut graph, spec, choices, catalog);
    storage(&mut graph, spec, choices, catalog);
    costs(&mut graph, spec, choices, catalog);
    order(&mut graph, spec, choices, catalog);
    Ok(graph)
}

/// The file's own first: ours can't be overwritten.
fn tags(spec: &Spec, identity: &Identity) -> Tags {
    let mut tags: Tags = spec.tags.clone();
    tags.insert(STACK.to_owned(), identity.stack.clone());
    tags.insert(REGION.to_owned(), identity.region.clone());
    tags
}

/// Control plane, then network and roles of pods, then nodes, then what runs on nodes. No link says so.
fn order(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, catalog: &Catalog) {
    // Nodes without taints: the only ones that the pods of add-ons can run on.
    let mut system: Vec<Address> = vec![];
    for class in spec.node_classes.iter().filter(|class| class.provisioner == Provisioner::Managed) {
        for group in choices.classes.get(&class.name).into_iter().flat_map(|class| &class.groups) {
            let address = names::node_group(&group.name);
            let Some(wish) = graph.wishes.get_mut(&address) else { continue };
            for (addon, why) in BEFORE_NODES {
                wish.after(names::addon(addon), why);
            }
            wish.after(names::node_entry(), "EKS would make the entry itself, and ours would collide with it");
            for (route, why) in way_out(spec, &group.zones.value) {
                wish.after(route, why);
            }
            if !is_accelerated(class, catalog) {
                system.push(address);
            }
        }
    }
    let early = |address: &Address| BEFORE_NODES.iter().any(|(addon, _)| names::addon(addon) == *address);
    let late = graph.wishes.iter_mut().filter(|(address, _)| address.kind() == "addon" && !early(address));
    for (_, wish) in late {
        for group in &system {
            wish.after(group.clone(), "its pods need a node that takes them, or it stays DEGRADED");
        }
    }
}
