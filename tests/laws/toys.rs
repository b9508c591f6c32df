//! Kinds of no cloud, one for each way of being owned, with every sort of field: what the planner is tried with.

use infer_stack::{
    contract::{AnyKind, Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, RESOURCE, Stamp, Tags},
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Desired {
    /// Immutable, and unique in kinds that have names.
    pub name: String,
    pub fixed: String,
    /// Moves the output `version`.
    pub loose: String,
    pub size: u32,
    pub labels: Labels,
    pub items: Vec<Item>,
    pub once: String,
    pub password: String,
    /// Immutable.
    pub parent: Option<Link>,
    /// In place, but its target can't be deleted meanwhile.
    pub grip: Option<Link>,
    /// In place, and its target can.
    pub glance: Option<Link>,
    /// In place, to the target's `version`; interrupts.
    pub version: Option<Link>,
}

pub type Labels = std::collections::BTreeMap<String, String>;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Item {
    pub port: u16,
    pub peer: Option<Link>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Observed {
    pub id: String,
    pub is: Desired,
    pub tags: Tags,
    pub ready: Readiness,
    pub gone: bool,
    pub going: bool,
    pub made_by_aws: bool,
    /// Of kinds that carry no tags.
    pub claims: Option<Address>,
}

const FIELDS: &[Field] = &[
    Field::immutable("/name"),
    Field::immutable("/fixed"),
    Field::in_place("/loose").changes(&["version"]),
    Field::in_place("/size").only_grows(),
    Field::in_place("/labels"),
    Field::in_place("/items").set().holds(),
    Field::create_only("/once"),
    Field::in_place("/password").secret(),
    Field::immutable("/parent"),
    Field::in_place("/grip").holds(),
    Field::in_place("/glance"),
    Field::in_place("/version").interrupts(),
];

macro_rules! toys {
    ($($kind:ident $name:literal $layer:ident $ownership:expr, tagged $tagged:literal, named $named:literal, anchor $anchor:literal, after $after:expr;)*) => {
        $(
            pub struct $kind;
            impl Kind for $kind {
                const NAME: &'static str = $name;
                const LAYER: Layer = Layer::$layer;
                const OWNERSHIP: Ownership = $ownership;
                const FIELDS: &'static [Field] = FIELDS;
                const PATIENCE: Patience = Patience::INSTANT;
                const TAGGED: bool = $tagged;
                const ANCHOR: bool = $anchor;
                const DELETED_AFTER: &'static [&'static str] = $after;
                const AWS_NAME: &'static str = concat!("toy:", $name);
                type Desired = Desired;
                type Observed = Observed;
                fn id(live: &Observed) -> PhysicalId {
                    live.id.clone()
                }
                fn tags(live: &Observed) -> Tags {
                    live.tags.clone()
                }
                fn outputs(live: &Observed) -> Outputs {
                    let version = format!("{}@{}", live.id, live.is.loose);
                    Outputs::from([("id".to_owned(), live.id.clone()), ("version".to_owned(), version)])
                }
                fn project(live: &Observed) -> Desired {
                    Desired { once: String::new(), ..live.is.clone() }
                }
                fn ready(live: &Observed) -> Readiness {
                    live.ready.clone()
                }
                fn gone(live: &Observed) -> bool {
                    live.gone
                }
                fn going(live: &Observed) -> bool {
                    live.going
                }
                fn made_by_aws(live: &Observed) -> bool {
                    live.made_by_aws
                }
                fn wished_name(want: &Desired) -> Option<String> {
                    $named.then(|| want.name.clone())
                }
                fn live_name(live: &Observed) -> Option<String> {
                    $named.then(|| live.is.name.clone())
                }
                fn claims(live: &Observed) -> Option<Address> {
                    let tagged = || live.tags.get(RESOURCE).and_then(|text| Address::parse(text).ok());
                    live.claims.clone().or_else(tagged)
                }
                fn headline(want: &Desired) -> String {
                    format!("{} {}", want.name, want.fixed)
                }
                fn samples() -> Vec<Desired> {
                    let all = ["net", "role", "group", "template", "pool", "log", "part"];
                    all.iter().map(|kind| {
                        let to = |output| Some(Link::to(&Address::new(kind, "x"), output));
                        Desired {
                            parent: to("id"),
                            grip: to("id"),
                            glance: to("id"),
                            version: to("version"),
                            items: vec![Item { port: 1, peer: to("id") }],
                            labels: [("a".to_owned(), "b".to_owned())].into(),
                            ..Desired::default()
                        }
                    }).collect()
                }
                fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
                    Observed {
                        id: id.to_owned(),
                        is: want.clone(),
                        tags: if $tagged { stamp.tags.clone() } else { Tags::new() },
                        ready: match phase {
                            Phase::There => Readiness::Ready,
                            _ => Readiness::Pending(format!("{phase:?}")),
                        },
                        gone: false,
                        going: phase == Phase::Going,
                        made_by_aws: false,
                        claims: (!$tagged).then(|| stamp.address.clone()),
                    }
                }
                fn imagine_id(want: &Desired, serial: &str) -> PhysicalId {
                    if $named { want.name.clone() } else { format!("{}-{serial}", $name) }
                }
            }
        )*
        pub static TOYS: &[&dyn AnyKind] = &[$(&$kind),*];
    };
}

toys! {
    Net "net" Network Ownership::ByTag, tagged true, named false, anchor true, after &[];
    Group "group" Network Ownership::ByTag, tagged true, named false, anchor false, after &[];
    Role "role" Identity Ownership::ByName, tagged true, named true, anchor false, after &[];
    Template "template" Identity Ownership::ByTag, tagged true, named false, anchor false, after &[];
    Pool "pool" Nodes Ownership::ByName, tagged true, named true, anchor false, after &[];
    Log "log" Cluster Ownership::ByName, tagged true, named true, anchor false, after &["pool"];
    Part "part" Nodes Ownership::PartOf("pool"), tagged false, named false, anchor false, after &[];
    Data "data" Storage Ownership::Retained, tagged true, named true, anchor false, after &[];
    Bill "bill" Costs Ownership::Shared, tagged false, named true, anchor false, after &[];
}
