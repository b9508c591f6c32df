//! Is the stack's time already over? Must never let something be made that the next sweep removes.

use crate::{
    model::NEVER,
    preflight::{Check, Finding, Input},
    stack::names,
};
use jiff::Timestamp;

pub(super) fn judge(input: &Input<'_>) -> Vec<Finding> {
    let (check, name) = (Check::Expiry, &input.spec.name);
    let expires = &input.choices.expires.value;
    if expires == NEVER {
        return vec![Finding::pass(check, name, "the stack does not expire")];
    }
    let times = (expires.parse::<Timestamp>(), input.circumstances.now.parse::<Timestamp>());
    let (Ok(end), Ok(now)) = times else {
        return vec![Finding::unknown(check, name, format!("`{expires}` is no time"))];
    };
    vec![if end > now {
        Finding::pass(check, name, format!("expires {end}"))
    } else if input.snapshot.at(&names::cluster()).next().is_some() {
        Finding::warn(check, name, format!("the stack expired {end}: the next sweep removes it"))
            .remedy(format!("infer-stack extend --name {name} --region {} 24h", input.region()))
    } else {
        Finding::block(check, name, format!("the stack would expire {end}, which has passed"))
            .remedy("write a later `expires` into the file")
    }]
}
