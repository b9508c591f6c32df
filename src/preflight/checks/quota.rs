//! vCPU quotas: what the plan's instances need against limit and running use, per family and purchase. Must never take a
//! quota above zero for enough.

use crate::{
    catalog::{Quota, VcpuQuota},
    choose::is_accelerated,
    contract::{Demand, Purchase},
    preflight::{
        Check, Finding, Input,
        words::{not_had, not_live, number},
    },
    stack::Provisioner,
};
use std::collections::BTreeMap;

/// vCPUs that a quota must hold.
#[derive(Default)]
struct Need {
    now: u32,
    max: u32,
    /// Of nodes that a rolling update starts before it ends others, at the largest size.
    surge: u32,
    /// `2 × p5.48xlarge take 192 vCPU each`
    lines: Vec<String>,
}

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut needs: BTreeMap<&str, (&Quota, Need)> = BTreeMap::new();
    let mut findings = vec![];
    for taken in &input.wished {
        let Demand::Instances { instance_type, purchase, now, max, .. } = &taken.demand else { continue };
        let (quota, code) = match input.catalog.vcpu_quota(instance_type, *purchase) {
            VcpuQuota::NotNeeded => continue,
            VcpuQuota::Of(quota) => match &quota.code {
                Some(code) => (quota, code.as_str()),
                None => continue,
            },
            VcpuQuota::Unknown => {
                let what = if *purchase == Purchase::Spot { "Spot" } else { "on-demand" };
                let message = format!("no published quota names {what} {instance_type}: only a launch tells");
                findings.push(Finding::unknown(Check::Quota, instance_type, message));
                continue;
            }
        };
        let Some(known) = input.catalog.instance_type(instance_type) else {
            let message = format!("how many vCPU {instance_type} takes of {} is not known", quota.name);
            findings.push(Finding::unknown(Check::Quota, code, message));
            continue;
        };
        let need = &mut needs.entry(code).or_insert_with(|| (quota, Need::default())).1;
        need.now += now * known.vcpus;
        need.max += max * known.vcpus;
        need.surge += surge(input, taken.address.name()) * known.vcpus;
        let nodes = if *now > 0 { *now } else { *max };
        need.lines.push(format!("{nodes} × {instance_type} take {} vCPU each.", known.vcpus));
    }
    findings.extend(needs.into_iter().flat_map(|(code, (quota, need))| judge_one(input, code, quota, &need)));
    findings
}

fn judge_one(input: &Input<'_>, code: &str, quota: &Quota, need: &Need) -> Vec<Finding> {
    let (check, region) = (Check::Quota, input.region());
    let title = format!("{} in {region}", quota.name);
    let used = used(input, code);
    let (limit, source) = {
        let known = input.catalog.limit(quota);
        (known.value, known.source)
    };
    let limit = match (limit, not_live(&source)) {
        (Some(limit), None) => limit,
        (_, why) => {
            let why = why.unwrap_or_else(|| "Service Quotas names no value".to_owned());
            let message = format!("{title}: need {} vCPU, {why}", need.now);
            return vec![Finding::unknown(check, code, message).numbers(f64::from(need.now), None, None)];
        }
    };
    let others = used.as_ref().map(|used| used.others).unwrap_or_default();
    // What the stack runs already, and only gives back while the plan runs, is covered and stays counted.
    let ours = used.as_ref().map(|used| used.ours).unwrap_or_default();
    let now = need.now.max(ours);
    let taken = |vcpus: u32| f64::from(others) + f64::from(vcpus);
    let numbers = |finding: Finding, vcpus: u32| {
        finding.numbers(f64::from(vcpus), Some(limit), used.as_ref().ok().map(|_| f64::from(others)))
    };
    let ask = |vcpus: u32| {
        format!(
            "aws service-quotas request-service-quota-increase --service-code {} --quota-code {code} --desired-value {} --region {region}",
            quota.service,
            number(taken(vcpus)),
        )
    };
    let lines = need.lines.join(" ");
    let said = |vcpus: u32| match &used {
        Ok(_) => format!("{title}: need {vcpus} vCPU, limit {}, in use {others}", number(limit)),
        Err(_) => format!("{title}: need {vcpus} vCPU, limit {}", number(limit)),
    };
    if taken(now) > limit {
        let new = if limit == 0.0 && quota.default == Some(0.0) { " A new account has 0." } else { "" };
        let finding = Finding::block(check, code, format!("{}. {lines}{new}", said(now)));
        return vec![numbers(finding, now).remedy(ask(now))];
    }
    if let Err(why) = &used {
        let finding = Finding::unknown(check, code, format!("{}; what runs already: {why}", said(now)));
        return vec![numbers(finding, now)];
    }
    let most = need.max + need.surge;
    if taken(most) > limit {
        let why = if taken(need.max) > limit {
            format!("at its largest the stack needs {} vCPU, and new nodes will stay out", need.max)
        } else {
            format!(
                "at its largest the stack needs {} vCPU, and a rolling update starts nodes of {} more before it ends others",
                need.max, need.surge
            )
        };
        let finding = Finding::warn(check, code, format!("{}. Enough to start, but {why}", said(now)));
        return vec![numbers(finding, most).remedy(ask(most))];
    }
    let left = number(limit - f64::from(others));
    let finding =
        Finding::pass(check, code, format!("{}: need {now} vCPU, {left} left of {}", quota.name, number(limit)));
    vec![numbers(finding, now)]
}

struct Used {
    others: u32,
    ours: u32,
}

/// vCPUs of running instances that draw on a quota: of this stack, and of everything else in the account.
fn used(input: &Input<'_>, code: &str) -> Result<Used, String> {
    let facts = input.catalog.facts();
    let Some(Ok(running)) = &facts.running else { return Err(not_had(facts.running.as_ref())) };
    let stack = &input.graph.identity.stack;
    let mut used = Used { others: 0, ours: 0 };
    for instances in running {
        let draws = match input.catalog.vcpu_quota(&instances.instance_type, instances.purchase) {
            VcpuQuota::Of(quota) => quota.code.as_deref() == Some(code),
            VcpuQuota::NotNeeded | VcpuQuota::Unknown => false,
        };
        if !draws {
            continue;
        }
        let Some(known) = input.catalog.instance_type(&instances.instance_type) else {
            return Err(format!("{} runs, whose vCPU are not known", instances.instance_type));
        };
        let vcpus = instances.count * known.vcpus;
        if instances.stack.as_ref() == Some(stack) { used.ours += vcpus } else { used.others += vcpus }
    }
    Ok(used)
}

/// Nodes that EKS adds while it replaces others: twice the zones of the group (EKS user guide, managed node update
/// behaviour). Accelerated groups are updated the other way round: ended first.
fn surge(input: &Input<'_>, group: &str) -> u32 {
    let mine = input.classes().find(|(_, choice)| choice.groups.iter().any(|g| g.name == group));
    let Some((class, choice)) = mine else { return 0 };
    if class.provisioner == Provisioner::Karpenter || is_accelerated(class, input.catalog) {
        return 0;
    }
    u32::try_from(2 * Input::zones(choice).len()).unwrap_or(u32::MAX)
}
