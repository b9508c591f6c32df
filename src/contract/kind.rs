//! The contract of a resource kind, typed for its author and erased for the engine. Must never do input or output.

use crate::{
    contract::{Demand, Field},
    model::{Address, Doc, Outputs, PhysicalId, RESOURCE, Stamp, Tags},
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use std::borrow::Cow;

/// A document that does not fit the kind it is given to: always a fault of the program or of a saved file.
#[derive(Clone, Debug, thiserror::Error)]
#[error("{kind}: {message}")]
pub struct ShapeError {
    pub kind: &'static str,
    pub message: String,
}

/// How an object is known to be the stack's, and what destroy does with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ownership {
    /// Found by the stack's tags, which the create call sets.
    ByTag,
    /// Found by its deterministic name; its tags say whose it is.
    ByName,
    /// Carries no tag: belongs to whoever owns the parent of that kind.
    PartOf(&'static str),
    /// Belongs to the whole account (billing settings): made, never deleted.
    Shared,
    /// Kept by destroy unless told otherwise: data.
    Retained,
    /// Made inside the stack by AWS or a controller (instances, interfaces, volumes, balancers): listed and deleted, never wished for.
    Byproduct,
}

/// The part of a stack that an object belongs to, in the order people read a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Layer {
    Network,
    Identity,
    Cluster,
    Nodes,
    Storage,
    Serving,
    Costs,
}

/// How long the waiter waits for an object, in seconds.
#[derive(Clone, Copy, Debug)]
pub struct Patience {
    /// Between two reads.
    pub poll: u32,
    /// Without any change of wording in what it reports.
    pub stall: u32,
    pub total: u32,
    /// Good looks in a row before it is believed: the APIs are eventually consistent.
    pub streak: u32,
}

impl Patience {
    /// For objects that are there when the call returns.
    pub const INSTANT: Self = Self { poll: 1, stall: 60, total: 120, streak: 1 };

    pub const fn new(poll: u32, stall: u32, total: u32) -> Self {
        Self { poll, stall, total, streak: 1 }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", content = "why", rename_all = "camelCase")]
pub enum Readiness {
    Ready,
    /// On its way; the text is the news the waiter reports.
    Pending(String),
    /// Will not become ready by waiting.
    Broken(String),
}

/// A moment in an object's life, for [`Kind::imagine`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    Coming,
    There,
    /// An in-place change is running.
    Changing,
    Going,
}

/// How fields may change, as a wish has it.
pub type FieldsOf<Desired> = fn(&Desired) -> Vec<Field>;

/// One resource kind: data and pure functions. Its live half sits in the same file, behind a feature.
pub trait Kind: Send + Sync + 'static {
    /// In addresses, tags and reports; never changes once released. Lower case with dashes, like `security-group`.
    const NAME: &'static str;
    const LAYER: Layer;
    const OWNERSHIP: Ownership;
    /// One line a field.
    const FIELDS: &'static [Field];
    /// The field table of one wish, for kinds whose wish says how a field may change; others have [`Kind::FIELDS`].
    const FIELDS_OF: Option<FieldsOf<Self::Desired>> = None;
    const PATIENCE: Patience;
    /// False for what carries no tags; tags are then neither sent nor diffed.
    const TAGGED: bool = true;
    /// True for the stack's anchors, which carry [`crate::model::EXPIRES`] and [`crate::model::RUN`].
    const ANCHOR: bool = false;
    /// Kinds that must be gone before an object of this kind is deleted, though no link says so (a log group outlives its
    /// cluster, which writes to it until the end).
    const DELETED_AFTER: &'static [&'static str] = &[];
    /// What the AWS console and the receipt call it: `ec2:vpc`, `eks:cluster`.
    const AWS_NAME: &'static str;

    type Desired: Serialize + DeserializeOwned + Send + Sync + 'static;
    type Observed: Serialize + DeserializeOwned + Send + Sync + 'static;

    fn id(live: &Self::Observed) -> PhysicalId;
    fn tags(live: &Self::Observed) -> Tags;
    /// Values that others link to. `id` is always among them.
    fn outputs(live: &Self::Observed) -> Outputs;
    /// The live object in the words of the wish, without what AWS and controllers add by themselves.
    fn project(live: &Self::Observed) -> Self::Desired;
    fn ready(live: &Self::Observed) -> Readiness;
    /// A record of something that no longer exists (`deleted` gateways, `terminated` instances stay listed for an hour).
    fn gone(_live: &Self::Observed) -> bool {
        false
    }
    /// True while AWS is deleting it: not there for a wish, still there for a proof.
    fn going(_live: &Self::Observed) -> bool {
        false
    }
    /// The deterministic name that AWS keeps unique for this kind, where there is one: of a wish …
    fn wished_name(_want: &Self::Desired) -> Option<String> {
        None
    }
    /// … and of a live object.
    fn live_name(_live: &Self::Observed) -> Option<String> {
        None
    }
    /// The address that the live object claims. The default reads its tag; kinds without tags derive it from their parent.
    fn claims(live: &Self::Observed) -> Option<Address> {
        Self::tags(live).get(RESOURCE).and_then(|text| Address::parse(text).ok())
    }
    /// True for an untagged object that AWS itself makes under our name and that is taken over without `--adopt`.
    fn made_by_aws(_live: &Self::Observed) -> bool {
        false
    }
    /// One line for the plan: `10.64.0.0/16`, `2 × p5.48xlarge (0–8), placement group p5`.
    fn headline(want: &Self::Desired) -> String;
    /// The kind of what AWS starts on its behalf once it is there itself, and what is waited for with it.
    fn brings(_want: &Self::Desired) -> Option<&'static str> {
        None
    }
    fn demand(_want: &Self::Desired) -> Vec<Demand> {
        vec![]
    }
    /// What a wish must satisfy by itself, whoever built it: each sentence names a rule of AWS that it breaks.
    fn check(_want: &Self::Desired) -> Vec<String> {
        vec![]
    }
    /// Wishes with every optional field filled and every variant shown: the laws run over them. Links are `To`.
    fn samples() -> Vec<Self::Desired>;
    /// What AWS would show of `want` (links resolved) in a phase of its life: for the memory cloud and the laws.
    fn imagine(want: &Self::Desired, id: &str, stamp: &Stamp, phase: Phase) -> Self::Observed;
    /// The id that AWS would give: the deterministic name where there is one, else `serial` in AWS's form (`vpc-0…`).
    fn imagine_id(want: &Self::Desired, serial: &str) -> PhysicalId;
}

/// Everything the planner asks of one live object, in one typed pass.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Look {
    pub id: PhysicalId,
    pub name: Option<String>,
    pub claims: Option<Address>,
    pub tags: Tags,
    pub outputs: Outputs,
    pub projected: Doc,
    /// The kind's one line on it.
    pub headline: String,
    pub ready: Readiness,
    pub gone: bool,
    pub going: bool,
    pub made_by_aws: bool,
}

/// What a wish is called, in one typed pass.
#[derive(Clone, Debug, Default)]
pub struct Words {
    /// [`Kind::wished_name`]
    pub name: Option<String>,
    pub headline: String,
}

/// A kind behind documents, for planner, engine and clouds.
pub trait AnyKind: Send + Sync {
    fn name(&self) -> &'static str;
    fn aws_name(&self) -> &'static str;
    fn layer(&self) -> Layer;
    fn ownership(&self) -> Ownership;
    fn patience(&self) -> Patience;
    fn tagged(&self) -> bool;
    fn anchor(&self) -> bool;
    fn deleted_after(&self) -> &'static [&'static str];
    fn look(&self, live: &Doc) -> Result<Look, ShapeError>;
    fn words(&self, want: &Doc) -> Result<Words, ShapeError>;
    fn fields(&self, want: &Doc) -> Result<Cow<'static, [Field]>, ShapeError>;
    fn brings(&self, want: &Doc) -> Result<Option<&'static str>, ShapeError>;
    fn demand(&self, want: &Doc) -> Result<Vec<Demand>, ShapeError>;
    fn check(&self, want: &Doc) -> Result<Vec<String>, ShapeError>;
    fn samples(&self) -> Vec<Doc>;
    fn imagine(&self, want: &Doc, id: &str, stamp: &Stamp, phase: Phase) -> Result<Doc, ShapeError>;
    fn imagine_id(&self, want: &Doc, serial: &str) -> Result<PhysicalId, ShapeError>;
}

fn typed<T: DeserializeOwned>(kind: &'static str, doc: &Doc) -> Result<T, ShapeError> {
    T::deserialize(doc).map_err(|e| ShapeError { kind, message: e.to_string() })
}

fn erased<T: Serialize>(kind: &'static str, value: &T) -> Result<Doc, ShapeError> {
    serde_json::to_value(value).map_err(|e| ShapeError { kind, message: e.to_string() })
}

impl<K: Kind> AnyKind for K {
    fn name(&self) -> &'static str {
        K::NAME
    }
    fn aws_name(&self) -> &'static str {
        K::AWS_NAME
    }
    fn layer(&self) -> Layer {
        K::LAYER
    }
    fn ownership(&self) -> Ownership {
        K::OWNERSHIP
    }
    fn patience(&self) -> Patience {
        K::PATIENCE
    }
    fn tagged(&self) -> bool {
        K::TAGGED
    }
    fn anchor(&self) -> bool {
        K::ANCHOR
    }
    fn deleted_after(&self) -> &'static [&'static str] {
        K::DELETED_AFTER
    }
    fn look(&self, live: &Doc) -> Result<Look, ShapeError> {
        let live: K::Observed = typed(K::NAME, live)?;
        let projected = K::project(&live);
        Ok(Look {
            id: K::id(&live),
            name: K::live_name(&live),
            claims: K::claims(&live),
            tags: K::tags(&live),
            outputs: K::outputs(&live),
            projected: erased(K::NAME, &projected)?,
            headline: K::headline(&projected),
            ready: K::ready(&live),
            gone: K::gone(&live),
            going: K::going(&live),
            made_by_aws: K::made_by_aws(&live),
        })
    }
    fn words(&self, want: &Doc) -> Result<Words, ShapeError> {
        let want = typed(K::NAME, want)?;
        Ok(Words { name: K::wished_name(&want), headline: K::headline(&want) })
    }
    fn fields(&self, want: &Doc) -> Result<Cow<'static, [Field]>, ShapeError> {
        Ok(match K::FIELDS_OF {
            Some(of) => Cow::Owned(of(&typed(K::NAME, want)?)),
            None => Cow::Borrowed(K::FIELDS),
        })
    }
    fn brings(&self, want: &Doc) -> Result<Option<&'static str>, ShapeError> {
        Ok(K::brings(&typed(K::NAME, want)?))
    }
    fn demand(&self, want: &Doc) -> Result<Vec<Demand>, ShapeError> {
        Ok(K::demand(&typed(K::NAME, want)?))
    }
    fn check(&self, want: &Doc) -> Result<Vec<String>, ShapeError> {
        Ok(K::check(&typed(K::NAME, want)?))
    }
    fn samples(&self) -> Vec<Doc> {
        K::samples().iter().map(|s| erased(K::NAME, s).expect("a sample serializes: it is plain data")).collect()
    }
    fn imagine(&self, want: &Doc, id: &str, stamp: &Stamp, phase: Phase) -> Result<Doc, ShapeError> {
        erased(K::NAME, &K::imagine(&typed(K::NAME, want)?, id, stamp, phase))
    }
    fn imagine_id(&self, want: &Doc, serial: &str) -> Result<PhysicalId, ShapeError> {
        Ok(K::imagine_id(&typed(K::NAME, want)?, serial))
    }
}
