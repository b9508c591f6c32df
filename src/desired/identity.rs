//! The identity layer: one role for each thing that acts in AWS. Must never make, or name as a wish, a role brought along.

use crate::{
    catalog::Catalog,
    choose::Choices,
    desired::{DesiredGraph, policies},
    model::{Address, Identity, Link, Policy, aws_policy, iam_arn, partition},
    resources::{instance_profile, role},
    stack::{NatGateways, Network, Provisioner, Spec, WeightSource, names},
};
use std::collections::BTreeMap;

/// Seconds: services and pods renew what they hold, so IAM's shortest will do.
const SESSION: u32 = 3_600;

/// Adds roles, and the instance profile where Karpenter can't make its own.
pub fn identity(graph: &mut DesiredGraph, spec: &Spec, choices: &Choices, _catalog: &Catalog) {
    let of = graph.identity.clone();
    let region = &of.region;
    let mut add = |name: &str, what: Wanted<'_>| {
        let wish = role::Desired {
            name: names::role_name(&of, name),
            path: names::iam_path(&of, spec.iam.path.as_deref()),
            description: what.does.to_owned(),
            trust: what.trust,
            managed: what.managed.iter().map(|policy| aws_policy(region, policy)).collect(),
            inline: what.inline.map(|policy| (name.to_owned(), policy)).into_iter().collect::<BTreeMap<_, _>>(),
            boundary: spec.iam.permissions_boundary.clone(),
            max_session: SESSION,
        };
        graph.wish(&role::Role, &Address::new("role", name), &wish, what.because);
    };
    if spec.iam.cluster_role.is_none() {
        add(
            "cluster",
            Wanted {
                does: "the control plane",
                trust: role::trust_service("eks.amazonaws.com"),
                managed: &["AmazonEKSClusterPolicy"],
                inline: None,
                because: "a control plane acts with a role; iam.clusterRole names none",
            },
        );
    }
    if spec.iam.node_role.is_none() {
        add(
            "node",
            Wanted {
                does: "the nodes",
                trust: role::trust_service(ec2_service(region)),
                // AmazonEKSWorkerNodePolicy also lets the pod identity agent hand out the roles of pods.
                managed: &[
                    "AmazonEKSWorkerNodePolicy",
                    "AmazonEC2ContainerRegistryPullOnly",
                    "AmazonEKS_CNI_Policy",
                    "AmazonSSMManagedInstanceCore",
                ],
                inline: None,
                because: "all nodes of a stack share one role; iam.nodeRole names none",
            },
        );
    }
    for (name, inline, managed, does, because) in controllers(&of, spec, choices) {
        add(name, Wanted { does, trust: role::trust_pods(), managed, inline, because });
    }
    if has_karpenter(spec) && !makes_profiles(spec) {
        let profile = instance_profile::Desired {
            name: names::role_name(&of, "node"),
            path: names::iam_path(&of, spec.iam.path.as_deref()),
            role: Some(node_role(spec, "name")),
        };
        let because = "network.natGateways: none leaves Karpenter no way to IAM to make its own";
        graph.wish(&instance_profile::InstanceProfile, &names::node_profile(), &profile, because);
    }
}

struct Wanted<'a> {
    does: &'a str,
    trust: Policy,
    managed: &'a [&'a str],
    inline: Option<Policy>,
    because: &'a str,
}

type Controller = (&'static str, Option<Policy>, &'static [&'static str], &'static str, &'static str);

/// What runs in pods and acts in AWS: name, inline policy, managed policies, what it does, why it is there.
fn controllers(of: &Identity, spec: &Spec, choices: &Choices) -> Vec<Controller> {
    let mut found: Vec<Controller> = vec![(
        "ebs-csi",
        None,
        &["service-role/AmazonEBSCSIDriverPolicy"],
        "the EBS CSI driver",
        "volumes of pods are made by the EBS CSI driver",
    )];
    if has_autoscaler(spec) {
        let policy = policies::cluster_autoscaler(of);
        let why = "a managed class with nodes.min below nodes.max is moved by cluster-autoscaler";
        found.push(("cluster-autoscaler", Some(policy), &[], "cluster-autoscaler", why));
    }
    if has_karpenter(spec) {
        let policy = policies::karpenter(of, &node_role_arn(of, spec), makes_profiles(spec));
        found.push(("karpenter", Some(policy), &[], "Karpenter's controller", "a class has provisioner: karpenter"));
    }
    if has_ingress(spec) {
        let policy = policies::load_balancer_controller(of);
        let does = "the load balancer controller";
        found.push(("load-balancer-controller", Some(policy), &[], does, "serving.ingress is set"));
    }
    let Some(weights) = &spec.weights else { return found };
    let prefix = weights.bucket.as_ref().map_or("", |bucket| bucket.prefix.as_str());
    let brought = weights.bucket.as_ref().is_some_and(|bucket| !bucket.create);
    let read = choices.bucket.as_ref().map(|bucket| policies::read_weights(of, &bucket.value, prefix, brought));
    match weights.source {
        WeightSource::Fsx => {
            let policy = policies::fsx_csi();
            found.push(("fsx-csi", Some(policy), &[], "the FSx CSI driver", "weights.source: fsx"));
        }
        WeightSource::Mountpoint if read.is_some() => {
            found.push(("mountpoint-csi", read, &[], "the Mountpoint CSI driver", "weights.source: mountpoint"));
        }
        WeightSource::S3Stream if read.is_some() => {
            found.push(("weights", read, &[], "reads the weights", "weights.source: s3Stream"));
        }
        WeightSource::Mountpoint | WeightSource::S3Stream | WeightSource::Image => {}
    }
    found
}

/// True when something moves the size of a managed class: without room between min and max nothing does.
pub fn has_autoscaler(spec: &Spec) -> bool {
    let managed = spec.node_classes.iter().filter(|class| class.provisioner == Provisioner::Managed);
    managed.into_iter().any(|class| class.nodes.min < class.nodes.max)
}

pub fn has_karpenter(spec: &Spec) -> bool {
    spec.node_classes.iter().any(|class| class.provisioner == Provisioner::Karpenter)
}

pub fn has_ingress(spec: &Spec) -> bool {
    spec.serving.as_ref().is_some_and(|serving| serving.ingress.is_some())
}

/// IAM has no endpoint in a network of ours without a way out.
fn makes_profiles(spec: &Spec) -> bool {
    !matches!(spec.network, Network::Made { nat_gateways: NatGateways::None, .. })
}

fn ec2_service(region: &str) -> &'static str {
    if partition(region) == "aws-cn" { "ec2.amazonaws.com.cn" } else { "ec2.amazonaws.com" }
}

/// ARN of the cluster role, ours or brought along.
pub fn cluster_role(spec: &Spec) -> Link {
    match &spec.iam.cluster_role {
        Some(arn) => Link::is(arn),
        None => Link::to(&names::cluster_role(), "arn"),
    }
}

/// The node role, ours or brought along; `output` is `arn` or `name`.
pub fn node_role(spec: &Spec, output: &str) -> Link {
    match &spec.iam.node_role {
        Some(arn) if output == "name" => Link::is(arn.rsplit('/').next().unwrap_or(arn)),
        Some(arn) => Link::is(arn),
        None => Link::to(&names::node_role(), output),
    }
}

/// A role's ARN is known before the role is made, so that a policy that names it is complete in the plan.
fn node_role_arn(of: &Identity, spec: &Spec) -> String {
    spec.iam.node_role.clone().unwrap_or_else(|| {
        let path = names::iam_path(of, spec.iam.path.as_deref());
        iam_arn(&of.region, &of.account, &format!("role{path}{}", names::role_name(of, "node")))
    })
}
