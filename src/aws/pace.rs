//! How fast each API action may be called: one token bucket an action, shared by all tasks. Must never sleep or read a clock:
//! it says how long to wait.

use crate::sandbox::is_change;
use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Tokens of a full bucket, and how many come back each second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rate {
    pub burst: f64,
    pub per_second: f64,
}

const fn rate(burst: f64, per_second: f64) -> Rate {
    Rate { burst, per_second }
}

/// What AWS grants an account and region for an action, as far as it says so.
///
/// EC2's buckets are its developer guide's (request throttling), Service Quotas' are its user guide's; the rest are careful
/// guesses, as those services publish nothing, and throttling answers correct them. `None`: no limit that one run could reach.
pub fn granted(service: &str, operation: &str) -> Option<Rate> {
    let reads = !is_change(operation);
    Some(match (service, operation) {
        ("ec2", "RunInstances") => rate(5.0, 2.0),
        ("ec2", "TerminateInstances") => rate(100.0, 5.0),
        ("ec2", "CreateNatGateway" | "DeleteNatGateway") => rate(10.0, 1.0),
        ("ec2", "CreateVpcEndpoint" | "DeleteVpcEndpoints") => rate(4.0, 0.3),
        ("ec2", "CreateTags") => rate(100.0, 10.0),
        ("ec2", "CreateNetworkInterface" | "CreateLaunchTemplateVersion") => rate(100.0, 5.0),
        ("ec2", "DescribeCapacityBlockOfferings" | "PurchaseCapacityBlock") => rate(10.0, 0.15),
        ("ec2", _) if reads => rate(100.0, 20.0),
        ("ec2", _) => rate(50.0, 5.0),
        ("service-quotas", "ListServiceQuotas" | "ListAWSDefaultServiceQuotas") => rate(20.0, 10.0),
        ("service-quotas", _) => rate(10.0, 5.0),
        // Asked by people and pages that refresh, rarely by programs: tight, and not said.
        ("ce" | "pricing", _) => rate(10.0, 2.0),
        ("s3" | "sqs" | "sts", _) => return None,
        _ if reads => rate(50.0, 10.0),
        _ => rate(20.0, 4.0),
    })
}

/// The least share of its rate that throttling answers bring a bucket down to.
const FLOOR: f64 = 1.0 / 16.0;
/// Share that each answer without throttling gives back.
const RECOVERY: f64 = 1.0 / 32.0;
/// Requests that were on their way together are throttled together: that is one sign, not many.
const ONE_SIGN: Duration = Duration::from_secs(1);

#[derive(Clone, Debug)]
struct Bucket {
    rate: Rate,
    /// What throttling left of the rate: `FLOOR..=1`.
    share: f64,
    /// Below zero: promised to those who wait.
    tokens: f64,
    at: Duration,
    slowed: Option<Duration>,
}

impl Bucket {
    fn full(rate: Rate, now: Duration) -> Self {
        Self { rate, share: 1.0, tokens: rate.burst, at: now, slowed: None }
    }

    fn refill(&mut self, now: Duration) {
        let elapsed = now.saturating_sub(self.at).as_secs_f64();
        self.tokens = (self.tokens + elapsed * self.rate.per_second * self.share).min(self.rate.burst);
        self.at = now;
    }

    /// Takes one token; how long until it is there. Whoever comes later waits longer, so nobody is passed by.
    fn take(&mut self, now: Duration) -> Duration {
        self.refill(now);
        self.tokens -= 1.0;
        if self.tokens >= 0.0 {
            return Duration::ZERO;
        }
        Duration::try_from_secs_f64(-self.tokens / (self.rate.per_second * self.share)).unwrap_or(Duration::MAX)
    }

    fn slow_down(&mut self, now: Duration) {
        self.refill(now);
        if self.slowed.is_some_and(|at| now.saturating_sub(at) < ONE_SIGN) {
            return;
        }
        self.slowed = Some(now);
        self.share = (self.share / 2.0).max(FLOOR);
        // AWS's bucket is empty, whatever ours says.
        self.tokens = self.tokens.min(0.0);
    }

    fn speed_up(&mut self, now: Duration) {
        self.refill(now);
        self.share = (self.share + RECOVERY).min(1.0);
    }
}

/// The buckets of one account and region.
#[derive(Debug, Default)]
pub struct Pace {
    buckets: Mutex<BTreeMap<(&'static str, String), Bucket>>,
}

impl Pace {
    /// Takes a token of an action at a time since the start; how long to wait for it.
    pub fn take(&self, service: &'static str, operation: &str, now: Duration) -> Duration {
        self.with(service, operation, now, Bucket::take).unwrap_or_default()
    }

    /// What an answer says of the action's pace.
    pub fn learn(&self, service: &'static str, operation: &str, throttled: bool, now: Duration) {
        self.with(service, operation, now, if throttled { Bucket::slow_down } else { Bucket::speed_up });
    }

    fn with<T>(
        &self,
        service: &'static str,
        operation: &str,
        now: Duration,
        act: impl FnOnce(&mut Bucket, Duration) -> T,
    ) -> Option<T> {
        let rate = granted(service, operation)?;
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let bucket = buckets.entry((service, operation.to_owned())).or_insert_with(|| Bucket::full(rate, now));
        Some(act(bucket, now))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn s(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    #[test]
    fn a_burst_passes_and_the_rest_queues_at_the_rate() {
        let pace = Pace::default();
        let waits: Vec<_> = (0..7).map(|_| pace.take("ec2", "RunInstances", s(0)).as_millis()).collect();
        assert_eq!(waits, [0, 0, 0, 0, 0, 500, 1000]);
        assert_eq!(pace.take("ec2", "RunInstances", s(60)), Duration::ZERO, "the bucket filled up again");
        assert_eq!(pace.take("ec2", "CreateVpc", s(0)), Duration::ZERO, "another action has a bucket of its own");
    }

    #[test]
    fn a_bucket_holds_no_more_than_its_burst() {
        let pace = Pace::default();
        pace.take("ec2", "CreateVpcEndpoint", s(0));
        let waits: Vec<_> = (0..5).map(|_| pace.take("ec2", "CreateVpcEndpoint", s(3600)).is_zero()).collect();
        assert_eq!(waits, [true, true, true, true, false]);
    }

    #[test]
    fn throttling_slows_an_action_once_a_second_and_success_speeds_it_up() {
        let pace = Pace::default();
        for _ in 0..5 {
            pace.learn("ec2", "CreateSubnet", true, s(10));
        }
        let first = pace.take("ec2", "CreateSubnet", s(10));
        assert_eq!(first.as_millis(), 400, "half of five a second, with an empty bucket");
        for _ in 0..100 {
            pace.learn("ec2", "CreateSubnet", false, s(10));
        }
        let second = pace.take("ec2", "CreateSubnet", s(10));
        assert_eq!(second.as_millis(), 400, "two tokens at the full rate");
    }

    #[test]
    fn throttling_never_stops_an_action() {
        let pace = Pace::default();
        for second in 0..100 {
            pace.learn("ec2", "CreateVpcEndpoint", true, s(second));
        }
        assert!(pace.take("ec2", "CreateVpcEndpoint", s(100)) < s(60));
    }

    #[test]
    fn an_action_without_a_known_limit_is_not_held() {
        let pace = Pace::default();
        assert!((0..1000).all(|_| pace.take("s3", "PutObject", s(0)).is_zero()));
    }
}
