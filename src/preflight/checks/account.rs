//! Is this the account that the file means? Must never let another one through.

use crate::preflight::{Check, Finding, Input, words::not_had};

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let check = Check::Account;
    let Some(meant) = &input.spec.account else { return vec![] };
    vec![match &input.catalog.facts().caller {
        Some(Ok(caller)) if caller.account == *meant => {
            Finding::pass(check, meant, "the credentials are of the account that the file names")
        }
        Some(Ok(caller)) => Finding::block(
            check,
            meant,
            format!("the credentials are of account {}, the file is for {meant}", caller.account),
        )
        .remedy("use credentials of that account (AWS_PROFILE), or change `account` in the file"),
        other => Finding::unknown(check, meant, format!("whose credentials these are: {}", not_had(other.as_ref()))),
    }]
}
