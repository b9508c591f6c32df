//! The cluster layer: the control plane, who may enter it, its add-ons, the roles of its pods, and Karpenter's queue. Must never
//! leave to EKS a default that costs money or admits somebody.

use crate::{
    catalog::Catalog,
    choose::{Choices, needed_addons},
    desired::{DesiredGraph, configuration, identity, network, policies},
    model::{Address, Link},
    resources::{
        access_entry::{self, AccessEntry, Association, EntryType, eks_policy},
        addon::{self, Addon, Conflicts},
        cluster::{self, Authentication, Cluster, Endpoint, Support},
        event_rule::{self, EventRule, Target},
        log_group::{self, LogGroup},
        pod_identity::{self, PodIdentity},
        queue::{self, Queue},
    },
    stack::{AccessPolicy, LogType, Spec, SupportType, names},
};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Days that logs of the control plane are kept; EKS's own group keeps them, and bills them, for ever.
const LOG_DAYS: u32 = 30;
/// Seconds that Karpenter's queue keeps a message: what it warns of comes within two minutes.
const QUEUE_SECONDS: u32 = 300;

/// Add-ons that nodes can't become ready without, or whose pods must not start first; with the reason why node groups wait.
pub(super) const BEFORE_NODES: &[(&str, &str)] = &[
    ("vpc-cni", "without a network plugin no node becomes ready, and the group ends CREATE_FAILED"),
    ("kube-proxy", "pods of a node without it reach no service"),
    ("eks-pod-identity-agent", "pods that start before it get the role of the node"),
];

/// Adds the wishes of the layer.
pub fn cluster(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, catalog: &Catalog) {
    control_plane(graph, spec, choices);
    entries(graph, spec, choices);
    pod_identities(graph);
    addons(graph, spec, choices, catalog);
    if identity::has_karpenter(spec) {
        interruptions(graph);
    }
}

/// Name of the cluster, for whatever belongs to it.
pub fn name() -> Link {
    Link::to(&names::cluster(), "name")
}

fn control_plane(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices) {
    let of = graph.identity.clone();
    let logs = log_group::Desired { name: names::log_group_name(&of), retention: Some(LOG_DAYS) };
    // Also without `cluster.logs`: it costs nothing empty, and switching logs off deletes none.
    graph.wish(&LogGroup, &names::log_group(), &logs, "EKS would make it without a retention and leave it behind");
    let file = &spec.cluster;
    let want = cluster::Desired {
        name: names::cluster_name(&of),
        version: choices.cluster_version.value.clone(),
        role: identity::cluster_role(spec),
        subnets: network::control_plane_subnets(spec, choices),
        zones: choices.control_plane_zones.value.iter().cloned().collect(),
        endpoint: Endpoint {
            public: file.endpoint.public,
            private: file.endpoint.private,
            public_cidrs: choices.public_cidrs.value.iter().filter(|_| file.endpoint.public).cloned().collect(),
        },
        logs: file.logs.iter().map(|log| log_name(*log).to_owned()).collect(),
        authentication: Authentication::Api,
        // The API's own default is EXTENDED, at six times the price once standard support ends.
        support: match file.support_type {
            SupportType::Standard => Support::Standard,
            SupportType::Extended => Support::Extended,
        },
        deletion_protection: spec.protect,
        secrets_key: file.secrets_key.clone(),
        // Add-ons are wished one by one, and so are entries: what EKS does by itself nobody could take back.
        bootstrap_addons: false,
        creator_is_admin: false,
        auto_mode: false,
        zonal_shift: false,
    };
    let because = format!("cluster: {}, because {}", want.version, choices.cluster_version.because);
    graph
        .wish(&Cluster, &names::cluster(), &want, because)
        .after(names::log_group(), "EKS makes the group itself when it is missing, without retention and tags");
}

fn log_name(log: LogType) -> &'static str {
    match log {
        LogType::Api => "api",
        LogType::Audit => "audit",
        LogType::Authenticator => "authenticator",
        LogType::ControllerManager => "controllerManager",
        LogType::Scheduler => "scheduler",
    }
}

/// Who may enter: nodes, those who ran `up`, those whom the file names.
fn entries(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices) {
    let region = graph.identity.region.clone();
    // Also where EKS would make it: dropping the last Karpenter class must not take the managed nodes' access away.
    let nodes = access_entry::Desired {
        cluster: name(),
        principal: identity::node_role(spec, "arn"),
        r#type: EntryType::Ec2Linux,
        groups: BTreeSet::new(),
        policies: BTreeSet::new(),
    };
    graph.wish(&AccessEntry, &names::node_entry(), &nodes, "nodes enter the cluster with their role");

    // EKS takes one entry a principal: a second line of the file for the same one adds its policy.
    let mut wanted: BTreeMap<&str, (BTreeSet<&str>, Vec<String>)> = BTreeMap::new();
    for (place, access) in spec.cluster.access.iter().enumerate() {
        let (policies, because) = wanted.entry(&access.principal).or_default();
        policies.insert(access_policy(access.policy));
        because.push(format!("cluster.access[{place}]"));
    }
    for principal in &choices.callers.value {
        wanted.entry(principal).or_insert_with(|| {
            (
                BTreeSet::from([access_policy(AccessPolicy::Admin)]),
                vec![format!("the caller: {}", choices.callers.because)],
            )
        });
    }
    for (principal, (policies, because)) in wanted {
        let want = access_entry::Desired {
            cluster: name(),
            principal: Link::is(principal),
            r#type: EntryType::Standard,
            groups: BTreeSet::new(),
            policies: policies
                .into_iter()
                .map(|policy| Association { policy: eks_policy(&region, policy), namespaces: BTreeSet::new() })
                .collect(),
        };
        graph.wish(&AccessEntry, &entry(choices, principal), &want, because.join(", "));
    }
}

/// A caller whom the file names later keeps the address of its entry: EKS would refuse a second one.
fn entry(choices: &Choices, principal: &str) -> Address {
    if choices.callers.value.iter().any(|caller| caller == principal) {
        names::caller_entry(principal)
    } else {
        names::access_entry(principal)
    }
}

fn access_policy(policy: AccessPolicy) -> &'static str {
    match policy {
        // `AmazonEKSAdminPolicy` is that of a namespace.
        AccessPolicy::Admin => "AmazonEKSClusterAdminPolicy",
        AccessPolicy::Edit => "AmazonEKSEditPolicy",
        AccessPolicy::View => "AmazonEKSViewPolicy",
    }
}

/// Role, namespace, service account, and the add-on whose pods take it, where EKS runs them.
const SERVICE_ACCOUNTS: &[(&str, &str, &str, Option<&str>)] = &[
    ("ebs-csi", "kube-system", "ebs-csi-controller-sa", Some("aws-ebs-csi-driver")),
    ("fsx-csi", "kube-system", "fsx-csi-controller-sa", Some("aws-fsx-csi-driver")),
    ("mountpoint-csi", "kube-system", "s3-csi-driver-sa", Some("aws-mountpoint-s3-csi-driver")),
    ("cluster-autoscaler", "kube-system", "cluster-autoscaler", None),
    ("karpenter", "kube-system", "karpenter", None),
    ("load-balancer-controller", "kube-system", "aws-load-balancer-controller", None),
    ("weights", names::SERVING_NAMESPACE, names::SERVING_ACCOUNT, None),
];

/// One association for each role of pods that the identity layer wished.
fn pod_identities(graph: &mut DesiredGraph) {
    for (role, namespace, account, _) in SERVICE_ACCOUNTS {
        let role_address = Address::new("role", role);
        let Some(because) = graph.wishes.get(&role_address).map(|wish| wish.because.clone()) else { continue };
        let want = pod_identity::Desired {
            cluster: name(),
            namespace: (*namespace).to_owned(),
            service_account: (*account).to_owned(),
            role: Link::to(&role_address, "arn"),
        };
        graph.wish(&PodIdentity, &names::pod_identity(role), &want, because);
    }
}

fn addons(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, catalog: &Catalog) {
    let callers: Vec<Address> = choices.callers.value.iter().map(|principal| names::caller_entry(principal)).collect();
    for (name, why) in needed_addons(spec, catalog) {
        let stated = spec.cluster.addons.get(&name).and_then(|addon| addon.configuration.as_ref());
        let version = choices.addons.get(&name);
        let want = addon::Desired {
            cluster: self::name(),
            version: version.map(|choice| choice.value.clone()),
            configuration: configuration::of(&name, &graph.identity.region, &graph.tags, stated),
            // Nothing of ours was there before; what a person changed by hand inside is drift.
            resolve_conflicts: Conflicts::Overwrite,
            name: name.clone(),
        };
        let before_nodes = BEFORE_NODES.iter().any(|(first, _)| *first == name);
        let identities: Vec<Address> = SERVICE_ACCOUNTS
            .iter()
            .filter(|(role, _, _, addon)| {
                *addon == Some(name.as_str()) && graph.wishes.contains_key(&names::pod_identity(role))
            })
            .map(|(role, ..)| names::pod_identity(role))
            .collect();
        let wish = graph.wish(&Addon, &names::addon(&name), &want, why);
        for caller in &callers {
            wish.after(caller.clone(), "whoever runs this must get in before anything inside can fail");
        }
        for identity in identities {
            wish.after(identity, "pods that start before their association get no role");
        }
        if !before_nodes {
            for (first, _) in BEFORE_NODES {
                wish.after(names::addon(first), "its pods need the network and their roles");
            }
        }
    }
}

/// What EC2 tells of instances that end, and where Karpenter reads it: name, source, kind of event, what it is.
const WARNINGS: &[(&str, &str, &str, &str)] = &[
    ("spot-interruption", "aws.ec2", "EC2 Spot Instance Interruption Warning", "spot interruptions"),
    ("rebalance", "aws.ec2", "EC2 Instance Rebalance Recommendation", "rebalance recommendations"),
    ("state-change", "aws.ec2", "EC2 Instance State-change Notification", "instances that stop or end"),
    ("health", "aws.health", "AWS Health Event", "scheduled maintenance"),
    (
        "reservation-interruption",
        "aws.ec2",
        "EC2 Capacity Reservation Instance Interruption Warning",
        "capacity reservations that end",
    ),
];

fn interruptions(graph: &mut DesiredGraph) {
    let of = graph.identity.clone();
    let because = "Karpenter drains a node that EC2 is about to take (nodeClasses[].provisioner: karpenter)";
    let want = queue::Desired {
        name: names::queue_name(&of),
        retention: QUEUE_SECONDS,
        encrypted: true,
        policy: policies::interruption_queue(&of),
    };
    graph.wish(&Queue, &names::interruption_queue(), &want, because);
    for (rule, source, detail, what) in WARNINGS {
        let want = event_rule::Desired {
            name: names::event_rule_name(&of, rule),
            description: format!("{what}, to Karpenter"),
            pattern: json!({ "source": [source], "detail-type": [detail] }),
            enabled: true,
            targets: vec![Target { id: "interruption".to_owned(), to: Link::to(&names::interruption_queue(), "arn") }],
        };
        graph.wish(&EventRule, &names::event_rule(rule), &want, because);
    }
}
