//! Documents for job summaries and comments: the human text in a block, account ids masked. Must never show an id that the
//! caller did not ask to show.

use super::style::mask_accounts;

/// `github` adds a heading that folds.
pub fn page(text: &str, show_ids: bool, github: bool) -> String {
    let text = if show_ids { text.to_owned() } else { mask_accounts(text) };
    // A fence longer than any run of backticks inside.
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    let block = format!("{fence}text\n{}\n{fence}\n", text.trim_end());
    match (github, text.lines().next()) {
        (true, Some(first)) => format!("<details open><summary>{}</summary>\n\n{block}\n</details>\n", escaped(first)),
        _ => block,
    }
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::page;

    #[test]
    fn account_ids_are_masked_unless_asked_for() {
        assert!(!page("account 123456789012", false, false).contains("123456789012"));
        assert!(page("account 123456789012", true, true).contains("123456789012"));
    }

    #[test]
    fn text_can_not_close_its_own_block() {
        assert!(page("```", true, false).starts_with("````text\n"));
    }
}
