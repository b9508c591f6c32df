//! The network layer and its kinds, rule by rule.

use infer_stack::{
    contract::{AnyKind, Layer, Phase, leaves},
    model::{Address, Doc, RESOURCE, Stamp, Tags, resolve},
    resources::KINDS,
};

fn kinds() -> impl Iterator<Item = &'static dyn AnyKind> {
    KINDS.iter().copied().filter(|kind| kind.layer() == Layer::Network)
}

fn stamp(kind: &dyn AnyKind) -> Stamp {
    let address = Address::new(kind.name(), "sample");
    let tags = Tags::from([(RESOURCE.to_owned(), address.to_string())]);
    Stamp { address, tags, token: "token".to_owned() }
}

fn resolved(mut doc: Doc) -> Doc {
    assert!(resolve(&mut doc, &|address, output| Some(format!("{}-{output}", address.as_str().replace('.', "-")))));
    doc
}

#[test]
fn every_leaf_of_a_network_kind_has_exactly_one_field() {
    for kind in kinds() {
        for sample in kind.samples() {
            let fields = kind.fields(&sample).unwrap();
            for leaf in leaves(&sample) {
                assert_eq!(fields.iter().filter(|field| field.covers(&leaf)).count(), 1, "{} {leaf}", kind.name());
            }
        }
    }
}

#[test]
fn a_network_kind_as_aws_shows_it_projects_to_its_wish() {
    for kind in kinds() {
        for sample in kind.samples() {
            let (want, stamp) = (resolved(sample), stamp(kind));
            let id = kind.imagine_id(&want, "a1b2c3d4e5f60718").unwrap();
            let look = kind.look(&kind.imagine(&want, &id, &stamp, Phase::There).unwrap()).unwrap();
            assert_eq!(look.projected, want, "{}", kind.name());
            assert_eq!(look.id, id);
            assert_eq!(look.outputs["id"], id);
            assert_eq!(look.claims, Some(stamp.address));
            assert_eq!(look.ready, infer_stack::contract::Readiness::Ready, "{}", kind.name());
            assert_eq!((look.gone, look.going), (false, false));
        }
    }
}

#[test]
fn samples_of_network_kinds_break_no_rule_of_aws() {
    for kind in kinds() {
        for sample in kind.samples() {
            assert_eq!(kind.check(&sample).unwrap(), Vec::<String>::new(), "{}", kind.name());
            assert!(!kind.headline(&sample).unwrap().is_empty());
        }
    }
}
