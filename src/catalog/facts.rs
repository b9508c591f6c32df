//! What was asked of the live account, each answer under its question. Must never take a failed look for an empty answer.

use crate::{
    cloud::{Answer, Caller, ClusterVersion, Fact, QuotaValue, Reservation, RunningInstances, SubnetFacts, Zone},
    contract::{Class, CloudError},
};
use std::collections::BTreeMap;

macro_rules! variant {
    ($answer:expr, $name:ident) => {
        match $answer {
            Answer::$name(value) => Some(value),
            _ => None,
        }
    };
}

/// `None`: not asked. `Err`: could not look.
pub type Looked<T> = Option<Result<T, CloudError>>;

/// Answers by what was asked. A key that is absent was not asked; `None` under a key: the cloud has no such thing.
pub type LookedBy<K, T> = BTreeMap<K, Result<T, CloudError>>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts {
    pub caller: Looked<Caller>,
    pub caller_address: Looked<String>,
    pub zones: Looked<Vec<Zone>>,
    /// Zone ids by instance type; empty: not offered in the region.
    pub offerings: LookedBy<String, Vec<String>>,
    /// By quota code.
    pub quotas: LookedBy<String, QuotaValue>,
    pub running: Looked<Vec<RunningInstances>>,
    /// By the names of [`crate::contract::Demand::Count`].
    pub counts: Looked<BTreeMap<String, u32>>,
    pub cluster_versions: Looked<Vec<ClusterVersion>>,
    /// Default version by Kubernetes version and add-on.
    pub addon_versions: LookedBy<(String, String), Option<String>>,
    /// Newest release by Kubernetes version and AMI type.
    pub ami_releases: LookedBy<(String, String), Option<String>>,
    pub reservations: LookedBy<String, Option<Reservation>>,
    pub subnets: LookedBy<String, Option<SubnetFacts>>,
    /// Region by bucket name.
    pub buckets: LookedBy<String, Option<String>>,
}

impl Facts {
    /// Files an answer under its question. An answer of another kind than the question is kept as a failed look.
    pub fn learn(&mut self, fact: &Fact, answer: Result<Answer, CloudError>) {
        match fact {
            Fact::Caller => self.caller = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, Caller)))),
            Fact::CallerAddress => {
                self.caller_address = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, CallerAddress))));
            }
            Fact::Zones => self.zones = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, Zones)))),
            Fact::Running => self.running = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, Running)))),
            Fact::Counts => self.counts = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, Counts)))),
            Fact::ClusterVersions => {
                self.cluster_versions = Some(answer.and_then(|a| take(fact, a, |a| variant!(a, ClusterVersions))));
            }
            Fact::Offerings { instance_types } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, Offerings)));
                self.offerings.extend(spread(instance_types, answer, |offerings, name| {
                    offerings.iter().filter(|o| o.instance_type == *name).map(|o| o.zone.clone()).collect()
                }));
            }
            Fact::Quotas { codes } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, Quotas)));
                for (code, service) in codes {
                    let value = answer.clone().and_then(|values| {
                        values.get(code).cloned().ok_or_else(|| {
                            let message = format!("no value for {service} {code}");
                            let call = "service-quotas:GetAWSDefaultServiceQuota";
                            CloudError::new(call, Class::NotFound, "NoSuchResourceException", message)
                        })
                    });
                    self.quotas.insert(code.clone(), value);
                }
            }
            Fact::AddonVersions { cluster_version, addons } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, AddonVersions)));
                let keys = addons.iter().map(|addon| (cluster_version.clone(), addon.clone())).collect::<Vec<_>>();
                self.addon_versions.extend(spread(&keys, answer, |versions, (_, addon)| {
                    versions.iter().find(|v| v.addon == *addon).map(|v| v.version.clone())
                }));
            }
            Fact::AmiReleases { cluster_version, ami_types } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, AmiReleases)));
                let keys = ami_types.iter().map(|ami| (cluster_version.clone(), ami.clone())).collect::<Vec<_>>();
                self.ami_releases.extend(spread(&keys, answer, |releases, (_, ami)| releases.get(ami).cloned()));
            }
            Fact::Reservations { ids } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, Reservations)));
                self.reservations.extend(spread(ids, answer, |all, id| all.iter().find(|r| r.id == *id).cloned()));
            }
            Fact::Subnets { ids } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, Subnets)));
                self.subnets.extend(spread(ids, answer, |all, id| all.iter().find(|s| s.id == *id).cloned()));
            }
            Fact::Bucket { name } => {
                let answer = answer.and_then(|a| take(fact, a, |a| variant!(a, Bucket)));
                self.buckets.insert(name.clone(), answer);
            }
        }
    }
}

fn take<T>(fact: &Fact, answer: Answer, pick: impl FnOnce(Answer) -> Option<T>) -> Result<T, CloudError> {
    pick(answer).ok_or_else(|| {
        CloudError::new("ask", Class::Unknown, "WrongAnswer", format!("the answer does not fit the question {fact:?}"))
    })
}

/// One entry for each key that was asked, also where the answer does not name it.
fn spread<K: Clone + Ord, A, T>(
    keys: &[K],
    answer: Result<A, CloudError>,
    find: impl Fn(&A, &K) -> T,
) -> Vec<(K, Result<T, CloudError>)> {
    keys.iter().map(|key| (key.clone(), answer.as_ref().map(|a| find(a, key)).map_err(CloudError::clone))).collect()
}
