//! The wishes of a plan with their needs as indices, and an order in which targets come first. Must never look at live state.

use super::{Options, explain, world::Kinds};
use crate::{
    contract::AnyKind,
    desired::{DesiredGraph, Wish},
    model::{Address, links},
};
use petgraph::{algo::tarjan_scc, graph::DiGraph};
use std::{
    cmp::Reverse,
    collections::{BTreeSet, BinaryHeap, HashMap, HashSet},
};

pub(super) struct Wishes<'a> {
    all: Vec<&'a Wish>,
    kinds: Vec<Option<&'static dyn AnyKind>>,
    index: HashMap<&'a Address, usize>,
    /// Targets of links and of `after`, itself excepted.
    needs: Vec<Vec<usize>>,
    /// Those of `needs` that a link asks for.
    linked: Vec<HashSet<usize>>,
    needed_by: Vec<Vec<usize>>,
    /// A target that is no wish of the graph: a fault of the layer that wished.
    outside: Vec<Option<Address>>,
}

impl<'a> Wishes<'a> {
    /// The wishes that the options select.
    pub fn new(graph: &'a DesiredGraph, options: &Options, kinds: &Kinds) -> Self {
        let selected: BTreeSet<&Address> = match options.only.is_empty() {
            true => graph.wishes.keys().collect(),
            false => closure(graph, &options.only),
        };
        let all: Vec<&Wish> = graph.wishes.values().filter(|wish| selected.contains(&wish.address)).collect();
        let index: HashMap<&Address, usize> = all.iter().enumerate().map(|(w, wish)| (&wish.address, w)).collect();
        let mut wishes = Wishes {
            kinds: all.iter().map(|wish| kinds.get(wish.address.kind()).copied()).collect(),
            needs: vec![vec![]; all.len()],
            linked: vec![HashSet::new(); all.len()],
            needed_by: vec![vec![]; all.len()],
            outside: vec![None; all.len()],
            all,
            index,
        };
        for w in 0..wishes.all.len() {
            let wish = wishes.all[w];
            let linked = linked(wish);
            wishes.linked[w] = linked.iter().filter_map(|target| wishes.index.get(target).copied()).collect();
            for target in needs(wish, linked) {
                match wishes.index.get(&target) {
                    Some(t) => {
                        wishes.needs[w].push(*t);
                        wishes.needed_by[*t].push(w);
                    }
                    None => wishes.outside[w] = Some(target),
                }
            }
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

    pub fn index(&self, address: &Address) -> Option<usize> {
        self.index.get(address).copied()
    }

    pub fn needs(&self, w: usize) -> &[usize] {
        &self.needs[w]
    }

    /// True when a wish links to another, and does not only wait for it.
    pub fn links(&self, w: usize, target: usize) -> bool {
        self.linked[w].contains(&target)
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

fn linked(wish: &Wish) -> BTreeSet<Address> {
    links(&wish.doc).into_iter().map(|link| link.address).collect()
}

fn needs(wish: &Wish, linked: BTreeSet<Address>) -> BTreeSet<Address> {
    let mut targets = linked;
    targets.extend(wish.after.keys().cloned());
    targets.remove(&wish.address);
    targets
}

fn closure<'a>(graph: &'a DesiredGraph, seeds: &BTreeSet<Address>) -> BTreeSet<&'a Address> {
    let mut found = BTreeSet::new();
    let mut queue: Vec<Address> = seeds.iter().cloned().collect();
    while let Some(address) = queue.pop() {
        if let Some((address, wish)) = graph.wishes.get_key_value(&address)
            && found.insert(address)
        {
            queue.extend(needs(wish, linked(wish)));
        }
    }
    found
}
