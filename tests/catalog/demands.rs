//! Whatever a kind can ask for has a name that the catalogue knows: a unit without a price, or a thing without a quota,
//! would drop out of sums and checks without a word.

use infer_stack::{catalog::Catalog, contract::Demand, resources::KINDS};

#[test]
fn every_kinds_demands_have_names_the_catalogue_knows() {
    let catalog = Catalog::compiled();
    for kind in KINDS {
        for sample in kind.samples() {
            for demand in kind.demand(&sample).unwrap() {
                match demand {
                    Demand::Count { of, .. } => assert!(catalog.count_quota(&of).is_some(), "{}: {of}", kind.name()),
                    Demand::Billed { unit, .. } => {
                        assert!(catalog.price(&unit, "us-east-1").is_some(), "{}: {unit}", kind.name());
                        assert!(infer_stack::catalog::hours_of(&unit).is_some(), "{}: {unit}", kind.name());
                    }
                    Demand::Instances { .. } | Demand::Addresses { .. } => {}
                }
            }
        }
    }
}

#[test]
fn every_kind_has_a_time() {
    for kind in KINDS {
        assert!(Catalog::compiled().timing(kind.name()).is_some(), "{}", kind.name());
    }
}
