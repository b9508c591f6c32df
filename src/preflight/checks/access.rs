//! Will whoever runs this reach the cluster, and who else will? Must never mistake IAM rights for access to Kubernetes.

use crate::{
    preflight::{Check, Finding, Input, words::not_had},
    stack::AccessPolicy,
};
use ipnet::IpNet;
use std::net::IpAddr;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = vec![entry(input)];
    findings.extend(reach(input));
    findings.extend(open(input));
    findings
}

fn entry(input: &Input<'_>) -> Finding {
    let check = Check::Access;
    let principal = match &input.catalog.facts().caller {
        Some(Ok(caller)) => &caller.principal,
        other => {
            let message = format!("whether whoever runs this may use the cluster: {}", not_had(other.as_ref()));
            return Finding::unknown(check, "caller", message);
        }
    };
    let stated = input.spec.cluster.access.iter().find(|access| access.principal == *principal);
    match stated.map(|access| access.policy) {
        Some(AccessPolicy::Admin) => Finding::pass(check, principal, "whoever runs this is admin by the file"),
        Some(policy) => {
            let name = if policy == AccessPolicy::View { "view" } else { "edit" };
            let message = format!("{principal} runs this and has policy {name}: cluster-wide objects can't be applied");
            Finding::warn(check, principal, message).remedy("policy: admin in cluster.access")
        }
        None if input.choices.callers.value.contains(principal) => {
            Finding::pass(check, principal, "whoever runs this gets, or has, an access entry")
        }
        None => {
            let message = format!("{principal} runs this and has no access entry: Kubernetes answers Unauthorized");
            Finding::warn(check, principal, message)
                .remedy(format!("cluster.access: [{{ principal: \"{principal}\", policy: admin }}]"))
        }
    }
}

/// Whether this machine gets to the endpoint.
fn reach(input: &Input<'_>) -> Option<Finding> {
    let (check, subject) = (Check::Access, "cluster.endpoint");
    let endpoint = &input.spec.cluster.endpoint;
    if !endpoint.public {
        let message = "the endpoint is private: Kubernetes objects can only be applied from inside the VPC";
        return Some(
            Finding::warn(check, subject, message).remedy("run this inside the VPC, or endpoint.public: true"),
        );
    }
    let own: IpAddr = input.catalog.facts().caller_address.as_ref()?.as_ref().ok()?.parse().ok()?;
    let covers = |cidr: &String| cidr.parse::<IpNet>().is_ok_and(|net| net.contains(&own));
    let cidrs = &input.choices.public_cidrs.value;
    (!cidrs.iter().any(covers)).then(|| {
        let message = format!("this machine's address {own} is in none of {}", cidrs.join(", "));
        Finding::warn(check, subject, message).remedy("add `caller` to cluster.endpoint.publicCidrs")
    })
}

fn open(input: &Input<'_>) -> Option<Finding> {
    let everyone = |cidr: &&String| cidr.parse::<IpNet>().is_ok_and(|net| net.prefix_len() == 0);
    let cidr = input.choices.public_cidrs.value.iter().find(everyone)?;
    let message = format!("the endpoint is open to the whole internet ({cidr})");
    Some(Finding::warn(Check::Access, "cluster.endpoint", message).remedy("cluster.endpoint.publicCidrs: [caller]"))
}
