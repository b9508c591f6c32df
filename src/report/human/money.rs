//! Dollars as people read them. Must never show a sum without what it leaves out.

use crate::{
    cost::Cost,
    report::style::{Style, columns, dollars, grouped, wrap},
};
use std::{collections::BTreeMap, fmt::Write};

/// Sums, then what they are made of, then what they leave out.
pub fn money(out: &mut String, cost: &Cost, style: Style) {
    if cost.items.is_empty() && cost.unknown.is_empty() && cost.hourly_now == 0.0 {
        return;
    }
    let until = cost.until_expiry.map(|usd| format!("   until expiry {}", dollars(usd))).unwrap_or_default();
    let _ = writeln!(
        out,
        "{}     now {}/h   after {}/h   at most {}/h{until}",
        style.bold("Money"),
        dollars(cost.hourly_now),
        dollars(cost.hourly_after),
        dollars(cost.hourly_max)
    );
    let mut units: BTreeMap<&str, (f64, f64)> = BTreeMap::new();
    for item in &cost.items {
        let sum = units.entry(&item.unit).or_default();
        *sum = (sum.0 + item.quantity, sum.1 + item.hourly);
    }
    let mut sums: Vec<(&str, (f64, f64))> = units.into_iter().filter(|(_, (_, hourly))| *hourly > 0.0).collect();
    sums.sort_by(|a, b| b.1.1.total_cmp(&a.1.1));
    let words: Vec<String> = sums
        .into_iter()
        .map(|(unit, (quantity, hourly))| format!("{} {}/h", amount(unit, quantity, style), dollars(hourly)))
        .collect();
    for line in columns_of(&words, style.width.saturating_sub(10)) {
        let _ = writeln!(out, "          {line}");
    }
    if let Some(day) = &cost.as_of {
        let estimates = if cost.items.iter().any(|item| item.estimate) {
            ", some of another region or not confirmed by AWS's own list"
        } else {
            ""
        };
        let _ = writeln!(out, "          {}", style.dim(&format!("list prices of {day}{estimates}")));
    }
    if !cost.unknown.is_empty() {
        let list: Vec<String> = cost.unknown.iter().map(|u| format!("{} ({})", u.address, u.why)).collect();
        for line in wrap(&format!("not in these sums: {}", list.join("; ")), style.width.saturating_sub(10)) {
            let _ = writeln!(out, "          {}", style.warn(&line));
        }
    }
}

/// A billed unit in the words of whoever pays it. A unit without words is an instance type.
fn amount(unit: &str, quantity: f64, style: Style) -> String {
    let n = number(quantity);
    let s = if quantity == 1.0 { "" } else { "s" };
    match unit.split_once(':').unwrap_or((unit, "")) {
        ("eksClusterHours", _) => format!("{n} control plane{s}"),
        ("eksClusterExtendedHours", _) => format!("{n} control plane{s} in extended support"),
        ("natGatewayHours", _) => format!("{n} NAT gateway{s} + data"),
        ("publicIpv4Hours", _) => format!("{n} public address{}", if s.is_empty() { "" } else { "es" }),
        ("interfaceEndpointHours", _) => format!("{n} endpoint interface{s} + data"),
        ("gatewayEndpointHours", _) => format!("{n} gateway endpoint{s}"),
        ("loadBalancerHours", _) => format!("{n} load balancer{s} + traffic"),
        ("gp3IopsMonths", _) => format!("{n} IOPS gp3"),
        ("gp3MibpsMonths", _) => format!("{n} MiB/s gp3"),
        ("io1IopsMonths", _) => format!("{n} IOPS io1"),
        ("io2IopsMonths", _) => format!("{n} IOPS io2"),
        ("snapshotGibMonths", _) => format!("{n} GiB snapshots"),
        ("s3GibMonths", _) => format!("{n} GiB in S3"),
        ("fsxGibMonths", speed) => format!("{n} GiB Lustre at {speed} MB/s a TiB"),
        (volume, "") if volume.ends_with("GibMonths") => format!("{n} GiB {}", volume.trim_end_matches("GibMonths")),
        _ => format!("{n} {} {unit}", style.times()),
    }
}

fn number(quantity: f64) -> String {
    if quantity.fract() == 0.0 { grouped(quantity as u64) } else { format!("{quantity:.2}") }
}

/// Joins items with three blanks into lines of at most `width` columns; an item is never broken.
fn columns_of(items: &[String], width: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for item in items {
        match lines.last_mut() {
            Some(line) if columns(line) + 3 + columns(item) <= width => {
                line.push_str("   ");
                line.push_str(item);
            }
            _ => lines.push(item.clone()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_are_in_the_words_of_whoever_pays() {
        let words = |unit, n| amount(unit, n, Style::PLAIN);
        assert_eq!(words("eksClusterHours", 1.0), "1 control plane");
        assert_eq!(words("publicIpv4Hours", 2.0), "2 public addresses");
        assert_eq!(words("gp3GibMonths", 1200.0), "1,200 GiB gp3");
        assert_eq!(words("fsxGibMonths:250", 1200.0), "1,200 GiB Lustre at 250 MB/s a TiB");
        assert_eq!(words("p5.48xlarge", 2.0), "2 × p5.48xlarge");
    }

    #[test]
    fn no_billed_unit_is_shown_by_its_key() {
        let prices: serde_json::Value =
            serde_json::from_str(include_str!("../../../data/prices.json")).expect("the prices are compiled in");
        for unit in prices["units"].as_object().expect("units by name").keys() {
            if crate::catalog::hours_of(unit).is_some() {
                assert!(!amount(unit, 2.0, Style::PLAIN).contains("ours"), "{unit}");
                assert!(!amount(unit, 2.0, Style::PLAIN).contains("onths"), "{unit}");
            }
        }
    }
}
