//! Are the instance types offered where the nodes will be? Asked by zone id, as letters differ between accounts. Must never
//! judge by a list that is not the account's.

use crate::preflight::{Check, Finding, Input, words::not_live};
use std::collections::BTreeSet;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = vec![];
    for (class, choice) in input.classes() {
        let types = class.instance_types.join(" or ");
        let mut offering = BTreeSet::new();
        let mut unknown = None;
        for name in &class.instance_types {
            let known = input.catalog.offered_zones(name, input.region());
            match (known.value, not_live(&known.source)) {
                (Some(zones), None) => offering.extend(zones),
                (_, why) => unknown = Some(why.unwrap_or_else(|| "EC2 does not say".to_owned())),
            }
        }
        let zones = Input::zones(choice);
        let lacking: Vec<_> = zones.iter().filter(|zone| !offering.contains(**zone)).copied().collect();
        let all: Vec<_> = offering.iter().map(String::as_str).collect();
        findings.push(match (lacking.is_empty(), unknown) {
            (true, _) => Finding::pass(Check::Offering, &types, format!("{types} in {}", all.join(", "))),
            (false, Some(why)) => Finding::unknown(
                Check::Offering,
                &types,
                format!("whether {types} is offered in {} is not known: {why}", lacking.join(", ")),
            ),
            (false, None) if all.is_empty() => {
                Finding::block(Check::Offering, &types, format!("{types} is not offered in {}", input.region()))
                    .remedy("choose another region or instance type")
            }
            (false, None) => Finding::block(
                Check::Offering,
                &types,
                format!("{types} of node class {} is not offered in {}", class.name, lacking.join(", ")),
            )
            .remedy(format!("nodeClasses[{}].zone: one of {}", class.name, all.join(", "))),
        });
    }
    findings
}
