//! Whether a failed call is made again, and when: one pure table. Must never sleep or look by itself.

use crate::contract::Class;
use std::time::Duration;

/// The mutating call that failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    Create,
    Update,
    Delete,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    After(Duration),
    Fail,
    /// The failure says that what was asked for is so already.
    Done,
}

/// `attempt` counts the calls made, from 1; `elapsed` runs from the first of them.
///
/// The adapter has retried throttling and transport faults on its own before; what comes here has outlasted that.
pub fn retry(class: Class, call: Call, attempt: u32, elapsed: Duration) -> Retry {
    let (first, most, limit) = match (class, call) {
        (Class::NotFound, Call::Delete) => return Retry::Done,
        // A new role or group is not visible everywhere at once: seconds as a rule, minutes at worst.
        (Class::NotYet, _) => (2, 15, 300),
        // The same, worded by a service that does not know the difference.
        (Class::NotFound, _) => (2, 15, 120),
        // Interfaces of the CNI and of balancers take up to a quarter of an hour to detach.
        (Class::InUse, Call::Delete) => (5, 30, 1200),
        // A control plane runs one change at a time, and a version takes it 20 minutes or more.
        (Class::InUse | Class::Conflict, _) => (5, 30, 2400),
        // The object that has the name may not be visible yet.
        (Class::AlreadyExists, Call::Create) => (5, 10, 60),
        (Class::Throttled | Class::Outage, _) => (5, 60, 600),
        // Another try would fail for the same reason, or cost money by chance.
        (
            Class::AlreadyExists
            | Class::Denied
            | Class::Quota
            | Class::NoCapacity
            | Class::Invalid
            | Class::Expired
            | Class::Unsupported
            | Class::Unknown,
            _,
        ) => return Retry::Fail,
    };
    let doubled = first << attempt.saturating_sub(1).min(6);
    let pause = Duration::from_secs(doubled.min(most));
    if elapsed + pause > Duration::from_secs(limit) { Retry::Fail } else { Retry::After(pause) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(class: Class, call: Call, attempt: u32, seconds: u64) -> Retry {
        retry(class, call, attempt, Duration::from_secs(seconds))
    }

    #[test]
    fn the_same_class_means_different_things_to_different_calls() {
        assert_eq!(at(Class::NotFound, Call::Delete, 1, 0), Retry::Done);
        assert_eq!(at(Class::NotFound, Call::Update, 1, 0), Retry::After(Duration::from_secs(2)));
        assert_eq!(at(Class::AlreadyExists, Call::Update, 1, 0), Retry::Fail);
        assert_eq!(at(Class::AlreadyExists, Call::Create, 1, 0), Retry::After(Duration::from_secs(5)));
    }

    #[test]
    fn pauses_grow_to_a_bound_and_time_runs_out() {
        let pauses: Vec<_> = (1..6).map(|n| at(Class::NotYet, Call::Create, n, 0)).collect();
        assert_eq!(pauses, [2, 4, 8, 15, 15].map(|s| Retry::After(Duration::from_secs(s))));
        assert_eq!(at(Class::NotYet, Call::Create, 40, 284), Retry::After(Duration::from_secs(15)));
        assert_eq!(at(Class::NotYet, Call::Create, 40, 286), Retry::Fail);
        assert_eq!(at(Class::InUse, Call::Delete, u32::MAX, 1100), Retry::After(Duration::from_secs(30)));
        assert_eq!(at(Class::InUse, Call::Delete, 40, 1199), Retry::Fail);
    }

    #[test]
    fn what_repeats_itself_is_not_repeated() {
        for class in [
            Class::Denied,
            Class::Quota,
            Class::NoCapacity,
            Class::Invalid,
            Class::Expired,
            Class::Unsupported,
            Class::Unknown,
        ] {
            for call in [Call::Create, Call::Update, Call::Delete] {
                assert_eq!(at(class, call, 1, 0), Retry::Fail, "{class:?} {call:?}");
            }
        }
    }
}
