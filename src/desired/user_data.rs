//! What a node is told at its start, beside what EKS tells it by itself. Must never join a node: EKS merges that part in.

use crate::stack::AmiFamily;

/// What our part of the user data can say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Start {
    /// `None`: the operating system counts right by itself.
    pub max_pods: Option<u32>,
    /// Images, pods and logs go to the local disks, joined as RAID 0.
    pub raid0: bool,
}

/// `None` where there is nothing to say: EKS then writes all of it.
pub fn user_data(family: AmiFamily, start: Start) -> Option<String> {
    if start.max_pods.is_none() && !start.raid0 {
        return None;
    }
    Some(match family {
        AmiFamily::Al2023 => mime(&node_config(start)),
        AmiFamily::Bottlerocket => settings(start),
    })
}

/// One part of type `application/node.eks.aws`, which EKS merges with its own part for managed groups.
fn mime(node_config: &str) -> String {
    const BOUNDARY: &str = "infer-stack";
    format!(
        "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"{BOUNDARY}\"\n\n--{BOUNDARY}\n\
         Content-Type: application/node.eks.aws\n\n{node_config}\n--{BOUNDARY}--\n"
    )
}

/// nodeadm's `NodeConfig` (awslabs/amazon-eks-ami, nodeadm).
fn node_config(start: Start) -> String {
    let mut text = "---\napiVersion: node.eks.aws/v1alpha1\nkind: NodeConfig\nspec:\n".to_owned();
    if let Some(pods) = start.max_pods {
        text += &format!("  kubelet:\n    config:\n      maxPods: {pods}\n");
    }
    if start.raid0 {
        text += "  instance:\n    localStorage:\n      strategy: RAID0\n";
    }
    text
}

/// Bottlerocket's settings, which EKS merges with its own. Bootstrap commands set up local disks from 1.22 on (Bottlerocket
/// documentation, "Configure ephemeral disks"); several disks become one RAID 0 array.
fn settings(start: Start) -> String {
    let mut text = String::new();
    if let Some(pods) = start.max_pods {
        text += &format!("[settings.kubernetes]\nmax-pods = {pods}\n");
    }
    if start.raid0 {
        text += "[settings.bootstrap-commands.local-storage]\n\
                 commands = [\n  \
                 [\"apiclient\", \"ephemeral-storage\", \"init\"],\n  \
                 [\"apiclient\", \"ephemeral-storage\", \"bind\", \"--dirs\", \"/var/lib/containerd\", \
                 \"/var/lib/kubelet\", \"/var/log/pods\"],\n]\n\
                 mode = \"always\"\nessential = true\n";
    }
    text
}
