//! A stack, an account and a live world to choose and judge with. Plain data, changed by each test where it matters.

use infer_stack::{
    catalog::{Catalog, Facts},
    choose::Circumstances,
    cloud::{AddonVersion, Answer, Caller, ClusterVersion, Fact, Offering, QuotaValue, Zone},
    contract::{Class, CloudError, Look, Phase, Readiness},
    desired::DesiredGraph,
    model::{Address, Doc, Identity, Outputs, RESOURCE, Scope, Stamp, Tags, resolve},
    observed::{Live, Sight, Snapshot, live},
    resources,
    stack::*,
};
use serde_json::json;
use std::collections::BTreeMap;

pub const CALLER: &str = "arn:aws:iam::123456789012:role/platform/ci";

pub fn class(name: &str, instance_type: &str, min: u32, desired: u32, max: u32) -> NodeClass {
    NodeClass {
        name: name.to_owned(),
        provisioner: Provisioner::Managed,
        instance_types: vec![instance_type.to_owned()],
        capacity: Capacity::OnDemand,
        zone: None,
        placement_group: None,
        efa: Efa::None,
        nodes: Nodes { min, desired, max },
        volume: Volume { size: 100, r#type: VolumeType::Gp3, iops: None, throughput: None, kms_key: None },
        local_storage: LocalStorage::None,
        ami: Ami { family: AmiFamily::Al2023, release: None },
        labels: BTreeMap::new(),
        taints: vec![],
    }
}

/// Two p5.48xlarge in a cluster placement group, up to eight.
pub fn llama_70b() -> Spec {
    let mut p5 = class("p5", "p5.48xlarge", 0, 2, 8);
    p5.placement_group = Some("p5".to_owned());
    p5.efa = Efa::All;
    Spec {
        name: "llama-70b".to_owned(),
        region: "us-west-2".to_owned(),
        account: None,
        expires: Expires::After(72 * 3600),
        protect: false,
        tags: BTreeMap::new(),
        cost_allocation: CostAllocation::default(),
        budget: None,
        network: Network::Made { cidr: "10.64.0.0/16".parse().unwrap(), zones: None, nat_gateways: NatGateways::One },
        cluster: Cluster {
            version: None,
            support_type: SupportType::Standard,
            endpoint: Endpoint { public: true, private: true, public_cidrs: vec!["caller".to_owned()] },
            logs: vec![],
            access: vec![],
            addons: BTreeMap::new(),
            secrets_key: None,
        },
        iam: Iam::default(),
        placement_groups: vec![PlacementGroup { name: "p5".to_owned(), strategy: PlacementStrategy::Cluster }],
        node_classes: vec![class("system", "m6i.xlarge", 2, 2, 3), p5],
        weights: Some(Weights {
            source: WeightSource::S3Stream,
            bucket: Some(Bucket { name: None, create: true, prefix: String::new() }),
            fsx: None,
            populate: None,
            on_destroy: OnDestroy::Keep,
        }),
        serving: None,
    }
}

pub fn identity() -> Identity {
    Identity { account: "123456789012".to_owned(), region: "us-west-2".to_owned(), stack: "llama-70b".to_owned() }
}

pub fn circumstances() -> Circumstances {
    Circumstances { now: "2026-12-01T12:00:00Z".to_owned(), run: "run-1".to_owned() }
}

pub fn denied(call: &str) -> CloudError {
    CloudError::new(call, Class::Denied, "AccessDenied", "not authorized")
}

/// What an account says, changed before it is laid over the catalogue.
pub struct Account {
    pub versions: Vec<(&'static str, Option<&'static str>)>,
    pub zones: Vec<&'static str>,
    /// Zones of p5.48xlarge.
    pub p5: Vec<&'static str>,
    pub addon: &'static str,
    pub ami: &'static str,
    pub quotas: BTreeMap<String, f64>,
}

impl Default for Account {
    fn default() -> Self {
        Self {
            versions: vec![("1.34", Some("2026-12-02")), ("1.35", Some("2027-03-27")), ("1.36", None)],
            zones: vec!["usw2-az1", "usw2-az2", "usw2-az3", "usw2-az4"],
            p5: vec!["usw2-az2", "usw2-az3"],
            addon: "v1.20.4-eksbuild.1",
            ami: "20261120",
            quotas: BTreeMap::new(),
        }
    }
}

impl Account {
    pub fn facts(&self) -> Facts {
        let mut facts = Facts::default();
        let zones = self.zones.iter().map(|id| Zone { id: (*id).to_owned(), name: format!("{id}-name") });
        facts.learn(&Fact::Zones, Ok(Answer::Zones(zones.collect())));
        let caller = Caller { account: identity().account, principal: CALLER.to_owned() };
        facts.learn(&Fact::Caller, Ok(Answer::Caller(caller)));
        facts.learn(&Fact::CallerAddress, Ok(Answer::CallerAddress("203.0.113.7".to_owned())));
        let offering = |name: &str, zones: &[&str]| -> Vec<Offering> {
            let of = |zone: &&str| Offering { instance_type: name.to_owned(), zone: (*zone).to_owned() };
            zones.iter().map(of).collect()
        };
        let mut offerings = offering("p5.48xlarge", &self.p5);
        offerings.extend(offering("m6i.xlarge", &self.zones));
        let instance_types = vec!["p5.48xlarge".to_owned(), "m6i.xlarge".to_owned()];
        facts.learn(&Fact::Offerings { instance_types }, Ok(Answer::Offerings(offerings)));
        let versions = self.versions.iter().map(|(version, end)| ClusterVersion {
            version: (*version).to_owned(),
            end_of_standard_support: end.map(str::to_owned),
        });
        facts.learn(&Fact::ClusterVersions, Ok(Answer::ClusterVersions(versions.collect())));
        for (version, _) in &self.versions {
            let addons: Vec<String> = Catalog::compiled().addons().to_vec();
            let answer =
                addons.iter().map(|addon| AddonVersion { addon: addon.clone(), version: self.addon.to_owned() });
            let answer = Answer::AddonVersions(answer.collect());
            facts.learn(&Fact::AddonVersions { cluster_version: (*version).to_owned(), addons }, Ok(answer));
            let ami_types = vec!["AL2023_x86_64_NVIDIA".to_owned(), "AL2023_x86_64_STANDARD".to_owned()];
            let releases = ami_types.iter().map(|ami| (ami.clone(), format!("{version}.2-{}", self.ami))).collect();
            let question = Fact::AmiReleases { cluster_version: (*version).to_owned(), ami_types };
            facts.learn(&question, Ok(Answer::AmiReleases(releases)));
        }
        if !self.quotas.is_empty() {
            let codes = self.quotas.keys().map(|code| (code.clone(), "ec2".to_owned())).collect();
            let values =
                self.quotas.iter().map(|(code, value)| (code.clone(), QuotaValue { value: *value, applied: true }));
            facts.learn(&Fact::Quotas { codes }, Ok(Answer::Quotas(values.collect())));
        }
        facts
    }

    pub fn catalog(&self) -> Catalog {
        Catalog::with(self.facts())
    }
}

/// Nothing lives, and everything was seen.
pub fn nothing() -> Snapshot {
    Snapshot {
        taken_at: circumstances().now,
        scope: Scope { identity: identity(), cluster: identity().stack, vpc: None, names: BTreeMap::new() },
        sights: BTreeMap::new(),
    }
}

/// Puts a live object into a snapshot.
pub fn put(
    snapshot: &mut Snapshot,
    address: &Address,
    id: &str,
    projected: Doc,
    outputs: &[(&str, &str)],
    tags: &[(&str, &str)],
) {
    let text = |(key, value): &(&str, &str)| ((*key).to_owned(), (*value).to_owned());
    let mut tags: Tags = tags.iter().map(text).collect();
    tags.insert(RESOURCE.to_owned(), address.to_string());
    let mut outputs: Outputs = outputs.iter().map(text).collect();
    outputs.insert("id".to_owned(), id.to_owned());
    let look = Look {
        id: id.to_owned(),
        name: None,
        claims: Some(address.clone()),
        tags,
        outputs,
        projected,
        headline: String::new(),
        ready: Readiness::Ready,
        gone: false,
        going: false,
        made_by_aws: false,
    };
    let live = Live { kind: address.kind().to_owned(), look, doc: Doc::Null };
    let sight = snapshot.sights.entry(address.kind().to_owned()).or_insert(Sight::Seen(vec![]));
    match sight {
        Sight::Seen(all) => all.push(live),
        Sight::Blind(_) => *sight = Sight::Seen(vec![live]),
    }
}

/// The stack as an earlier run made it: 1.34, older add-ons and images, p5 nodes in usw2-az2.
pub fn lived() -> Snapshot {
    let mut snapshot = nothing();
    let private = |zone: &str| json!({ "cidr": if zone == "usw2-az1" { "10.64.0.0/19" } else { "10.64.32.0/19" } });
    for zone in ["usw2-az2", "usw2-az1"] {
        put(&mut snapshot, &names::private_subnet(zone), &format!("subnet-{zone}"), private(zone), &[], &[]);
    }
    let subnets =
        |zones: &[&str]| -> Vec<Doc> { zones.iter().map(|zone| json!({ "$id": format!("subnet-{zone}") })).collect() };
    let both = subnets(&["usw2-az1", "usw2-az2"]);
    put(
        &mut snapshot,
        &names::cluster(),
        "llama-70b",
        json!({ "subnets": both, "endpoint": { "publicCidrs": ["198.51.100.4/32"] } }),
        &[("version", "1.34")],
        &[("infer-stack/expires", "2026-12-03T09:00:00Z")],
    );
    for addon in [
        "vpc-cni",
        "kube-proxy",
        "coredns",
        "eks-pod-identity-agent",
        "aws-ebs-csi-driver",
        "eks-node-monitoring-agent",
    ] {
        let version = json!({ "version": "v1.9.9-eksbuild.3" });
        put(&mut snapshot, &names::addon(addon), &format!("llama-70b/{addon}"), version, &[], &[]);
    }
    let group = |zones: &[&str]| json!({ "subnets": subnets(zones), "release": "1.34.2-20261001" });
    put(&mut snapshot, &names::node_group("p5"), "llama-70b/p5", group(&["usw2-az2"]), &[], &[]);
    put(&mut snapshot, &names::node_group("system"), "llama-70b/system", group(&["usw2-az1", "usw2-az2"]), &[], &[]);
    let entry = json!({ "principal": { "$id": CALLER } });
    put(&mut snapshot, &names::caller_entry(CALLER), CALLER, entry, &[], &[]);
    put(&mut snapshot, &names::weights_bucket(), "llama-70b-weights-old", json!({}), &[], &[]);
    snapshot
}

/// The snapshot in which every wish of a graph lives as its kind says that AWS would show it.
pub fn settled(graph: &DesiredGraph, before: &Snapshot) -> Snapshot {
    let mut outputs = BTreeMap::<Address, Outputs>::new();
    let mut snapshot = Snapshot { sights: BTreeMap::new(), ..before.clone() };
    let mut left: Vec<_> = graph.wishes.values().collect();
    while !left.is_empty() {
        let before = left.len();
        left.retain(|wish| {
            let kind = resources::kind(wish.address.kind()).unwrap();
            let mut want = wish.doc.clone();
            let find = |address: &Address, output: &str| outputs.get(address)?.get(output).cloned();
            let needed = graph.needs(&wish.address);
            if !resolve(&mut want, &find) || !needed.iter().all(|need| outputs.contains_key(need)) {
                return true;
            }
            let mut tags = graph.tags.clone();
            tags.insert(RESOURCE.to_owned(), wish.address.to_string());
            if kind.anchor() {
                tags.extend(graph.anchor_tags.clone());
            }
            let stamp = Stamp { address: wish.address.clone(), tags, token: String::new() };
            let id = kind.imagine_id(&want, &hash(wish.address.as_str())).unwrap();
            let doc = kind.imagine(&want, &id, &stamp, Phase::There).unwrap();
            let live = live(kind, doc).unwrap();
            outputs.insert(wish.address.clone(), live.look.outputs.clone());
            let sight = snapshot.sights.entry(kind.name().to_owned()).or_insert(Sight::Seen(vec![]));
            let Sight::Seen(all) = sight else { unreachable!() };
            all.push(live);
            false
        });
        assert!(
            left.len() < before,
            "needs in a circle, or no wishes: {:?}",
            left.iter().map(|w| &w.address).collect::<Vec<_>>()
        );
    }
    snapshot
}

fn hash(text: &str) -> String {
    infer_stack::stack::names::hash(text, 8)
}
