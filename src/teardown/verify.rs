//! Reads everything a stack could have left, twice, and writes the receipt. Must never delete, and never take an error for
//! absence.

use super::{
    finder::{Finder, is_ours, state, widened},
    leftovers::finders,
    receipt::{Check, Kept, Receipt, Remaining, Status},
};
use crate::{
    catalog::Catalog,
    clock::{Clock, pause},
    cloud::{Cloud, StoreError},
    contract::{AnyKind, Class, CloudError, Ownership, ShapeError},
    cost,
    model::Scope,
    observed::{Live, Sight, relook},
    stack::names,
};
use futures::future::join_all;
use std::time::Duration;

/// Between the two reads: long enough for AWS's lists to agree with its deletions.
pub const PAUSE: Duration = Duration::from_secs(60);
/// Reads at most: one more than two, for what went away between them.
const ROUNDS: usize = 3;

/// What the proof needs.
#[derive(Clone, Copy)]
pub struct Inquest<'a> {
    pub cloud: &'a dyn Cloud,
    pub kinds: &'static [&'static dyn AnyKind],
    pub catalog: &'a Catalog,
    pub clock: Clock,
    pub pause: Duration,
    /// Buckets were to go too: one that is there is left, not kept.
    pub delete_data: bool,
}

struct Reading {
    at: String,
    seen: Result<Vec<Live>, CloudError>,
}

/// Reads every kind twice with a pause between, and a third time where the first did not show what the second did.
pub async fn verify(inquest: Inquest<'_>, scope: &Scope) -> Receipt {
    let scope = widened(scope);
    let known: Vec<(&Finder, &'static dyn AnyKind)> = finders()
        .filter_map(|finder| Some((finder, inquest.kinds.iter().copied().find(|kind| kind.name() == finder.kind)?)))
        .collect();
    let mut readings: Vec<Vec<Reading>> = known.iter().map(|_| vec![]).collect();
    for round in 0..ROUNDS {
        let open: Vec<usize> = (0..known.len()).filter(|i| round < 2 || is_open(&readings[*i])).collect();
        if open.is_empty() {
            break;
        }
        if round > 0 {
            pause(inquest.pause).await;
        }
        let read = join_all(open.iter().map(|i| read(inquest, known[*i].1, &scope))).await;
        for (i, reading) in open.into_iter().zip(read) {
            readings[i].push(reading);
        }
    }
    let mut kept: Vec<Kept> = operations_bucket(inquest, &scope).await.into_iter().collect();
    let mut checks = vec![];
    for ((finder, kind), readings) in known.into_iter().zip(readings) {
        let (check, its) = check(inquest, &scope, finder, kind, readings);
        checks.push(check);
        kept.extend(its);
    }
    Receipt::new(checks, kept)
}

async fn read(inquest: Inquest<'_>, kind: &'static dyn AnyKind, scope: &Scope) -> Reading {
    let at = inquest.clock.text();
    let seen = match relook(inquest.cloud, scope, kind).await {
        Sight::Seen(all) => Ok(all.into_iter().filter(|live| is_ours(kind, live, &scope.identity)).collect()),
        Sight::Blind(error) => Err(error),
    };
    Reading { at, seen }
}

/// One absence is not two: something went, or the look before failed.
fn is_open(readings: &[Reading]) -> bool {
    let empty = |reading: &Reading| matches!(&reading.seen, Ok(seen) if seen.is_empty());
    match readings {
        [.., before, last] => empty(last) && !empty(before),
        _ => true,
    }
}

/// The verdict on one kind, by its last two readings, and what of it is kept on purpose.
fn check(
    inquest: Inquest<'_>,
    scope: &Scope,
    finder: &Finder,
    kind: &'static dyn AnyKind,
    mut readings: Vec<Reading>,
) -> (Check, Vec<Kept>) {
    let last = readings.pop();
    let before = readings.pop();
    let first_read = before.as_ref().map(|reading| reading.at.clone()).unwrap_or_default();
    let second_read = last.as_ref().map(|reading| reading.at.clone()).unwrap_or_default();
    let mut error = None;
    let mut seen = vec![];
    // The newest reading that worked says what is left; any that failed leaves the kind unproven.
    for reading in [before, last].into_iter().flatten() {
        match reading.seen {
            Ok(all) => seen = all,
            Err(failed) => error = Some(failed),
        }
    }
    let why = match kind.ownership() {
        Ownership::Shared => Some("it belongs to the whole account"),
        Ownership::Retained if !inquest.delete_data => Some("it holds data: onDestroy is keep"),
        _ => None,
    };
    let (mut remaining, mut kept) = (vec![], vec![]);
    for live in seen {
        let hourly_usd = match hourly(inquest.catalog, &scope.identity.region, finder, kind, &live) {
            Ok(price) => price,
            Err(misshapen) => {
                error = Some(crate::observed::misshapen(kind, &misshapen));
                None
            }
        };
        let (what, id) = (kind.aws_name().to_owned(), live.look.id.clone());
        match why {
            Some(why) => kept.push(Kept { what, id, why: why.to_owned(), hourly_usd }),
            None => remaining.push(Remaining { id, state: state(&live), hourly_usd }),
        }
    }
    let status = match (&error, remaining.is_empty()) {
        (_, false) => Status::Present,
        (Some(_), true) => Status::NotChecked,
        (None, true) => Status::Absent,
    };
    let found_by = finder.found_by.iter().map(|way| (*way).to_owned()).collect();
    let check = Check { what: kind.aws_name().to_owned(), found_by, first_read, second_read, status, remaining, error };
    (check, kept)
}

/// Dollars an hour of one live object; `None` where a price of what it takes is not known.
fn hourly(
    catalog: &Catalog,
    region: &str,
    finder: &Finder,
    kind: &dyn AnyKind,
    live: &Live,
) -> Result<Option<f64>, ShapeError> {
    if finder.bills { cost::hourly(catalog, region, kind, live) } else { Ok(Some(0.0)) }
}

/// Journals and receipts stay: without them there is no proof.
async fn operations_bucket(inquest: Inquest<'_>, scope: &Scope) -> Option<Kept> {
    let identity = &scope.identity;
    let why = match inquest.cloud.store().list(&format!("{}/", identity.stack)).await {
        Ok(files) if files.is_empty() => return None,
        Ok(_) => "journals and receipts".to_owned(),
        Err(StoreError::Cloud(error)) if error.class == Class::NotFound => return None,
        Err(error) => format!("journals and receipts; could not be looked at: {error}"),
    };
    let id = names::operations_bucket_name(&identity.account, &identity.region);
    Some(Kept { what: "s3:bucket".to_owned(), id, why, hourly_usd: None })
}
