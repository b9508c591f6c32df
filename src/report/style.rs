//! How text is dressed: colours, symbols, widths. Colour only repeats what symbols and words say. Must never hold content.

use crate::{plan::Action, preflight::Verdict};
use anstyle::{AnsiColor, Style as Ansi};

/// What the reader's terminal can show.
#[derive(Clone, Copy, Debug)]
pub struct Style {
    pub colour: bool,
    /// False without UTF-8: ASCII symbols then.
    pub unicode: bool,
    /// Columns.
    pub width: usize,
    /// Account ids in full.
    pub ids: bool,
}

impl Style {
    /// No colour, UTF-8, 100 columns: for files and tests.
    pub const PLAIN: Self = Self { colour: false, unicode: true, width: 100, ids: false };

    fn paint(self, ansi: Ansi, text: &str) -> String {
        if self.colour { format!("{ansi}{text}{ansi:#}") } else { text.to_owned() }
    }
    pub fn bold(self, text: &str) -> String {
        self.paint(Ansi::new().bold(), text)
    }
    pub fn dim(self, text: &str) -> String {
        self.paint(Ansi::new().dimmed(), text)
    }
    pub fn good(self, text: &str) -> String {
        self.paint(AnsiColor::Green.on_default(), text)
    }
    pub fn warn(self, text: &str) -> String {
        self.paint(AnsiColor::Yellow.on_default(), text)
    }
    pub fn bad(self, text: &str) -> String {
        self.paint(AnsiColor::Red.on_default().bold(), text)
    }

    /// An account id, masked unless ids were asked for.
    pub fn account(self, id: &str) -> String {
        if self.ids { id.to_owned() } else { masked_account(id) }
    }

    fn pick(self, unicode: &'static str, ascii: &'static str) -> &'static str {
        if self.unicode { unicode } else { ascii }
    }
    pub fn tick(self) -> String {
        self.good(self.pick("✓", "ok"))
    }
    pub fn cross(self) -> String {
        self.bad(self.pick("✗", "x"))
    }
    pub fn times(self) -> &'static str {
        self.pick("×", "x")
    }
    pub fn rule(self) -> String {
        self.pick("─", "-").repeat(self.width)
    }

    /// Right-aligned in three columns: `+ ~ -/+ - = ?`.
    pub fn action(self, action: Action) -> String {
        match action {
            Action::Create => self.good("  +"),
            Action::Update => self.warn("  ~"),
            Action::Replace => self.bad("-/+"),
            Action::Delete => self.bad("  -"),
            Action::Keep => self.dim("  ="),
            Action::Blocked => self.bad(if self.unicode { "  ✗" } else { "  x" }),
        }
    }

    pub fn verdict(self, verdict: Verdict) -> String {
        match verdict {
            Verdict::Pass => self.tick(),
            Verdict::Warn => self.warn("!"),
            Verdict::Block => self.cross(),
            Verdict::Unknown => self.warn("?"),
        }
    }

    /// Replaces the few non-ASCII characters that our texts use, where the terminal has none.
    pub fn plain(self, text: &str) -> String {
        if self.unicode {
            return text.to_owned();
        }
        let mut out = String::with_capacity(text.len());
        for c in text.chars() {
            match c {
                '×' => out.push('x'),
                '→' => out.push_str("->"),
                '–' | '—' | '─' => out.push('-'),
                '…' => out.push_str("..."),
                '•' => out.push('*'),
                '✓' => out.push_str("ok"),
                '✗' => out.push('x'),
                '≤' => out.push_str("<="),
                '≥' => out.push_str(">="),
                '’' => out.push('\''),
                '·' => out.push('.'),
                c if c.is_ascii() => out.push(c),
                _ => out.push('?'),
            }
        }
        out
    }
}

/// `9 min 02`, `41 s`, `2 h 05 min`
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {:02}", seconds / 60, seconds % 60),
        _ => format!("{} h {:02} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `3:41`, `1:02:05`: a clock that runs.
pub fn clock(seconds: u64) -> String {
    if seconds < 3600 {
        format!("{}:{:02}", seconds / 60, seconds % 60)
    } else {
        format!("{}:{:02}:{:02}", seconds / 3600, seconds % 3600 / 60, seconds % 60)
    }
}

/// `1,234,567`
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(c);
    }
    out
}

/// `$110.42`, `$7,950` from a thousand on, `$0.0045` below a cent.
pub fn dollars(usd: f64) -> String {
    if usd == 0.0 {
        // A sum of nothing is negative zero.
        "$0.00".to_owned()
    } else if usd >= 1000.0 {
        format!("${}", grouped(usd.round() as u64))
    } else if usd > 0.0 && usd < 0.01 {
        format!("${usd:.4}")
    } else {
        format!("${usd:.2}")
    }
}

/// `141 GB`, `2.1 GB`, decimal as AWS bills and vendors print.
pub fn bytes(n: u64) -> String {
    const UNITS: [(&str, f64); 4] = [("TB", 1e12), ("GB", 1e9), ("MB", 1e6), ("kB", 1e3)];
    for (unit, size) in UNITS {
        let value = n as f64 / size;
        if value >= 10.0 {
            return format!("{} {unit}", grouped(value.round() as u64));
        }
        if value >= 1.0 {
            return format!("{value:.1} {unit}");
        }
    }
    format!("{n} B")
}

/// `••••9012`
pub fn masked_account(account: &str) -> String {
    let tail: String = account.chars().skip(account.chars().count().saturating_sub(4)).collect();
    format!("••••{tail}")
}

/// Masks every 12-digit account id of a text, in ARNs and alone.
pub fn mask_accounts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut digits = String::new();
    let flush = |digits: &mut String, out: &mut String| {
        if digits.len() == 12 {
            out.push_str(&masked_account(digits));
        } else {
            out.push_str(digits);
        }
        digits.clear();
    };
    for c in text.chars() {
        if c.is_ascii_digit() {
            digits.push(c);
        } else {
            flush(&mut digits, &mut out);
            out.push(c);
        }
    }
    flush(&mut digits, &mut out);
    out
}

/// Columns that a text takes, colour codes not counted.
pub fn columns(text: &str) -> usize {
    anstream::adapter::strip_str(text).to_string().chars().count()
}

/// `text` and blanks up to `width` columns.
pub fn pad(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(columns(text))))
}

/// Lines of at most `width` columns, broken at blanks; a word longer than that stands alone.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            line.push_str(word);
        } else if columns(line) + 1 + columns(word) <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_owned());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_as_people_write_them() {
        assert_eq!(duration(41), "41 s");
        assert_eq!(duration(542), "9 min 02");
        assert_eq!(duration(7500), "2 h 05 min");
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(grouped(999), "999");
        assert_eq!(dollars(110.416), "$110.42");
        assert_eq!(dollars(7950.2), "$7,950");
        assert_eq!(dollars(0.0045), "$0.0045");
        assert_eq!(dollars(-0.0), "$0.00");
        assert_eq!(bytes(141_107_412_992), "141 GB");
        assert_eq!(bytes(2_147_483_648), "2.1 GB");
    }

    #[test]
    fn accounts_are_masked_in_arns_and_longer_numbers_are_not() {
        assert_eq!(
            mask_accounts("arn:aws:iam::123456789012:role/ci and 1234567890123"),
            "arn:aws:iam::••••9012:role/ci and 1234567890123"
        );
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abcdefgh", "i"]);
    }
}
