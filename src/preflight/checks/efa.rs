//! Can a node have the EFA interfaces that its class wants? Must never count network cards instead.

use crate::preflight::{Check, Finding, Input};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = vec![];
    for (class, choice) in input.classes().filter(|(_, choice)| choice.efa > 0) {
        for name in &class.instance_types {
            let subject = format!("{} ({name})", class.name);
            let Some(known) = input.catalog.instance_type(name) else {
                let message = format!("how many EFA interfaces {name} takes is not known");
                findings.push(Finding::unknown(Check::Efa, subject, message));
                continue;
            };
            let numbers =
                |finding: Finding| finding.numbers(f64::from(choice.efa), Some(f64::from(known.efa_max)), None);
            findings.push(numbers(if choice.efa > known.efa_max {
                let finding = if known.efa_max == 0 {
                    Finding::block(Check::Efa, subject, format!("{name} has no EFA"))
                } else {
                    let message = format!("{name} takes {} EFA interfaces at most, not {}", known.efa_max, choice.efa);
                    Finding::block(Check::Efa, subject, message)
                };
                match input.catalog.smallest_with_efa_in_family(known.family()) {
                    Some(other) if known.efa_max == 0 => finding
                        .remedy(format!("the smallest of its family that has EFA is {}; or `efa: none`", other.name)),
                    _ => finding.remedy(format!("nodeClasses[{}].efa: all", class.name)),
                }
            } else if input.catalog.efa_layout(name, Some(choice.efa)).is_none() {
                let message = format!("no layout of {} EFA interfaces on the cards of {name} is known", choice.efa);
                Finding::unknown(Check::Efa, subject, message)
            } else {
                Finding::pass(Check::Efa, subject, format!("{} EFA interfaces a node of {name}", choice.efa))
            }));
        }
    }
    findings
}
