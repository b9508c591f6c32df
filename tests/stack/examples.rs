//! The files of `stacks/`.

use super::{examples, one};
use infer_stack::catalog::Catalog;

#[test]
fn every_example_is_valid_and_named_like_its_file() {
    for (stem, text) in examples() {
        let parsed = one(&text);
        assert_eq!(parsed.spec.name, stem);
        assert_eq!(parsed.warnings, [], "{stem}");
    }
}

#[test]
fn every_example_uses_types_that_its_region_offers() {
    let catalog = Catalog::compiled();
    for (stem, text) in examples() {
        let spec = one(&text).spec;
        for name in spec.node_classes.iter().flat_map(|class| &class.instance_types) {
            let known = catalog.instance_type(name).unwrap_or_else(|| panic!("{stem}: {name}"));
            let regions = known.regions.as_ref().is_none_or(|all| all.contains(&spec.region));
            assert!(regions, "{stem}: {name} is not offered in {}", spec.region);
        }
    }
}
