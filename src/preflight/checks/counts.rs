//! Quotas of things that are counted one by one: VPCs, addresses, gateways, clusters, groups. Must never count what lives
//! of this stack twice.

use crate::{
    catalog::{Per, Quota},
    contract::Demand,
    cost::Taken,
    preflight::{
        Check, Finding, Input,
        words::{not_had, not_live, number},
    },
    resources::security_group,
};
use std::collections::{BTreeMap, BTreeSet};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let wished = count(&input.wished);
    let mut findings: Vec<Finding> = wished.keys().filter_map(|of| judge_one(input, of, &wished)).collect();
    findings.extend(largest_group(input));
    findings.extend(rules(input));
    findings
}

/// Counted things by name, each object's number.
fn count(taken: &[Taken]) -> BTreeMap<String, BTreeMap<String, u32>> {
    let mut counted = BTreeMap::<String, BTreeMap<String, u32>>::new();
    for taken in taken {
        if let Demand::Count { of, n } = &taken.demand {
            *counted.entry(of.clone()).or_default().entry(taken.address.to_string()).or_default() += n;
        }
    }
    counted
}

fn judge_one(input: &Input<'_>, of: &str, wished: &BTreeMap<String, BTreeMap<String, u32>>) -> Option<Finding> {
    let quota = input.catalog.count_quota(of)?;
    let objects = wished.get(of)?;
    let all: u32 = objects.values().sum();
    let live: BTreeSet<String> = input.lived.iter().map(|taken| taken.address.to_string()).collect();
    let new: u32 = objects.iter().filter(|(address, _)| !live.contains(*address)).map(|(_, n)| n).sum();
    match quota.per {
        // The account's own count holds what lives of this stack.
        Per::Region => Some(against_account(input, quota, of, new, false)),
        // The count is of all zones together: below one zone's limit it is below every zone's.
        Per::Zone => Some(against_account(input, quota, of, new, true)),
        Per::Vpc | Per::Cluster => Some(against(input, quota, of, all, 0, "")),
        Per::NodeGroup | Per::SecurityGroup | Per::NetworkInterface => None,
    }
}

fn against_account(input: &Input<'_>, quota: &Quota, of: &str, new: u32, zonal: bool) -> Finding {
    let counts = &input.catalog.facts().counts;
    let used = match counts {
        Some(Ok(counts)) => counts.get(of).copied(),
        _ => None,
    };
    let Some(used) = used else {
        let why = match counts {
            Some(Ok(_)) => "the account's were not counted".to_owned(),
            other => not_had(other.as_ref()),
        };
        let message = format!("{}: {new} more are needed, {why}", quota.name);
        return Finding::unknown(Check::Quota, subject(quota, of), message).numbers(
            f64::from(new),
            quota.default,
            None,
        );
    };
    if !zonal {
        return against(input, quota, of, new, used, "");
    }
    let finding = against(input, quota, of, new, used, " (of all zones together)");
    if finding.verdict == crate::preflight::Verdict::Block {
        // Spread over zones they may still fit.
        return Finding { verdict: crate::preflight::Verdict::Warn, ..finding };
    }
    finding
}

fn against(input: &Input<'_>, quota: &Quota, of: &str, need: u32, used: u32, note: &str) -> Finding {
    let (check, subject) = (Check::Quota, subject(quota, of));
    let known = input.catalog.limit(quota);
    // A limit without a code is in AWS's documents only, alike for all accounts.
    let why = if quota.code.is_some() { not_live(&known.source) } else { None };
    let limit = match (known.value, why) {
        (Some(limit), None) => limit,
        (_, why) => {
            let why = why.unwrap_or_else(|| "the limit is not known".to_owned());
            let message = format!("{}: {need} more are needed, {why}", quota.name);
            return Finding::unknown(check, subject, message).numbers(f64::from(need), None, Some(f64::from(used)));
        }
    };
    let total = f64::from(used) + f64::from(need);
    let numbers = |finding: Finding| finding.numbers(f64::from(need), Some(limit), Some(f64::from(used)));
    // Nothing new is needed: what is over the limit already is no reason to stop.
    if need == 0 || total <= limit {
        let left = number((limit - f64::from(used)).max(0.0));
        return numbers(Finding::pass(
            check,
            subject,
            format!("{}: need {need}, {left} left of {}{note}", quota.name, number(limit)),
        ));
    }
    let message =
        format!("{} in {}: need {need}, limit {}, in use {used}{note}", quota.name, input.region(), number(limit));
    let finding = numbers(Finding::block(check, subject, message));
    match &quota.code {
        Some(code) => finding.remedy(format!(
            "aws service-quotas request-service-quota-increase --service-code {} --quota-code {code} --desired-value {} --region {}",
            quota.service,
            number(total),
            input.region(),
        )),
        None => finding.remedy("delete what is not used any more, or ask AWS support"),
    }
}

fn subject(quota: &Quota, of: &str) -> String {
    quota.code.clone().unwrap_or_else(|| of.to_owned())
}

/// Nodes of one managed group.
fn largest_group(input: &Input<'_>) -> Option<Finding> {
    let groups = input.wished.iter().filter(|taken| taken.address.kind() == "node-group");
    let largest = groups.filter_map(|taken| match &taken.demand {
        Demand::Instances { max, .. } => Some(*max),
        _ => None,
    });
    let quota = input.catalog.count_quota("nodeOfGroup")?;
    Some(against(input, quota, "nodeOfGroup", largest.max()?, 0, " a group"))
}

/// Rules of one security group, one way.
fn rules(input: &Input<'_>) -> Option<Finding> {
    let groups = input.graph.wishes.values().filter(|wish| wish.address.kind() == "security-group");
    let most = groups.filter_map(|wish| {
        let group: security_group::Desired = serde_json::from_value(wish.doc.clone()).ok()?;
        Some(group.ingress.len().max(group.egress.len()))
    });
    let quota = input.catalog.count_quota("securityGroupRule")?;
    let most = u32::try_from(most.max()?).unwrap_or(u32::MAX);
    Some(against(input, quota, "securityGroupRule", most, 0, " a group"))
}
