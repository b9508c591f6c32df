//! What was seen of a stack at one moment, as plain data. Must never treat an error as emptiness.

use crate::{
    contract::{CloudError, Look},
    model::{Address, Doc, Scope},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// One live object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Live {
    /// Name of its kind.
    pub kind: String,
    pub look: Look,
    /// The observed document, as the kind's live half gave it.
    pub doc: Doc,
}

/// What a look at one kind brought.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Sight {
    Seen(Vec<Live>),
    /// Could not look: neither there nor not there.
    Blind(CloudError),
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Snapshot {
    /// RFC 3339.
    pub taken_at: String,
    pub scope: Scope,
    /// By name of the kind; a kind that is not in the map was not looked at.
    pub sights: BTreeMap<String, Sight>,
}

impl Snapshot {
    /// Every object seen of a kind, `gone` records included.
    pub fn seen(&self, kind: &str) -> &[Live] {
        match self.sights.get(kind) {
            Some(Sight::Seen(live)) => live,
            _ => &[],
        }
    }

    /// Every object seen, kind by kind.
    pub fn objects(&self) -> impl Iterator<Item = &Live> {
        self.sights.values().flat_map(|sight| match sight {
            Sight::Seen(live) => live.as_slice(),
            Sight::Blind(_) => &[],
        })
    }

    /// The objects that exist and claim this address in this stack (two, when a lost answer made a twin).
    pub fn at<'a>(&'a self, address: &'a Address) -> impl Iterator<Item = &'a Live> {
        self.seen(address.kind())
            .iter()
            .filter(move |live| !live.look.gone && live.look.claims.as_ref() == Some(address))
    }

    /// Kinds that could not be looked at, with why.
    pub fn blind(&self) -> impl Iterator<Item = (&str, &CloudError)> {
        self.sights.iter().filter_map(|(kind, sight)| match sight {
            Sight::Blind(error) => Some((kind.as_str(), error)),
            Sight::Seen(_) => None,
        })
    }
}
