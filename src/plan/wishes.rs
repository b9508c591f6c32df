//! The wishes of a plan with their needs as indices, and an order in which targets come first. Must never look at live state.

use super::{Options, explain, world::Kinds};
use crate::{
    contract::{AnyKind, ShapeError, Words},
    desired::{DesiredGraph, Wish},
    model::{Address, LinkRef, each_link},
};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap, HashMap, HashSet},
};

pub(super) struct Wishes<'a> {
    all: Vec<&'a Wish>,
    index: HashMap<&'a str, usize>,
    kinds: Vec<Option<&'static dyn AnyKind>>,
    words: Vec<Result<Words, ShapeError>>,
    /// Targets of links and of `after`, itself excepted: by address, which is by index.
    needs: Vec<Vec<usize>>,
    /// Those of `needs` that a link asks for, in the same order.
    linked: Vec<Vec<usize>>,
    needed_by: Vec<Vec<usize>>,
    /// A target that is no wish of the graph: a fault of the layer that wished.
    outside: Vec<Option<Address>>,
}

impl<'a> Wishes<'a> {
    /// The wishes that the options select.
    pub fn new(graph: &'a DesiredGraph, options: &'a Options, kinds: &Kinds) -> Self {
        let selected: BTreeSet<&Address> = match options.only.is_empty() {
            true => graph.wishes.keys().collect(),
            false => closure(graph, &options.only),
        };
        let all: Vec<&Wish> = graph.wishes.values().filter(|wish| selected.contains(&wish.address)).collect();
        let index: HashMap<&str, usize> = all.iter().enumerate().map(|(w, wish)| (wish.address.as_str(), w)).collect();
        let kinds: Vec<_> = all.iter().map(|wish| kinds.get(wish.address.kind()).copied()).collect();
        let words = |(kind, wish): (&Option<&dyn AnyKind>, &&Wish)| {
            kind.map_or_else(|| Ok(Words::default()), |kind| kind.words(&wish.doc))
        };
        let mut wishes = Wishes {
            words: kinds.iter().zip(&all).map(words).collect(),
            kinds,
            needs: vec![vec![]; all.len()],
            linked: vec![vec![]; all.len()],
            needed_by: vec![vec![]; all.len()],
            outside: vec![None; all.len()],
            all,
            index,
        };
        for w in 0..wishes.all.len() {
            let wish = wishes.all[w];
            let mut find = |target: &str| {
                let found = wishes.index.get(target).copied();
                if found.is_none() {
                    wishes.outside[w] = Address::parse(target).ok();
                }
                found.filter(|found| *found != w)
            };
            let mut linked = vec![];
            targets(wish, &mut |target| linked.extend(find(target)));
            let mut needs: Vec<usize> = wish.after.keys().filter_map(|target| find(target.as_str())).collect();
            linked.sort_unstable();
            linked.dedup();
            needs.extend(&linked);
            needs.sort_unstable();
            needs.dedup();
            needs.iter().for_each(|target| wishes.needed_by[*target].push(w));
            (wishes.needs[w], wishes.linked[w]) = (needs, linked);
        }
        wishes
    }

    pub fn len(&self) -> usize {
        self.all.len()
    }

    pub fn iter(&self) -> impl Iterator<Item = &'a Wish> {
        self.all.iter().copied()
    }

    pub fn get(&self, w: usize) -> &'a Wish {
        self.all[w]
    }

    pub fn kind(&self, w: usize) -> Option<&'static dyn AnyKind> {
        self.kinds[w]
    }

    /// What its kind calls a wish; nothing for a kind that is not known.
    pub fn words(&self, w: usize) -> Result<&Words, &ShapeError> {
        self.words[w].as_ref()
    }

    /// By the text of an address.
    pub fn index(&self, address: &str) -> Option<usize> {
        self.index.get(address).copied()
    }

    pub fn needs(&self, w: usize) -> &[usize] {
        &self.needs[w]
    }

    /// True when a wish links to another, and does not only wait for it.
    pub fn links(&self, w: usize, target: usize) -> bool {
        self.linked[w].binary_search(&target).is_ok()
    }

    pub fn outside(&self, w: usize) -> Option<&Address> {
        self.outside[w].as_ref()
    }

    /// Every wish after all that it needs, by address where nothing else decides; at the end circles and what needs them.
    pub fn order(&self) -> Vec<usize> {
        let mut missing: Vec<usize> = self.needs.iter().map(Vec::len).collect();
        let mut free: BinaryHeap<Reverse<usize>> = (0..self.len()).filter(|w| missing[*w] == 0).map(Reverse).collect();
        let mut order = Vec::with_capacity(self.len());
        while let Some(Reverse(w)) = free.pop() {
            order.push(w);
            for dependent in &self.needed_by[w] {
                missing[*dependent] -= 1;
                if missing[*dependent] == 0 {
                    free.push(Reverse(*dependent));
                }
            }
        }
        order.extend((0..self.len()).filter(|w| missing[*w] > 0));
        order
    }

    /// Why members of a circle of needs, and all that need them, can never be made.
    pub fn circles(&self) -> HashMap<usize, String> {
        let edges =
            self.needs.iter().enumerate().flat_map(|(w, needs)| needs.iter().map(move |t| (w as u32, *t as u32)));
        let graph = DiGraph::<(), (), u32>::from_edges(edges);
        let mut circles = HashMap::new();
        for members in tarjan_scc(&graph).into_iter().filter(|members| members.len() > 1) {
            let members: BTreeSet<usize> = members.into_iter().map(|node| node.index()).collect();
            let addresses: Vec<&Address> = members.iter().map(|w| &self.all[*w].address).collect();
            for w in self.downstream(members.iter().copied()) {
                let reason =
                    if members.contains(&w) { explain::circle(&addresses) } else { explain::waits_for(addresses[0]) };
                circles.entry(w).or_insert(reason);
            }
        }
        circles
    }

    /// These wishes and all that need them.
    pub fn downstream(&self, seeds: impl IntoIterator<Item = usize>) -> HashSet<usize> {
        let mut found: HashSet<usize> = HashSet::new();
        let mut queue: Vec<usize> = seeds.into_iter().collect();
        while let Some(w) = queue.pop() {
            if found.insert(w) {
                queue.extend(&self.needed_by[w]);
            }
        }
        found
    }
}

/// The targets of a wish's links, each as often as it is linked to.
fn targets<'a>(wish: &'a Wish, visit: &mut dyn FnMut(&'a str)) {
    each_link(&wish.doc, &mut |_, link| {
        if let LinkRef::To { address, .. } = link {
            visit(address);
        }
    });
}

fn closure<'a>(graph: &'a DesiredGraph, seeds: &'a BTreeSet<Address>) -> BTreeSet<&'a Address> {
    let mut found = BTreeSet::new();
    let mut queue: Vec<&str> = seeds.iter().map(Address::as_str).collect();
    while let Some(address) = queue.pop() {
        if let Some((address, wish)) = graph.wishes.get_key_value(address)
            && found.insert(address)
        {
            targets(wish, &mut |target| queue.push(target));
            queue.extend(wish.after.keys().map(Address::as_str));
        }
    }
    found
}
