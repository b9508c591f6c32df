//! Rules of AWS that a wish breaks by itself: names, lengths, combinations, as its kind knows them. Must never hold a rule of
//! its own.

use crate::{
    preflight::{Check, Finding, Input},
    resources,
};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let mut findings = vec![];
    for (address, wish) in &input.graph.wishes {
        let Some(kind) = resources::kind(address.kind()) else { continue };
        match kind.check(&wish.doc) {
            Ok(broken) => findings.extend(
                broken
                    .into_iter()
                    .map(|rule| Finding::block(Check::Names, address.as_str(), format!("{address}: {rule}"))),
            ),
            Err(error) => findings.push(Finding::unknown(Check::Names, address.as_str(), error.to_string())),
        }
    }
    if findings.is_empty() {
        let message = format!("{} wishes keep AWS's rules of names and combinations", input.graph.wishes.len());
        findings.push(Finding::pass(Check::Names, &input.spec.name, message));
    }
    findings
}
