//! What every finder says, and whose the things are that it finds. Must never take somebody else's thing for ours because it
//! has a familiar name.

use crate::{
    contract::{AnyKind, Ownership, Readiness},
    model::{Doc, Identity, STACK, Scope},
    observed::Live,
    stack::names,
};

/// Ways of finding, as the receipt says them.
pub const STACK_TAG: &str = "tag infer-stack/stack";
pub const CLUSTER_TAG: &str = "tags of the cluster";
pub const VPC: &str = "vpc";
pub const NAME: &str = "name";

/// One file of `leftovers/` says one or a few of these.
#[derive(Clone, Copy, Debug)]
pub struct Finder {
    /// Name of the kind that is listed.
    pub kind: &'static str,
    pub found_by: &'static [&'static str],
    /// What the sweep does with one that no plan deletes; `None`: plans delete them all.
    pub sweep: Option<fn(&Live) -> Sweep>,
    /// False where what it brings is found, and billed, by itself.
    pub bills: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sweep {
    /// It ends with what it hangs on.
    Wait,
    Delete,
}

impl Finder {
    pub const fn new(kind: &'static str, found_by: &'static [&'static str]) -> Self {
        Self { kind, found_by, sweep: None, bills: true }
    }

    pub const fn swept(mut self, sweep: fn(&Live) -> Sweep) -> Self {
        self.sweep = Some(sweep);
        self
    }

    pub const fn billed_elsewhere(mut self) -> Self {
        self.bills = false;
        self
    }
}

/// True for what is the stack's among the things that a list in its scope shows. What lies in the stack's own VPC or carries
/// a controller's tag needs no tag of ours; what was only found by its name does.
pub fn is_ours(kind: &dyn AnyKind, live: &Live, identity: &Identity) -> bool {
    if live.look.gone {
        return false;
    }
    match live.look.tags.get(STACK) {
        Some(_) => identity.owns(&live.look.tags),
        None => match kind.ownership() {
            Ownership::ByName | Ownership::Retained => live.look.made_by_aws,
            Ownership::ByTag | Ownership::PartOf(_) | Ownership::Byproduct | Ownership::Shared => true,
        },
    }
}

/// True for what a plan deletes: it claims a place in the stack.
pub fn is_claimed(kind: &dyn AnyKind, live: &Live, identity: &Identity) -> bool {
    kind.ownership() != Ownership::Byproduct
        && live.look.claims.is_some()
        && (live.look.tags.is_empty() || identity.owns(&live.look.tags))
}

/// In AWS's word where it has one.
pub fn state(live: &Live) -> String {
    let said = ["state", "status", "lifecycle"].iter().find_map(|key| live.doc.get(*key).and_then(Doc::as_str));
    if let Some(state) = said {
        return state.to_owned();
    }
    match &live.look.ready {
        _ if live.look.going => "deleting".to_owned(),
        Readiness::Ready => "there".to_owned(),
        Readiness::Pending(why) | Readiness::Broken(why) => why.clone(),
    }
}

/// The scope with the names under which AWS itself writes, whatever a stack file says.
pub fn widened(scope: &Scope) -> Scope {
    let mut scope = scope.clone();
    let identity = scope.identity.clone();
    for (kind, name) in [
        ("cluster", names::cluster_name(&identity)),
        ("log-group", names::log_group_name(&identity)),
        ("queue", names::queue_name(&identity)),
    ] {
        let all = scope.names.entry(kind.to_owned()).or_default();
        if !all.contains(&name) {
            all.push(name);
        }
    }
    scope
}
