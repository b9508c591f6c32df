//! The control plane. Must never be replaced without it being said: everything of Kubernetes goes with it.

use crate::{
    contract::{Demand, Field, FieldsOf, Kind, Layer, Ownership, Patience, Phase, Readiness},
    model::{Address, Link, Outputs, PhysicalId, Stamp, Tags, hash, imagined_arn, imagined_region},
};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

pub struct Cluster;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Authentication {
    Api,
    ApiAndConfigMap,
    ConfigMap,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Support {
    Standard,
    Extended,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Endpoint {
    pub public: bool,
    pub private: bool,
    /// CIDR blocks that reach the public endpoint; empty without one.
    pub public_cidrs: BTreeSet<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Desired {
    pub name: String,
    /// `1.35`
    pub version: String,
    /// ARN of the cluster role.
    pub role: Link,
    /// Subnets of the control plane's interfaces.
    pub subnets: Vec<Link>,
    /// Zone ids of those subnets.
    pub zones: BTreeSet<String>,
    pub endpoint: Endpoint,
    /// `api`, `audit`, `authenticator`, `controllerManager`, `scheduler`.
    pub logs: BTreeSet<String>,
    pub authentication: Authentication,
    pub support: Support,
    pub deletion_protection: bool,
    /// KMS key ARN that encrypts Kubernetes secrets.
    pub secrets_key: Option<String>,
    /// `bootstrapSelfManagedAddons`
    pub bootstrap_addons: bool,
    /// `bootstrapClusterCreatorAdminPermissions`
    pub creator_is_admin: bool,
    /// `computeConfig.enabled`
    pub auto_mode: bool,
    /// `zonalShiftConfig.enabled`
    pub zonal_shift: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum Status {
    Creating,
    Active,
    Deleting,
    Failed,
    Updating,
    Pending,
}

/// What DescribeCluster says, and the zones that DescribeSubnets says of its subnets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Observed {
    pub name: String,
    pub arn: String,
    pub status: Status,
    pub version: String,
    pub platform_version: Option<String>,
    pub role_arn: String,
    pub subnets: Vec<String>,
    pub zones: BTreeSet<String>,
    pub vpc: Option<String>,
    /// EKS's own group, which nodes, endpoints and file systems refer to.
    pub security_group: Option<String>,
    pub endpoint: Option<String>,
    pub endpoint_public: bool,
    pub endpoint_private: bool,
    pub public_cidrs: Vec<String>,
    /// Base64 of the PEM text.
    pub certificate_authority: Option<String>,
    /// URL.
    pub oidc_issuer: Option<String>,
    pub logs: Vec<String>,
    pub authentication: Authentication,
    pub support: Support,
    pub deletion_protection: bool,
    pub secrets_key: Option<String>,
    pub auto_mode: bool,
    pub zonal_shift: bool,
    /// `code: message` of each issue.
    pub issues: Vec<String>,
    pub tags: Tags,
}

/// EKS takes a key for secrets at any time (AssociateEncryptionConfig), but never another one and never none.
fn fields_of(want: &Desired) -> Vec<Field> {
    let mut fields = Cluster::FIELDS.to_vec();
    if want.secrets_key.is_some() {
        for field in fields.iter_mut().filter(|field| field.at == "/secretsKey") {
            *field = Field::in_place("/secretsKey");
        }
    }
    fields
}

impl Kind for Cluster {
    const NAME: &'static str = "cluster";
    const AWS_NAME: &'static str = "eks:cluster";
    const LAYER: Layer = Layer::Cluster;
    const OWNERSHIP: Ownership = Ownership::ByName;
    const ANCHOR: bool = true;
    // Created in 9–12 minutes with one wording all the time; a step of the version takes up to forty.
    const PATIENCE: Patience = Patience::new(10, 3_600, 3_600);
    const FIELDS: &'static [Field] = &[
        Field::immutable("/name"),
        // One minor version a step and never down; nodes go on with the old one until their own update.
        Field::in_place("/version").changes(&["version"]),
        // UpdateClusterConfig takes no role.
        Field::immutable("/role"),
        // Others of the same zones are taken in place; EKS's interfaces hold a subnet until the control plane is out of it.
        Field::in_place("/subnets").set().holds(),
        // EKS freezes the set of zones at creation.
        Field::immutable("/zones").set(),
        Field::in_place("/endpoint/public"),
        Field::in_place("/endpoint/private"),
        Field::in_place("/endpoint/publicCidrs").set(),
        Field::in_place("/logs").set(),
        // Only towards API; a cluster of ours starts there.
        Field::in_place("/authentication"),
        Field::in_place("/support"),
        Field::in_place("/deletionProtection"),
        // See `fields`.
        Field::immutable("/secretsKey"),
        // Written at creation and not read back.
        Field::create_only("/bootstrapAddons"),
        Field::create_only("/creatorIsAdmin"),
        // Nodes of Auto Mode go when it is switched off.
        Field::in_place("/autoMode").interrupts(),
        Field::in_place("/zonalShift"),
    ];
    const FIELDS_OF: Option<FieldsOf<Desired>> = Some(fields_of);

    type Desired = Desired;
    type Observed = Observed;

    fn id(live: &Observed) -> PhysicalId {
        live.name.clone()
    }
    fn tags(live: &Observed) -> Tags {
        live.tags.clone()
    }
    fn outputs(live: &Observed) -> Outputs {
        let known = [
            ("id", Some(&live.name)),
            ("name", Some(&live.name)),
            ("arn", Some(&live.arn)),
            ("version", Some(&live.version)),
            ("endpoint", live.endpoint.as_ref()),
            ("ca", live.certificate_authority.as_ref()),
            ("security-group", live.security_group.as_ref()),
            ("oidc", live.oidc_issuer.as_ref()),
        ];
        known.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?.clone()))).collect()
    }
    fn project(live: &Observed) -> Desired {
        Desired {
            name: live.name.clone(),
            version: live.version.clone(),
            role: Link::is(&live.role_arn),
            subnets: live.subnets.iter().map(Link::is).collect(),
            zones: live.zones.clone(),
            endpoint: Endpoint {
                public: live.endpoint_public,
                private: live.endpoint_private,
                // AWS goes on showing the blocks of an endpoint that is switched off.
                public_cidrs: live.public_cidrs.iter().filter(|_| live.endpoint_public).cloned().collect(),
            },
            logs: live.logs.iter().cloned().collect(),
            authentication: live.authentication,
            support: live.support,
            deletion_protection: live.deletion_protection,
            secrets_key: live.secrets_key.clone(),
            bootstrap_addons: false,
            creator_is_admin: false,
            auto_mode: live.auto_mode,
            zonal_shift: live.zonal_shift,
        }
    }
    fn ready(live: &Observed) -> Readiness {
        let issues = || live.issues.iter().map(|issue| format!("; {issue}")).collect::<String>();
        match live.status {
            Status::Active => Readiness::Ready,
            Status::Creating => Readiness::Pending(format!("CREATING{}", issues())),
            Status::Updating => Readiness::Pending(format!("UPDATING{}", issues())),
            Status::Pending => Readiness::Pending(format!("PENDING{}", issues())),
            Status::Deleting => Readiness::Pending("DELETING".to_owned()),
            Status::Failed => Readiness::Broken(format!("FAILED{}", issues())),
        }
    }
    fn going(live: &Observed) -> bool {
        live.status == Status::Deleting
    }
    fn wished_name(want: &Desired) -> Option<String> {
        Some(want.name.clone())
    }
    fn live_name(live: &Observed) -> Option<String> {
        Some(live.name.clone())
    }
    fn headline(want: &Desired) -> String {
        let endpoint = match (want.endpoint.public, want.endpoint.private) {
            (true, true) => "public and private",
            (true, false) => "public",
            _ => "private",
        };
        format!("Kubernetes {}, {endpoint} endpoint", want.version)
    }
    fn demand(_want: &Desired) -> Vec<Demand> {
        vec![
            Demand::Count { of: "cluster".to_owned(), n: 1 },
            Demand::Billed { unit: "eksClusterHours".to_owned(), min: 1.0, now: 1.0, max: 1.0 },
        ]
    }
    fn check(want: &Desired) -> Vec<String> {
        let mut broken = vec![];
        if want.zones.len() < 2 {
            broken.push("EKS wants subnets of at least two zones for a control plane".to_owned());
        }
        if want.subnets.len() < 2 {
            broken.push("EKS wants at least two subnets for a control plane".to_owned());
        }
        if !want.endpoint.public && !want.endpoint.private {
            broken.push("EKS wants a public or a private endpoint".to_owned());
        }
        if want.endpoint.public && want.endpoint.public_cidrs.is_empty() {
            broken.push("a public endpoint without CIDR blocks would be open to everybody".to_owned());
        }
        if !want.name.starts_with(|c: char| c.is_ascii_alphanumeric()) || want.name.len() > 100 {
            broken.push(format!(
                "a cluster's name has 1–100 characters and starts with a letter or digit: `{}`",
                want.name
            ));
        }
        if want.auto_mode {
            broken.push("EKS Auto Mode would run nodes beside the stack's own".to_owned());
        }
        broken
    }
    fn samples() -> Vec<Desired> {
        let subnet = |zone: &str| Link::to(&Address::new("subnet", &format!("private-{zone}")), "id");
        let full = Desired {
            name: "llama-70b".into(),
            version: "1.35".into(),
            role: Link::to(&Address::new("role", "cluster"), "arn"),
            subnets: vec![subnet("usw2-az1"), subnet("usw2-az2")],
            zones: ["usw2-az1".to_owned(), "usw2-az2".to_owned()].into(),
            endpoint: Endpoint { public: true, private: true, public_cidrs: ["203.0.113.7/32".to_owned()].into() },
            logs: ["api".to_owned(), "audit".to_owned()].into(),
            authentication: Authentication::Api,
            support: Support::Standard,
            deletion_protection: true,
            secrets_key: Some("arn:aws:kms:us-west-2:123456789012:key/k".into()),
            bootstrap_addons: false,
            creator_is_admin: false,
            auto_mode: false,
            zonal_shift: false,
        };
        let bare = Desired {
            endpoint: Endpoint { public: false, private: true, public_cidrs: BTreeSet::new() },
            logs: BTreeSet::new(),
            support: Support::Extended,
            deletion_protection: false,
            secrets_key: None,
            ..full.clone()
        };
        vec![full, bare]
    }
    fn imagine(want: &Desired, id: &str, stamp: &Stamp, phase: Phase) -> Observed {
        let region = imagined_region(stamp);
        let made = phase != Phase::Coming;
        let unique = hash(&format!("{region}/{id}"), 32).to_ascii_uppercase();
        Observed {
            name: id.to_owned(),
            arn: imagined_arn(stamp, "eks", &format!("cluster/{id}")),
            status: match phase {
                Phase::Coming => Status::Creating,
                Phase::There => Status::Active,
                Phase::Changing => Status::Updating,
                Phase::Going => Status::Deleting,
            },
            version: want.version.clone(),
            platform_version: made.then(|| "eks.1".to_owned()),
            role_arn: want.role.value().unwrap_or_default().to_owned(),
            subnets: want.subnets.iter().filter_map(Link::value).map(str::to_owned).collect(),
            zones: want.zones.clone(),
            vpc: None,
            security_group: made.then(|| format!("sg-0{}", hash(&format!("cluster group {region}/{id}"), 16))),
            endpoint: made.then(|| format!("https://{unique}.gr7.{region}.eks.amazonaws.com")),
            endpoint_public: want.endpoint.public,
            endpoint_private: want.endpoint.private,
            public_cidrs: want.endpoint.public_cidrs.iter().cloned().collect(),
            certificate_authority: made.then(|| "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCg==".to_owned()),
            oidc_issuer: made.then(|| format!("https://oidc.eks.{region}.amazonaws.com/id/{unique}")),
            logs: want.logs.iter().cloned().collect(),
            authentication: want.authentication,
            support: want.support,
            deletion_protection: want.deletion_protection,
            secrets_key: want.secrets_key.clone(),
            auto_mode: want.auto_mode,
            zonal_shift: want.zonal_shift,
            issues: vec![],
            tags: stamp.tags.clone(),
        }
    }
    fn imagine_id(want: &Desired, _serial: &str) -> PhysicalId {
        want.name.clone()
    }
}
