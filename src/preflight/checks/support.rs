//! How long AWS supports the Kubernetes version, and what follows. Must never judge by a date that AWS was not asked for.

use crate::{
    preflight::{Check, Finding, Input, words::not_live},
    stack::SupportType,
};
use jiff::civil::Date;

/// Days before the end from which it is worth a word.
const SOON: i32 = 60;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let check = Check::Support;
    let version = &input.choices.cluster_version.value;
    let subject = format!("Kubernetes {version}");
    let known = input.catalog.cluster_versions();
    if let Some(why) = not_live(&known.source) {
        return vec![Finding::unknown(check, subject, format!("how long EKS supports Kubernetes {version}: {why}"))];
    }
    let Some(row) = known.value.iter().find(|known| known.version == *version) else {
        let offered: Vec<_> = known.value.iter().map(|known| known.version.as_str()).collect();
        let message = format!("EKS does not offer Kubernetes {version}");
        return vec![Finding::block(check, subject, message).remedy(format!("it offers {}", offered.join(", ")))];
    };
    let today = input.circumstances.now.get(..10).and_then(|day| day.parse::<Date>().ok());
    let end = row.end_of_standard_support.as_deref().and_then(|day| day.parse::<Date>().ok());
    let (Some(end), Some(today)) = (end, today) else {
        return vec![Finding::pass(check, subject, format!("EKS names no end of support for Kubernetes {version}"))];
    };
    let days = today.until(end).map_or(0, |span| span.get_days());
    let extended = input.spec.cluster.support_type == SupportType::Extended;
    let next = "raise cluster.version by one minor";
    vec![match (days < 0, days < SOON) {
        (true, _) if extended => {
            let message =
                format!("standard support of Kubernetes {version} ended {end}: the control plane bills $0.60/h");
            Finding::warn(check, subject, message).remedy(next)
        }
        (true, _) => {
            let message =
                format!("standard support of Kubernetes {version} ended {end}: EKS upgrades the cluster by itself");
            Finding::warn(check, subject, message).remedy(next)
        }
        (_, true) => {
            let then = if extended { "then it bills $0.60/h" } else { "then EKS upgrades it by itself" };
            let message = format!("standard support of Kubernetes {version} ends {end}, {then}");
            Finding::warn(check, subject, message).remedy(next)
        }
        _ => Finding::pass(check, subject, format!("Kubernetes {version} is in standard support until {end}")),
    }]
}
