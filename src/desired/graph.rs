//! The wishes of a stack and how they lean on each other. Must never hold a wish twice.

use crate::{
    contract::{AnyKind, Kind, Layer},
    model::{Address, Doc, Identity, Tags, links},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// One wished object.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wish {
    pub address: Address,
    pub layer: Layer,
    /// The kind's `Desired`, with links by address.
    pub doc: Doc,
    /// Where in the stack file it comes from, or the rule that derives it: `network.natGateways: one`.
    pub because: String,
    /// Wishes that must be ready first though no link says so, each with the reason.
    pub after: BTreeMap<Address, String>,
    /// False for what a kept object (a bucket) becomes when the stack is destroyed.
    pub delete_with_stack: bool,
}

/// Every wish of a stack. Empty: the wish of `destroy`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct DesiredGraph {
    pub identity: Identity,
    /// Tags of every object that carries tags: ours but `infer-stack/resource`, and the user's.
    pub tags: Tags,
    /// Further tags of anchors: expiry and run.
    pub anchor_tags: Tags,
    pub wishes: BTreeMap<Address, Wish>,
}

impl DesiredGraph {
    pub fn empty(identity: Identity) -> Self {
        Self { identity, tags: Tags::new(), anchor_tags: Tags::new(), wishes: BTreeMap::new() }
    }

    /// Adds a wish of a kind. The same address twice is a fault of the layer that adds it.
    pub fn add(&mut self, kind: &dyn AnyKind, name: &str, doc: Doc, because: impl Into<String>) -> &mut Wish {
        let address = Address::new(kind.name(), name);
        debug_assert!(!self.wishes.contains_key(&address), "{address} is wished twice");
        let wish = Wish {
            address: address.clone(),
            layer: kind.layer(),
            doc,
            because: because.into(),
            after: BTreeMap::new(),
            delete_with_stack: true,
        };
        self.wishes.entry(address).insert_entry(wish).into_mut()
    }

    /// [`Self::add`] for a typed wish, under an address of `names`.
    pub fn wish<K: Kind>(
        &mut self,
        kind: &K,
        address: &Address,
        want: &K::Desired,
        because: impl Into<String>,
    ) -> &mut Wish {
        let doc = serde_json::to_value(want).expect("a wish serializes: it is plain data");
        self.add(kind, address.name(), doc, because)
    }

    /// What a wish waits for: the targets of its links and its stated `after`.
    pub fn needs(&self, address: &Address) -> BTreeSet<Address> {
        let Some(wish) = self.wishes.get(address) else { return BTreeSet::new() };
        links(&wish.doc).into_iter().map(|link| link.address).chain(wish.after.keys().cloned()).collect()
    }
}

impl Wish {
    pub fn after(&mut self, address: Address, reason: &str) -> &mut Self {
        self.after.insert(address, reason.to_owned());
        self
    }
}
