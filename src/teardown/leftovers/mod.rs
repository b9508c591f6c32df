//! What can be left of a stack, one file a finder, and how each is found and swept. Must never find by one way alone where
//! there are two: tags get lost.

mod buckets;
mod clusters;
mod file_systems;
mod gateways;
mod instances;
mod load_balancers;
mod log_groups;
mod network;
mod network_interfaces;
mod node_groups;
mod placement_groups;
mod queues;
mod roles;
mod security_groups;
mod snapshots;
mod templates;
mod volumes;

use super::finder::Finder;

/// Every finder, what bills most first.
pub fn finders() -> impl Iterator<Item = &'static Finder> {
    [
        instances::FINDERS,
        node_groups::FINDERS,
        clusters::FINDERS,
        file_systems::FINDERS,
        load_balancers::FINDERS,
        gateways::FINDERS,
        volumes::FINDERS,
        snapshots::FINDERS,
        network_interfaces::FINDERS,
        security_groups::FINDERS,
        network::FINDERS,
        templates::FINDERS,
        placement_groups::FINDERS,
        roles::FINDERS,
        queues::FINDERS,
        log_groups::FINDERS,
        buckets::FINDERS,
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{contract::Ownership, resources::KINDS};

    #[test]
    fn every_kind_has_one_finder() {
        for kind in KINDS {
            let n = finders().filter(|finder| finder.kind == kind.name()).count();
            assert_eq!(n, 1, "{}", kind.name());
        }
        assert_eq!(finders().count(), KINDS.len());
    }

    #[test]
    fn what_controllers_make_is_found_by_more_than_our_tag() {
        for kind in KINDS.iter().filter(|kind| kind.ownership() == Ownership::Byproduct) {
            let finder = finders().find(|finder| finder.kind == kind.name()).unwrap();
            assert!(finder.found_by.len() > 1, "{}", kind.name());
        }
    }
}
