//! What happens by itself: deeds that are due at a moment. Must never be driven by anything but the moments of calls, so that
//! the same calls at the same moments make the same world.

use super::{World, autoscaling, compute, eks, load_balancing, network};
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970.
pub type Moment = i64;

/// Something that a service does later, by itself. Each area adds its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Deed {
    Compute(compute::Deed),
    Eks(eks::Deed),
    Network(network::Deed),
    LoadBalancing(load_balancing::Deed),
    Scaling(autoscaling::Deed),
}

impl World {
    /// Lets a deed happen `seconds` from now.
    pub fn later(&mut self, seconds: f64, deed: Deed) {
        let at = self.now.saturating_add((seconds * 1000.0) as Moment);
        let same = self.due.range((at, 0)..=(at, u64::MAX)).next_back();
        let order = same.map_or(0, |((_, order), _)| order + 1);
        self.due.insert((at, order), deed);
    }

    /// Seconds since 1970, as outputs state times.
    pub fn seconds(&self) -> f64 {
        self.now as f64 / 1000.0
    }

    /// Lets everything happen that is due by `now`, each at its own moment.
    pub(super) fn advance(&mut self, now: Moment) {
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            let ((at, _), deed) = entry.remove_entry();
            self.now = self.now.max(at);
            self.happen(deed);
        }
        self.now = self.now.max(now);
    }

    fn happen(&mut self, deed: Deed) {
        match deed {
            Deed::Compute(deed) => compute::happen(self, deed),
            Deed::Eks(deed) => eks::happen(self, deed),
            Deed::Network(deed) => network::happen(self, deed),
            Deed::LoadBalancing(deed) => load_balancing::happen(self, deed),
            Deed::Scaling(deed) => autoscaling::happen(self, deed),
        }
    }
}
