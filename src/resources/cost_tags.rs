//! Cost allocation tags of the account: which tag keys billing splits by. Must never deactivate one: other stacks count on it.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Outputs, PhysicalId, Stamp, Tags},
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub struct CostTags;

/// The settings have no id of their own: there is one set an account.
pub const ID: &str = "cost-allocation-tags";

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// Tag keys.
    pub active: BTreeSet<String>,
    /// 0–12, reached back once, with the call that activates. AWS takes one a day.
    pub backfill_months: u32,
}

/// What billing knows of the keys that were asked about (ce ListCostAllocationTags).
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    /// The names of the scope for this kind. Billing lists a key up to a day after the first object that carries it, so one of
    /// these that has no status is pending.
    pub asked: BTreeSet<String>,
    pub statuses: BTreeMap<String, Status>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Status {
    Active,
    Inactive,
}

impl Observed {
    /// Keys that billing has not seen yet: they can't be activated, and by tomorrow they can.
    pub fn pending(&self) -> impl Iterator<Item = &String> {
        self.asked.iter().filter(|key| !self.statuses.contains_key(*key))
    }
}

/// The name of a set of keys: how `list`, which sees no wish, learns which keys are meant.
pub fn name_of(keys: &BTreeSet<String>) -> String {
    keys.iter().map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// The keys behind a name of [`name_of`].
pub fn keys_of(name: &str) -> BTreeSet<String> {
    name.lines().map(str::to_owned).collect()
}

impl Kind for CostTags {
    const NAME: &'static str = "cost-tags";
    const LAYER: Layer = Layer::Costs;
    const OWNERSHIP: Ownership = Ownership::Shared;
    const FIELDS: &'static [Field] = &[
        Field::in_place("/active").set(),
        // The history of back-fills tells dates, not months: that it was asked for once is all that can be known.
        Field::create_only("/backfillMonths"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;
    const TAGGED: bool = false;
    const AWS_NAME: &'static str = "ce:cost-allocation-tags";

    type Desired = Desired;
    type Observed = Observed;

    fn id(_live: &Observed) -> PhysicalId {
        ID.to_owned()
    }
    fn tags(_live: &Observed) -> Tags {
        Tags::new()
    }
    fn outputs(_live: &Observed) -> Outputs {
        [("id".to_owned(), ID.to_owned())].into()
    }
    /// Of the keys asked about, those that are active or can't be yet; others of the account are nobody's business.
    fn project(live: &Observed) -> Desired {
        let settled = |key: &&String| live.statuses.get(*key) != Some(&Status::Inactive);
        Desired { active: live.asked.iter().filter(settled).cloned().collect(), backfill_months: 0 }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(name_of(&want.active))
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(name_of(&live.asked))
    }
    fn claims(_live: &Observed) -> Option<Address> {
        Some(Address::new(Self::NAME, "account"))
    }
    /// Every account has these settings.
    fn made_by_aws(_live: &Observed) -> bool {
        true
    }
    fn headline(want: &Desired) -> String {
        let keys = want.active.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        match want.backfill_months {
            0 => format!("activate {keys}"),
            n => format!("activate {keys}, back-filled {n} months"),
        }
    }
    fn check(want: &Desired) -> Vec<String> {
        if want.backfill_months > 12 {
            return vec!["billing reaches back 12 months at most".to_owned()];
        }
        vec![]
    }
    fn samples() -> Vec<Desired> {
        let active = ["environment", "model", "workload"].map(str::to_owned).into();
        vec![Desired { active, backfill_months: 12 }]
    }
    fn imagine(want: &Desired, _id: &str, _stamp: &Stamp, _phase: Phase) -> Observed {
        let statuses = want.active.iter().map(|key| (key.clone(), Status::Active)).collect();
        Observed { asked: want.active.clone(), statuses }
    }
    fn imagine_id(_want: &Desired, _serial: &str) -> PhysicalId {
        ID.to_owned()
    }
}
