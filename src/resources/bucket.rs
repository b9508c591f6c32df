//! S3 buckets that hold weights. Must never be emptied or deleted unless the file says so.

use crate::{
    contract::{Field, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Doc, Outputs, PhysicalId, Policy, Stamp, Statement, Tags, partition},
};
use serde::{Deserialize, Serialize};

pub struct Bucket;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Desired {
    /// 3–63 characters, one namespace for all accounts.
    pub name: String,
    /// FSx imports from a bucket of its own region only, and reads from elsewhere bill.
    pub region: String,
    /// `AES256` or `aws:kms`.
    pub encryption: String,
    /// All four settings of the public access block.
    pub public_access_blocked: bool,
    /// The policy refuses requests without TLS.
    pub tls_only: bool,
    /// `BucketOwnerEnforced`: no access lists.
    pub ownership: String,
    /// Days after which parts of an upload that nobody finished go: they bill, and no listing shows them.
    pub abort_incomplete_days: Option<u32>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Observed {
    pub name: String,
    pub region: String,
    pub encryption: Option<String>,
    pub public_access_blocked: bool,
    /// JSON, as GetBucketPolicy gives it.
    pub policy: Option<String>,
    pub ownership: Option<String>,
    pub abort_incomplete_days: Option<u32>,
    /// Once on it stays: versions and delete markers then have to go before the bucket can.
    pub versioned: bool,
    pub tags: Tags,
}

impl Kind for Bucket {
    const NAME: &'static str = "bucket";
    const LAYER: Layer = Layer::Storage;
    const OWNERSHIP: Ownership = Ownership::Retained;
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        Field::immutable("/region"),
        Field::in_place("/encryption"),
        Field::in_place("/publicAccessBlocked"),
        Field::in_place("/tlsOnly"),
        Field::in_place("/ownership"),
        Field::in_place("/abortIncompleteDays"),
    ];
    const PATIENCE: Patience = Patience::INSTANT;
    const AWS_NAME: &'static str = "s3:bucket";

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        let arn = arn(&live.name, &live.region);
        [("id", live.name.clone()), ("name", live.name.clone()), ("arn", arn)]
            .map(|(name, value)| (name.to_owned(), value))
            .into()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.name.clone(),
            region: live.region.clone(),
            encryption: live.encryption.clone().unwrap_or_default(),
            public_access_blocked: live.public_access_blocked,
            tls_only: live.policy.as_ref().is_some_and(|policy| refuses_plain(policy, &live.name, &live.region)),
            ownership: live.ownership.clone().unwrap_or_default(),
            abort_incomplete_days: live.abort_incomplete_days,
        }
    }
    fn ready(_live: &Observed) -> Readiness {
        Readiness::Ready
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        format!("{} in {}, encrypted, private, TLS only", want.name, want.region)
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        let character = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '.';
        if !(3..=63).contains(&want.name.len()) || !want.name.chars().all(character) {
            broken.push("S3 takes 3 to 63 characters of a-z, 0-9, dot and dash for a bucket's name".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        vec![Desired {
            name: "my-weights".to_owned(),
            region: "us-west-2".to_owned(),
            encryption: "AES256".to_owned(),
            public_access_blocked: true,
            tls_only: true,
            ownership: "BucketOwnerEnforced".to_owned(),
            abort_incomplete_days: Some(7),
        }]
    }
    /// CreateBucket carries region, tags and ownership; S3 itself encrypts and blocks public access. The rest comes after.
    fn imagine(want: &Desired, _id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let settled = phase != Phase::Coming;
        Observed {
            name: want.name.clone(),
            region: want.region.clone(),
            encryption: Some(want.encryption.clone()),
            public_access_blocked: want.public_access_blocked,
            policy: (settled && want.tls_only)
                .then(|| Policy::of([tls_only(&want.name, &want.region)]).document().to_string()),
            ownership: Some(want.ownership.clone()),
            abort_incomplete_days: want.abort_incomplete_days.filter(|_| settled),
            versioned: false,
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}

/// S3 gives no ARN, and the partition is that of the region.
pub fn arn(bucket: &str, region: &str) -> String {
    format!("arn:{}:s3:::{bucket}", partition(region))
}

/// The statement that refuses requests without TLS.
pub fn tls_only(bucket: &str, region: &str) -> Statement {
    let arn = arn(bucket, region);
    let objects = format!("{arn}/*");
    let everybody = Statement::deny("TlsOnly").principal("*", "*").actions(&["s3:*"]).on([arn, objects]);
    everybody.when(CONDITION.0, CONDITION.1, ["false"])
}

const CONDITION: (&str, &str) = ("Bool", "aws:SecureTransport");

/// True where a statement refuses everybody every request without TLS. Other statements of the policy are other people's.
fn refuses_plain(policy: &str, bucket: &str, region: &str) -> bool {
    let Ok(policy) = serde_json::from_str::<Doc>(policy) else { return false };
    let ours = tls_only(bucket, region);
    Policy::parse(&policy).statements().any(|statement| {
        let everybody =
            ["*", "AWS"].iter().any(|kind| statement.principals.get(*kind).is_some_and(|w| w.contains("*")));
        let everything = statement.actions.contains("s3:*") || statement.actions.contains("*");
        let everywhere = statement.resources.contains("*") || ours.resources.is_subset(&statement.resources);
        // Another condition beside it would let some plain requests through.
        let always = statement.conditions == ours.conditions && statement.other.is_empty();
        statement.effect == ours.effect && everybody && everything && everywhere && always
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_policy_is_tls_only_in_every_form_that_says_so() {
        let refuses = |policy: &str| refuses_plain(policy, "b", "us-west-2");
        assert!(refuses(&Policy::of([tls_only("b", "us-west-2")]).document().to_string()));
        let other = r#"{"Statement": {"Effect": "Deny", "Principal": {"AWS": ["*"]}, "Action": ["s3:*"],
            "Resource": ["arn:aws:s3:::b", "arn:aws:s3:::b/*"], "Condition": {"Bool": {"aws:SecureTransport": [false]}}}}"#;
        assert!(refuses(other));
        for hole in ["Deny", "\"*\"", "s3:*", "arn:aws:s3:::b/*", "aws:SecureTransport", "false"] {
            assert!(!refuses(&other.replace(hole, "\"x\"")), "without {hole}");
            assert!(!refuses(&other.replace(hole, "x")), "without {hole}");
        }
        let narrower = other.replace("\"Bool\"", "\"StringLike\": {\"aws:PrincipalArn\": \"x\"}, \"Bool\"");
        assert!(!refuses(&narrower));
    }
}
