//! What lives, as people read it. Must never look by itself.

use crate::report::{
    document::StatusDocument,
    style::{Style, dollars, duration, pad, wrap},
};
use std::fmt::Write;

/// Columns of a state; a longer one stands below its resource.
const STATE: usize = 12;

pub fn status(status: &StatusDocument, style: Style, verbose: bool) -> String {
    let mut out = String::new();
    let account =
        status.header.account.as_deref().map(|a| format!("account {}  ", style.account(a))).unwrap_or_default();
    let _ = writeln!(out, "{}   {account}{}", style.bold(&status.header.stack), status.header.region);
    if status.resources.is_empty() && status.not_looked.is_empty() {
        out.push_str("nothing of it lives\n");
        return out;
    }
    let left = match (status.seconds_left, status.expires.as_deref()) {
        (Some(seconds), _) if seconds >= 0 => format!("{} left", duration(seconds.unsigned_abs())),
        (Some(seconds), _) => style.bad(&format!("expired {} ago", duration(seconds.unsigned_abs()))),
        (None, Some("never")) => "does not expire".to_owned(),
        (None, _) => "no expiry is known".to_owned(),
    };
    let types: Vec<String> =
        status.node_types.iter().map(|(name, n)| format!("{n} {} {name}", style.times())).collect();
    let types = if types.is_empty() { String::new() } else { format!(": {}", types.join(", ")) };
    let _ = writeln!(
        out,
        "{} resources   {} nodes{types}   {} accelerators   {}/h   {left}\n",
        status.resources.len(),
        status.nodes,
        status.accelerators,
        dollars(status.hourly_usd)
    );
    let mut hidden = 0;
    for resource in &status.resources {
        let worth_it = resource.state != "ready" || resource.hourly_usd.is_some_and(|usd| usd > 0.0);
        if !verbose && !worth_it {
            hidden += 1;
            continue;
        }
        let name = resource.address.clone().unwrap_or_else(|| resource.what.clone());
        let price = resource.hourly_usd.filter(|usd| *usd > 0.0).map(|usd| format!("{}/h", dollars(usd)));
        let price = price.unwrap_or_default();
        if resource.state.chars().count() <= STATE {
            let state = pad(&resource.state, STATE);
            let _ = writeln!(out, "  {} {} {state} {price}", pad(&name, 32), pad(&resource.id, 28));
            continue;
        }
        let _ = writeln!(out, "  {} {} {} {price}", pad(&name, 32), pad(&resource.id, 28), pad("", STATE));
        for line in wrap(&resource.state, style.width.saturating_sub(6)) {
            let _ = writeln!(out, "      {}", style.warn(&line));
        }
    }
    if hidden > 0 {
        let _ = writeln!(out, "  {hidden} more are ready and free of charge   {}", style.dim("--verbose lists them"));
    }
    for (what, why) in &status.not_looked {
        let _ = writeln!(out, "  {} could not look at {what}: {why}", style.warn("?"));
    }
    out
}
