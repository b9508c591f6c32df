//! Asks everything at once. Must never judge, and must keep what could not be had as that.

use crate::{
    catalog::{Catalog, Facts},
    choose::{Circumstances, facts_needed},
    cloud::{Cloud, Fact},
    observed::Snapshot,
    stack::Spec,
};
use futures::future::join_all;
use std::collections::BTreeSet;

/// What was asked so far, so that a second look asks only what it needs more.
#[derive(Default)]
pub struct Inquiry {
    asked: BTreeSet<Fact>,
    facts: Facts,
}

impl Inquiry {
    /// One that has an answer already.
    pub fn knowing(fact: Fact, facts: Facts) -> Self {
        Self { asked: BTreeSet::from([fact]), facts }
    }

    /// The catalogue with what the account says laid over it. One round of concurrent questions, and a second one only
    /// where the answers say that a new cluster gets another version than the compiled facts do.
    pub async fn ask(
        &mut self,
        cloud: &dyn Cloud,
        spec: &Spec,
        snapshot: &Snapshot,
        circumstances: &Circumstances,
    ) -> Catalog {
        loop {
            let catalog = Catalog::with(self.facts.clone());
            let needed = facts_needed(spec, snapshot, &catalog, circumstances);
            let new: Vec<Fact> = needed.into_iter().filter(|fact| !self.asked.contains(fact)).collect();
            if new.is_empty() {
                return catalog;
            }
            let answers = join_all(new.iter().map(|fact| cloud.ask(fact))).await;
            for (fact, answer) in new.iter().zip(answers) {
                self.facts.learn(fact, answer);
            }
            self.asked.extend(new);
        }
    }
}

/// A first inquiry.
pub async fn gather(cloud: &dyn Cloud, spec: &Spec, snapshot: &Snapshot, circumstances: &Circumstances) -> Catalog {
    Inquiry::default().ask(cloud, spec, snapshot, circumstances).await
}
