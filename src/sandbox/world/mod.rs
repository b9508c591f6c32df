//! What exists in the simulated account and how it behaves: one folder or file a service area, each a table of handlers over
//! plain data. Must never know who asks: whatever AWS would refuse is refused here, whoever sends it.

pub mod autoscaling;
pub mod compute;
mod context;
pub mod ec2;
pub mod eks;
mod filter;
pub mod identity;
pub mod limits;
pub mod load_balancing;
pub mod network;
mod page;
pub mod tags;
mod time;
mod tokens;

pub use context::{Context, Output};
pub use filter::{keep, matches};
pub use page::page;
pub use time::{Deed, Moment};

use crate::{cloud::memory::Scenario, sandbox::wire::Fault};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// One operation: reads the checked input, changes the world, gives the output by the model's names.
pub type Handler = fn(&mut World, &Context) -> Result<Output, Fault>;

/// The operations of an area: service, operation, handler.
pub type Table = &'static [(&'static str, &'static str, Handler)];

/// Every area's table. An operation that stands in none answers as AWS does to an unknown action.
static TABLES: &[Table] = &[
    tags::TABLE,
    network::TABLE,
    load_balancing::TABLE,
    compute::TABLE,
    autoscaling::TABLE,
    eks::TABLE,
    identity::TABLE,
];

/// Everything that exists. Areas keep their own state; what several areas need is here.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct World {
    pub account: String,
    pub scenario: Scenario,
    /// The moment of the call that is answered, or of the deed that happens.
    pub now: Moment,
    serial: u64,
    due: BTreeMap<(Moment, u64), Deed>,
    tokens: tokens::Remembered,
    /// Every object of EC2 with its tags, whatever its area.
    pub(super) ec2_objects: tags::Registry,
    compute: compute::Compute,
    eks: eks::Eks,
    identity: identity::Identity,
    network: network::Network,
    load_balancing: load_balancing::Balancing,
    scaling: autoscaling::Scaling,
}

impl World {
    pub fn new(account: &str, scenario: Scenario, now: Moment) -> Self {
        let identity = identity::Identity::new(account, &scenario, now);
        Self {
            account: account.to_owned(),
            scenario,
            now,
            serial: 0,
            due: BTreeMap::new(),
            tokens: tokens::Remembered::default(),
            ec2_objects: tags::Registry::default(),
            compute: compute::Compute::default(),
            eks: eks::Eks::default(),
            identity,
            network: network::Network::default(),
            load_balancing: load_balancing::Balancing::default(),
            scaling: autoscaling::Scaling::default(),
        }
    }

    /// Answers one call at a moment: first whatever is due by then happens, in its order.
    pub fn answer(&mut self, now: Moment, context: &Context) -> Result<Output, Fault> {
        self.advance(now);
        let handler = handler(context.service, context.operation).ok_or_else(|| context.unknown_action())?;
        if context.flag("DryRun") == Some(true) {
            return Err(self.rehearse(handler, context));
        }
        handler(self, context)
    }

    /// Hexadecimal digits in AWS's way, each time others, the same in every run: `0a3f…`, `n` of them.
    pub fn serial(&mut self, n: usize) -> String {
        self.serial += 1;
        let digits = crate::model::hash(&format!("{} {}", self.account, self.serial), n.saturating_sub(1));
        format!("0{digits}")
    }

    /// `vpc-0a3f…`: a prefix and 17 digits.
    pub fn id(&mut self, prefix: &str) -> String {
        format!("{prefix}-{}", self.serial(17))
    }

    /// A UUID-shaped id.
    pub fn uuid(&mut self) -> String {
        let d = self.serial(32);
        format!("{}-{}-{}-{}-{}", &d[0..8], &d[8..12], &d[12..16], &d[16..20], &d[20..32])
    }
}

fn handler(service: &str, operation: &str) -> Option<Handler> {
    let rows = TABLES.iter().flat_map(|table| table.iter());
    rows.into_iter().find(|(s, o, _)| *s == service && *o == operation).map(|(_, _, handler)| *handler)
}

/// Every operation that is answered.
pub fn operations() -> impl Iterator<Item = (&'static str, &'static str)> {
    TABLES.iter().flat_map(|table| table.iter()).map(|(service, operation, _)| (*service, *operation))
}

/// A document as a list of texts: for inputs that are lists of ids or names.
pub fn texts(value: Option<&Value>) -> Vec<String> {
    let items = value.and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    items.iter().filter_map(|item| item.as_str().map(str::to_owned)).collect()
}
