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

/// The catalogue with what the account says laid over it. One round of concurrent questions, and a second one only where
/// the answers say that a new cluster gets another version than the compiled facts do.
pub async fn gather(cloud: &dyn Cloud, spec: &Spec, snapshot: &Snapshot, circumstances: &Circumstances) -> Catalog {
    let mut asked = BTreeSet::<Fact>::new();
    let mut facts = Facts::default();
    let mut catalog = Catalog::with(facts.clone());
    loop {
        let needed = facts_needed(spec, snapshot, &catalog, circumstances);
        let new: Vec<Fact> = needed.into_iter().filter(|fact| !asked.contains(fact)).collect();
        if new.is_empty() {
            return catalog;
        }
        let answers = join_all(new.iter().map(|fact| cloud.ask(fact))).await;
        for (fact, answer) in new.iter().zip(answers) {
            facts.learn(fact, answer);
        }
        asked.extend(new);
        catalog = Catalog::with(facts.clone());
    }
}
