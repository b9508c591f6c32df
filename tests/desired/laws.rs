//! The laws of resource kinds over the samples of the layers nodes, storage and costs.

use infer_stack::{
    contract::{AnyKind, Change, Field, Layer, Phase, Readiness, leaves},
    model::{Address, Doc, RESOURCE, STACK, Stamp, Tags, resolve},
    resources::KINDS,
};

fn kinds() -> impl Iterator<Item = &'static dyn AnyKind> {
    let layers = [Layer::Nodes, Layer::Storage, Layer::Costs];
    KINDS.iter().copied().filter(move |kind| layers.contains(&kind.layer()))
}

fn stamp(kind: &dyn AnyKind) -> Stamp {
    let address = Address::new(kind.name(), if kind.name() == "cost-tags" { "account" } else { "sample" });
    let tags = [(RESOURCE.to_owned(), address.to_string()), (STACK.to_owned(), "llama-70b".to_owned())];
    Stamp { address, tags: Tags::from(tags), token: "token".to_owned() }
}

fn resolved(mut doc: Doc) -> Doc {
    assert!(resolve(&mut doc, &|address, output| Some(format!("{}-{output}", address.as_str().replace('.', "-")))));
    doc
}

/// Without what is never diffed.
fn diffed(mut doc: Doc, fields: &[Field]) -> Doc {
    for field in fields.iter().filter(|field| field.change == Change::CreateOnly) {
        if let Some(at) = doc.pointer_mut(field.at) {
            *at = Doc::Null;
        }
    }
    doc
}

#[test]
fn every_leaf_has_exactly_one_field() {
    for kind in kinds() {
        for sample in kind.samples() {
            let fields = kind.fields(&sample).unwrap();
            for leaf in leaves(&sample) {
                let covering = fields.iter().filter(|field| field.covers(&leaf)).count();
                assert_eq!(covering, 1, "{} {leaf}", kind.name());
            }
            for field in fields.iter() {
                assert!(leaves(&sample).iter().any(|leaf| field.covers(leaf)), "{} {}", kind.name(), field.at);
            }
        }
    }
}

#[test]
fn what_aws_shows_projects_to_the_wish() {
    for kind in kinds() {
        for sample in kind.samples() {
            let (want, stamp) = (resolved(sample), stamp(kind));
            let fields = kind.fields(&want).unwrap();
            let id = kind.imagine_id(&want, "0a1b2c3d4e5f60718").unwrap();
            let look = kind.look(&kind.imagine(&want, &id, &stamp, Phase::There).unwrap()).unwrap();
            assert_eq!(diffed(look.projected, &fields), diffed(want.clone(), &fields), "{}", kind.name());
            assert_eq!(look.id, id, "{}", kind.name());
            assert_eq!(look.outputs["id"], id, "{}", kind.name());
            assert_eq!(look.claims, Some(stamp.address.clone()), "{}", kind.name());
            assert_eq!(look.ready, Readiness::Ready, "{}", kind.name());
            assert_eq!((look.gone, look.going), (false, false), "{}", kind.name());
            if kind.tagged() {
                assert_eq!(look.tags.get(RESOURCE), stamp.tags.get(RESOURCE), "{}", kind.name());
            }
            assert_eq!(look.name, kind.words(&want).unwrap().name, "{}", kind.name());
        }
    }
}

#[test]
fn a_sample_round_trips_and_breaks_no_rule() {
    for kind in kinds() {
        for sample in kind.samples() {
            assert_eq!(kind.check(&sample).unwrap(), Vec::<String>::new(), "{}", kind.name());
            assert!(!kind.words(&sample).unwrap().headline.is_empty(), "{}", kind.name());
            kind.demand(&sample).unwrap();
            for phase in [Phase::Coming, Phase::Changing, Phase::Going] {
                let want = resolved(sample.clone());
                let live = kind.imagine(&want, "id", &stamp(kind), phase).unwrap();
                kind.look(&live).unwrap();
            }
        }
    }
}
