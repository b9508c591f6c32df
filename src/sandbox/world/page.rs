//! Pages of lists. Must never give an item twice or leave one out while nothing changes.

use crate::sandbox::wire::Fault;

/// One page of `items`, and the token of the next. A token is where the next page starts, so that it is good in every
/// process; `invalid` is the service's code for a token that is none.
pub fn page<T>(
    items: Vec<T>,
    token: Option<&str>,
    most: Option<i64>,
    invalid: &str,
) -> Result<(Vec<T>, Option<String>), Fault> {
    let start = match token {
        None => 0,
        Some(token) => token
            .strip_prefix("page-")
            .and_then(|n| n.parse::<usize>().ok())
            .filter(|n| *n <= items.len())
            .ok_or_else(|| Fault::new(invalid, "The token is not valid"))?,
    };
    let most = most.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0).unwrap_or(usize::MAX);
    let end = start.saturating_add(most).min(items.len());
    let next = (end < items.len()).then(|| format!("page-{end}"));
    Ok((items.into_iter().skip(start).take(end - start).collect(), next))
}
