//! The live objects of a snapshot, indexed once: whose they are, what they claim, and who leans on whom. Must never scan all
//! objects for one.

use super::diff::{field_at, normal};
use crate::{
    contract::{AnyKind, Change, Look, Ownership, Readiness},
    model::{Address, Doc, Identity, LinkRef, REGION, STACK, each_link, links},
    observed::{Sight, Snapshot},
};
use std::collections::{BTreeMap, BTreeSet, HashMap, hash_map::Entry};

pub(super) type Kinds = HashMap<&'static str, &'static dyn AnyKind>;

/// Whose an object is, by its tags.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Owner {
    Ours,
    /// Another stack, in words.
    Other(String),
    /// No tag says so, or only half of the stack's tags are left.
    Nobody,
}

pub(super) struct Object<'a> {
    pub kind: &'static dyn AnyKind,
    pub look: &'a Look,
    pub owner: Owner,
}

impl Object<'_> {
    pub fn ours(&self) -> bool {
        self.owner == Owner::Ours
    }

    /// The address it claims, else one made of its kind and what AWS calls it.
    pub fn address(&self) -> Address {
        self.claim()
            .cloned()
            .unwrap_or_else(|| Address::new(self.kind.name(), self.look.name.as_deref().unwrap_or(&self.look.id)))
    }

    /// A claim counts only where it is of the object's own kind: a tag can be edited.
    fn claim(&self) -> Option<&Address> {
        self.look.claims.as_ref().filter(|address| address.kind() == self.kind.name())
    }
}

/// One link between two live objects.
#[derive(Clone, Debug)]
pub(super) struct Lean<'a> {
    pub from: usize,
    pub to: usize,
    pub value: &'a str,
    /// While it stands, AWS refuses to delete the target.
    pub holds: bool,
}

/// Objects and their outputs that have one value; nearly always one.
struct Offers<'a> {
    first: (usize, &'a str),
    further: Vec<(usize, &'a str)>,
}

impl<'a> Offers<'a> {
    fn iter(&self) -> impl Iterator<Item = &(usize, &'a str)> {
        std::iter::once(&self.first).chain(&self.further)
    }
}

#[derive(Default)]
pub(super) struct World<'a> {
    pub objects: Vec<Object<'a>>,
    /// Ids of records of what no longer exists, by the address they claimed.
    pub gone: BTreeMap<Address, BTreeSet<String>>,
    by_claim: HashMap<&'a Address, Vec<usize>>,
    by_name: HashMap<&'static str, HashMap<&'a str, Vec<usize>>>,
    /// Objects that carry the address but not the whole of the stack's other tags.
    by_lost_claim: HashMap<&'a Address, Vec<usize>>,
    by_normal: HashMap<(&'static str, Doc), Vec<usize>>,
    /// In the order of their sources.
    leans: Vec<Lean<'a>>,
    leans_by_target: Vec<Vec<usize>>,
}

impl<'a> World<'a> {
    pub fn new(identity: &Identity, snapshot: &'a Snapshot, kinds: &Kinds) -> Self {
        let mut world = World::default();
        for (name, sight) in &snapshot.sights {
            let (Some(kind), Sight::Seen(seen)) = (kinds.get(name.as_str()), sight) else { continue };
            for live in seen {
                world.add(*kind, &live.look, owner(identity, *kind, &live.look));
            }
        }
        world.lean();
        world.index_lost(snapshot.scope.vpc.as_deref());
        world
    }

    fn add(&mut self, kind: &'static dyn AnyKind, look: &'a Look, owner: Owner) {
        let object = Object { kind, look, owner };
        let claim = look.claims.as_ref().filter(|address| object.ours() && address.kind() == kind.name());
        if look.gone {
            if let Some(address) = claim {
                self.gone.entry(address.clone()).or_default().insert(look.id.clone());
            }
            return;
        }
        let at = self.objects.len();
        if kind.ownership() != Ownership::Byproduct {
            if let Some(address) = claim {
                self.by_claim.entry(address).or_default().push(at);
            }
            if let Some(name) = &look.name {
                self.by_name.entry(kind.name()).or_default().entry(name).or_default().push(at);
            }
        }
        self.objects.push(object);
    }

    /// Finds who leans on whom: the ids in every projection, looked up among the outputs of all objects.
    fn lean(&mut self) {
        let mut offers: HashMap<&'a str, Offers<'a>> = HashMap::new();
        for (at, object) in self.objects.iter().enumerate() {
            for (output, value) in &object.look.outputs {
                match offers.entry(value) {
                    Entry::Vacant(free) => {
                        free.insert(Offers { first: (at, output), further: vec![] });
                    }
                    Entry::Occupied(mut taken) => taken.get_mut().further.push((at, output)),
                }
            }
        }
        let mut targets: HashMap<&'static str, Targets> = HashMap::new();
        let mut leans = vec![];
        for (from, object) in self.objects.iter().enumerate() {
            let mut fields = None;
            each_link(&object.look.projected, &mut |path, link| {
                let LinkRef::Is(value) = link else { return };
                let Some(offers) = offers.get(value) else { return };
                let fields = fields.get_or_insert_with(|| object.kind.fields(&object.look.projected));
                let Ok(fields) = fields else { return };
                let targets = targets.entry(object.kind.name()).or_insert_with(|| targets_of(object.kind));
                let field = field_at(fields, path);
                let allowed = field.and_then(|field| targets.get(field.at));
                let holds = field.is_some_and(|field| field.change == Change::Immutable || field.holds);
                for &(to, output) in offers.iter() {
                    // A short name (`p5`) may be an output of several kinds: the kind's samples say which is meant.
                    let meant = allowed.is_none_or(|allowed| {
                        allowed.iter().any(|(kind, out)| kind == self.objects[to].kind.name() && out == output)
                    });
                    if meant && to != from {
                        leans.push(Lean { from, to, value, holds });
                    }
                }
            });
        }
        self.leans_by_target = vec![vec![]; self.objects.len()];
        for (i, lean) in leans.iter().enumerate() {
            self.leans_by_target[lean.to].push(i);
        }
        self.leans = leans;
    }

    /// Objects without an owner that lean on something of ours, or are the network that the cluster stands in: ours, with
    /// lost tags, where a wish says the same as they do.
    fn index_lost(&mut self, vpc: Option<&str>) {
        let near: BTreeSet<usize> =
            self.leans.iter().filter(|lean| self.objects[lean.to].ours()).map(|lean| lean.from).collect();
        for (at, object) in self.objects.iter().enumerate() {
            let lost = match object.owner {
                Owner::Nobody => near.contains(&at) || vpc == Some(object.look.id.as_str()),
                Owner::Ours => object.claim().is_none(),
                Owner::Other(_) => false,
            };
            if !lost || object.kind.ownership() == Ownership::Byproduct || !object.kind.tagged() {
                continue;
            }
            if let Some(address) = object.look.claims.as_ref().filter(|address| address.kind() == object.kind.name()) {
                self.by_lost_claim.entry(address).or_default().push(at);
            } else if let Ok(fields) = object.kind.fields(&object.look.projected) {
                let key = (object.kind.name(), normal(&object.look.projected, &fields));
                self.by_normal.entry(key).or_default().push(at);
            }
        }
    }

    pub fn claiming(&self, address: &Address) -> &[usize] {
        self.by_claim.get(address).map_or(&[], Vec::as_slice)
    }

    pub fn named(&self, kind: &'static str, name: &str) -> &[usize] {
        self.by_name.get(kind).and_then(|names| names.get(name)).map_or(&[], Vec::as_slice)
    }

    /// Objects of ours that lost their tags and stand where the wish wants one.
    pub fn lost(&self, address: &Address, kind: &'static dyn AnyKind, want: &Doc) -> &[usize] {
        if let Some(found) = self.by_lost_claim.get(address) {
            return found;
        }
        if self.by_normal.is_empty() {
            return &[];
        }
        let Ok(fields) = kind.fields(want) else { return &[] };
        self.by_normal.get(&(kind.name(), normal(want, &fields))).map_or(&[], Vec::as_slice)
    }

    /// Links that start at an object.
    pub fn leans_of(&self, object: usize) -> &[Lean<'a>] {
        let start = self.leans.partition_point(|lean| lean.from < object);
        let end = self.leans.partition_point(|lean| lean.from <= object);
        &self.leans[start..end]
    }

    /// Links that end at an object.
    pub fn leaning_on(&self, object: usize) -> impl Iterator<Item = &Lean<'a>> {
        self.leans_by_target[object].iter().map(|i| &self.leans[*i])
    }

    /// True when to delete the object stops something: others lean on it, or it runs or stores something itself. What is
    /// broken or being deleted runs nothing.
    pub fn runs(&self, object: usize) -> bool {
        use crate::contract::Layer::{Cluster, Nodes, Serving, Storage};
        let Object { kind, look, .. } = &self.objects[object];
        if look.going || matches!(look.ready, Readiness::Broken(_)) {
            return false;
        }
        matches!(kind.layer(), Cluster | Nodes | Storage | Serving) || self.leaning_on(object).next().is_some()
    }
}

fn owner(identity: &Identity, kind: &dyn AnyKind, look: &Look) -> Owner {
    if !kind.tagged() {
        // What can't be tagged is ours by its parent, which its claim is read from.
        return if look.claims.is_some() { Owner::Ours } else { Owner::Nobody };
    }
    let tags = &look.tags;
    match (tags.get(STACK), tags.get(REGION)) {
        (Some(stack), Some(region)) if *region != identity.region => Owner::Other(format!("`{stack}` in {region}")),
        (Some(stack), _) if *stack != identity.stack => Owner::Other(format!("`{stack}`")),
        (Some(_), Some(_)) => Owner::Ours,
        _ => Owner::Nobody,
    }
}

/// What the links of a kind may point at, by the path of their field: kinds and outputs, from its samples.
type Targets = HashMap<&'static str, BTreeSet<(String, String)>>;

fn targets_of(kind: &dyn AnyKind) -> Targets {
    let mut targets = Targets::new();
    for sample in kind.samples() {
        let Ok(fields) = kind.fields(&sample) else { continue };
        for link in links(&sample) {
            if let Some(field) = field_at(&fields, &link.path) {
                targets.entry(field.at).or_default().insert((link.address.kind().to_owned(), link.output));
            }
        }
    }
    targets
}

/// Kinds that objects of a kind may link to, from its samples.
pub(super) fn target_kinds(kind: &dyn AnyKind) -> BTreeSet<String> {
    targets_of(kind).into_values().flatten().map(|(kind, _)| kind).collect()
}
