//! Laws of a resource kind, over every registered one and every sample it gives.

use infer_stack::{
    contract::{AnyKind, Change, Field, Ownership, Phase, Readiness, leaves},
    model::{Address, Doc, EXPIRES, REGION, RESOURCE, RUN, STACK, Stamp, Tags, links, resolve},
    plan::{LATER, diff},
    resources::KINDS,
};
use std::collections::BTreeSet;

pub const ACCOUNT: &str = "123456789012";
const SERIAL: &str = "0123456789abcdef";

/// A resolved sample with what AWS would show of it.
struct Sample {
    kind: &'static dyn AnyKind,
    want: Doc,
    resolved: Doc,
    id: String,
    stamp: Stamp,
}

fn samples() -> impl Iterator<Item = Sample> {
    KINDS.iter().flat_map(|kind| {
        kind.samples().into_iter().enumerate().map(|(n, want)| {
            let mut resolved = want.clone();
            let known = resolve(&mut resolved, &|address, output| Some(value_of(address, output)));
            assert!(known, "{}: sample {n} keeps an unresolved link", kind.name());
            let id = kind.imagine_id(&resolved, SERIAL).unwrap_or_else(|e| panic!("{e}"));
            let address = Address::new(kind.name(), "main");
            let mut tags = Tags::from([
                (STACK.to_owned(), "llama-70b".to_owned()),
                (REGION.to_owned(), "us-west-2".to_owned()),
                (RESOURCE.to_owned(), address.to_string()),
                ("team".to_owned(), "inference".to_owned()),
            ]);
            if kind.anchor() {
                tags.insert(EXPIRES.to_owned(), "2026-12-04T00:00:00Z".to_owned());
                tags.insert(RUN.to_owned(), "r1".to_owned());
            }
            let tags = if kind.tagged() { tags } else { Tags::new() };
            let stamp = Stamp { address, tags, token: "is-0".to_owned() };
            Sample { kind: *kind, want, resolved, id, stamp }
        })
    })
}

/// Something of the form that the output has in AWS, so that kinds which read an ARN or an id can.
pub fn value_of(address: &Address, output: &str) -> String {
    match (address.kind(), output) {
        ("role", "arn") => format!("arn:aws:iam::{ACCOUNT}:role/infer-stack/us-west-2/llama-70b/{}", address.name()),
        (kind, "arn") => format!("arn:aws:{kind}:us-west-2:{ACCOUNT}:{kind}/{}", address.name()),
        ("cluster", "oidc") => "https://oidc.eks.us-west-2.amazonaws.com/id/0123456789ABCDEF".to_owned(),
        ("cluster", "version") => "1.35".to_owned(),
        ("launch-template", "version") => "1".to_owned(),
        (_, "name") => format!("llama-70b-{}", address.name()),
        (kind, "id") => format!("{kind}-0{SERIAL}"),
        (kind, output) => format!("{kind}-{output}-0{SERIAL}"),
    }
}

#[test]
fn every_kind_gives_samples_and_a_name_of_its_own() {
    let mut names = BTreeSet::new();
    for kind in KINDS {
        assert!(names.insert(kind.name()), "{} is registered twice", kind.name());
        let fits = kind.name().chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
        assert!(fits && !kind.name().is_empty(), "{:?} is not lower case with dashes", kind.name());
        assert!(!kind.samples().is_empty(), "{} gives no sample", kind.name());
        let patience = kind.patience();
        assert!(patience.poll >= 1 && patience.poll <= patience.total, "{}: {patience:?}", kind.name());
        assert!(patience.stall <= patience.total && patience.streak >= 1, "{}: {patience:?}", kind.name());
        assert!(kind.aws_name().contains(':'), "{}: {:?} is not `service:type`", kind.name(), kind.aws_name());
    }
}

#[test]
fn names_in_contracts_are_registered_kinds() {
    // Kinds that a feature adds, or that AWS makes and only the teardown finds, may be absent from a build; a name that no kind
    // of this repository bears is a slip.
    let known: BTreeSet<&str> = KINDS.iter().map(|kind| kind.name()).collect();
    for kind in KINDS {
        for other in kind.deleted_after() {
            assert!(known.contains(other), "{} is deleted after `{other}`, which is no kind", kind.name());
        }
        if let Ownership::PartOf(parent) = kind.ownership() {
            assert!(known.contains(parent), "{} is part of `{parent}`, which is no kind", kind.name());
        }
        for sample in kind.samples() {
            for link in links(&sample) {
                let target = link.address.kind();
                assert!(known.contains(target), "{} links to `{target}`, which is no kind", kind.name());
            }
        }
    }
}

#[test]
fn links_name_outputs_that_their_target_has() {
    let outputs: BTreeSet<(&str, String)> = samples()
        .flat_map(|sample| {
            let live = sample.kind.imagine(&sample.resolved, &sample.id, &sample.stamp, Phase::There).unwrap();
            let outputs = sample.kind.look(&live).unwrap().outputs;
            outputs.into_keys().map(move |output| (sample.kind.name(), output))
        })
        .collect();
    for kind in KINDS {
        for link in kind.samples().iter().flat_map(links) {
            let Some(target) = KINDS.iter().find(|target| target.name() == link.address.kind()) else { continue };
            let offered = outputs.contains(&(target.name(), link.output.clone()));
            assert!(offered, "{}{} links to {}#{}", kind.name(), link.path, link.address, link.output);
        }
    }
}

#[test]
fn samples_round_trip_and_pass_their_own_check() {
    for Sample { kind, want, resolved, .. } in samples() {
        for doc in [&want, &resolved] {
            let broken = kind.check(doc).unwrap();
            assert!(broken.is_empty(), "{}: {broken:#?}\n{doc}", kind.name());
            assert!(!kind.words(doc).unwrap().headline.trim().is_empty(), "{}: {doc}", kind.name());
            kind.demand(doc).unwrap();
        }
    }
}

#[test]
fn every_leaf_has_exactly_one_field() {
    for Sample { kind, want, .. } in samples() {
        let fields = kind.fields(&want).unwrap();
        for leaf in leaves(&want) {
            let covering: Vec<&str> = fields.iter().filter(|field| field.covers(&leaf)).map(|f| f.at).collect();
            assert_eq!(covering.len(), 1, "{} {leaf}: {covering:?}", kind.name());
        }
    }
}

#[test]
fn every_field_hits_a_leaf_of_some_sample() {
    for kind in KINDS {
        let samples = kind.samples();
        let fields: Vec<Field> = samples.iter().flat_map(|sample| kind.fields(sample).unwrap().into_owned()).collect();
        for field in fields {
            let hit = samples.iter().flat_map(leaves).any(|leaf| field.covers(&leaf));
            assert!(hit, "{}: no sample fills {}", kind.name(), field.at);
        }
    }
}

#[test]
fn what_aws_shows_of_a_wish_is_the_wish() {
    for Sample { kind, resolved, id, stamp, .. } in samples() {
        for phase in [Phase::There, Phase::Changing] {
            let live = kind.imagine(&resolved, &id, &stamp, phase).unwrap();
            let look = kind.look(&live).unwrap_or_else(|e| panic!("{e}: {live}"));
            // The diff ignores the order of sets and what is sent only once: what is left must be the same.
            let diff = diff(kind, &resolved, &look, &stamp.tags).unwrap();
            assert!(diff.is_empty(), "{} {phase:?}: {:#?}", kind.name(), diff.changes);
        }
    }
}

#[test]
fn what_is_sent_once_and_shown_is_shown_as_sent() {
    for Sample { kind, resolved, id, stamp, .. } in samples() {
        let live = kind.imagine(&resolved, &id, &stamp, Phase::There).unwrap();
        let projected = kind.look(&live).unwrap().projected;
        let fields = kind.fields(&resolved).unwrap();
        let (wanted, shown) = (leaves(&resolved), leaves(&projected));
        let diffed =
            |leaf: &String| fields.iter().any(|field| field.covers(leaf) && field.change != Change::CreateOnly);
        let of = |leaves: Vec<String>| leaves.into_iter().filter(diffed).collect::<BTreeSet<_>>();
        assert_eq!(of(wanted), of(shown), "{}", kind.name());
    }
}

#[test]
fn imagined_objects_show_their_id_tags_and_claim() {
    for Sample { kind, resolved, id, stamp, .. } in samples() {
        for phase in [Phase::Coming, Phase::There, Phase::Changing, Phase::Going] {
            let live = kind.imagine(&resolved, &id, &stamp, phase).unwrap();
            let look = kind.look(&live).unwrap_or_else(|e| panic!("{e}: {live}"));
            assert_eq!(look.id, id, "{} {phase:?}", kind.name());
            if kind.tagged() && !look.gone {
                // Tags that a field of the wish stands for may come on top.
                let missing: Vec<_> = stamp.tags.iter().filter(|(k, v)| look.tags.get(*k) != Some(v)).collect();
                assert!(missing.is_empty(), "{} {phase:?} lacks {missing:?}", kind.name());
                if kind.ownership() != Ownership::Byproduct {
                    assert_eq!(look.claims.as_ref(), Some(&stamp.address), "{} {phase:?}", kind.name());
                }
            }
        }
        let live = kind.imagine(&resolved, &id, &stamp, Phase::There).unwrap();
        let look = kind.look(&live).unwrap();
        assert_eq!(look.ready, Readiness::Ready, "{}", kind.name());
        assert!(!look.gone && !look.going, "{}", kind.name());
        assert!(look.outputs.contains_key("id"), "{}: {:?}", kind.name(), look.outputs);
        assert!(look.outputs.values().all(|value| value != LATER && !value.is_empty()), "{}", kind.name());
        assert_eq!(look.name, kind.words(&resolved).unwrap().name, "{}", kind.name());
    }
}

#[test]
fn names_fit_what_aws_takes() {
    for Sample { kind, resolved, id, .. } in samples() {
        assert!(!id.is_empty() && id.len() <= 2048, "{}: {id:?}", kind.name());
        if let Some(name) = kind.words(&resolved).unwrap().name {
            // The longest name of any service is CloudWatch's 512; those of IAM and SQS are held to theirs by `check`.
            assert!((1..=512).contains(&name.len()), "{}: {name:?}", kind.name());
            // A setting of the account has no name at AWS; what stands for one is never sent.
            let sent = kind.ownership() != Ownership::Shared;
            assert!(!sent || !name.chars().any(|c| c.is_whitespace() || c.is_control()), "{}: {name:?}", kind.name());
        }
    }
}
