//! Failure by script: calls that are refused, answers that are lost, and a process that dies after a call. Must never fail by
//! chance.

use crate::contract::{Class, CloudError, Residue};

/// What happens to a call that a script names.
#[derive(Clone, Debug)]
pub enum Fault {
    /// Refused, without effect.
    Fail(CloudError),
    /// It takes effect, and its answer is lost.
    Lose,
    /// It never returns.
    Hang,
}

/// When the process dies, relative to the effect of its last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    BeforeEffect,
    /// The answer is lost.
    AfterEffect,
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    /// The first and the last call it holds for, counted from 1 among those that fit.
    from: u32,
    to: u32,
    seen: u32,
    fault: Fault,
}

#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    rules: Vec<Rule>,
    /// Changes until the process dies, counted down.
    crash: Option<(u32, Crash)>,
    pub crashed: bool,
}

/// What the script says of one call.
#[derive(Clone, Debug)]
pub(super) enum Word {
    Pass,
    Fail(CloudError),
    Lose,
    /// Never return; with effect or without.
    Hang {
        effect: bool,
    },
}

impl Script {
    pub fn add(&mut self, pattern: &str, calls: std::ops::RangeInclusive<u32>, fault: Fault) {
        self.rules.push(Rule { pattern: pattern.to_owned(), from: *calls.start(), to: *calls.end(), seen: 0, fault });
    }

    pub fn crash_after(&mut self, changes: u32, when: Crash) {
        self.crash = Some((changes, when));
    }

    /// `call` is a verb and a kind, a fact or a key: `create vpc`, `ask quotas`, `put llama-70b/lock`.
    pub fn judge(&mut self, call: &str, is_change: bool) -> Word {
        if self.crashed {
            return Word::Hang { effect: false };
        }
        if let Some((left, when)) = self.crash.as_mut().filter(|_| is_change) {
            *left = left.saturating_sub(1);
            if *left == 0 {
                self.crashed = true;
                return Word::Hang { effect: *when == Crash::AfterEffect };
            }
        }
        let mut word = Word::Pass;
        for rule in self.rules.iter_mut().filter(|rule| fits(&rule.pattern, call)) {
            rule.seen += 1;
            if (rule.from..=rule.to).contains(&rule.seen) {
                word = match &rule.fault {
                    Fault::Fail(error) => Word::Fail(error.clone()),
                    Fault::Lose => Word::Lose,
                    Fault::Hang => Word::Hang { effect: false },
                };
            }
        }
        word
    }
}

/// The error of a call whose answer never came.
pub(super) fn lost(call: &str) -> CloudError {
    let mut error = CloudError::new(call, Class::Outage, "ConnectionReset", "the connection closed before the answer");
    error.residue = Residue::MayExist;
    error
}

/// `*` stands for any run of characters.
fn fits(pattern: &str, call: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == call };
    let Some(after) = call.strip_prefix(head) else { return false };
    if rest.is_empty() {
        return true;
    }
    after.char_indices().any(|(i, _)| fits(rest, &after[i..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_star_stands_for_any_run() {
        assert!(fits("create *", "create vpc"));
        assert!(fits("*group", "delete node-group"));
        assert!(fits("*", "ask zones"));
        assert!(!fits("create vpc", "create vpc-endpoint"));
        assert!(!fits("create *group", "create vpc"));
    }

    #[test]
    fn a_rule_holds_for_the_calls_it_names() {
        let mut script = Script::default();
        script.add("create *", 2..=2, Fault::Lose);
        assert!(matches!(script.judge("create vpc", true), Word::Pass));
        assert!(matches!(script.judge("list vpc", false), Word::Pass));
        assert!(matches!(script.judge("create subnet", true), Word::Lose));
        assert!(matches!(script.judge("create subnet", true), Word::Pass));
    }

    #[test]
    fn nothing_returns_after_the_crash() {
        let mut script = Script::default();
        script.crash_after(2, Crash::AfterEffect);
        assert!(matches!(script.judge("create vpc", true), Word::Pass));
        assert!(matches!(script.judge("list vpc", false), Word::Pass));
        assert!(matches!(script.judge("create subnet", true), Word::Hang { effect: true }));
        assert!(matches!(script.judge("list vpc", false), Word::Hang { effect: false }));
    }
}
