//! Is the stack, at its largest, inside the file's budget? Must never let an unknown price pass for none.

use crate::preflight::{Check, Finding, Input};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let Some(budget) = &input.spec.budget else { return vec![] };
    let (check, subject) = (Check::Budget, "budget.maxHourlyUsd");
    let (limit, most) = (budget.max_hourly_usd, input.cost.hourly_max);
    let finding = if most > limit {
        let message = format!("at its largest the stack costs ${most:.2}/h, the file allows ${limit:.2}/h");
        Finding::block(check, subject, message).remedy("lower nodes.max, or raise budget.maxHourlyUsd")
    } else if let Some(unknown) = input.cost.unknown.first() {
        let others = match input.cost.unknown.len() {
            1 => String::new(),
            n => format!(", and {} more", n - 1),
        };
        let message = format!(
            "${most:.2}/h at its largest, without {} of {}{others}: {}",
            unknown.unit, unknown.address, unknown.why
        );
        Finding::unknown(check, subject, message)
    } else {
        Finding::pass(check, subject, format!("${most:.2}/h at its largest, of ${limit:.2}/h"))
    };
    vec![finding.numbers(most, Some(limit), None)]
}
