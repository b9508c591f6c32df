//! Failure by script, on the wire: refusals with AWS's codes, lost answers, silence, a process that dies after a call. Must
//! never fail by chance.

use super::{wire::Fault, world::matches};

/// What happens to a call that a script names.
#[derive(Clone, Debug)]
pub enum Trouble {
    /// Refused with a code, without effect.
    Refuse(Fault),
    /// It takes effect, and the connection closes before the answer.
    Lose,
    /// It never answers.
    Hang,
}

/// How an answer arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    Whole,
    /// The connection closes instead.
    Lost,
    /// Nothing comes.
    Never,
}

/// When the caller dies, relative to the effect of its last call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Crash {
    BeforeEffect,
    AfterEffect,
}

#[derive(Clone, Debug)]
struct Rule {
    pattern: String,
    from: u32,
    to: u32,
    seen: u32,
    trouble: Trouble,
}

#[derive(Clone, Debug, Default)]
pub struct Script {
    rules: Vec<Rule>,
    crash: Option<(u32, Crash)>,
    crashed: bool,
}

/// What the script says of one call.
#[derive(Clone, Debug)]
pub enum Word {
    Pass,
    Refuse(Fault),
    Lose,
    Hang { effect: bool },
}

impl Script {
    /// Troubles the calls that fit `pattern` (`ec2:Create*`) and are counted by `calls`, from 1.
    pub fn add(&mut self, pattern: &str, calls: std::ops::RangeInclusive<u32>, trouble: Trouble) {
        self.rules.push(Rule { pattern: pattern.to_owned(), from: *calls.start(), to: *calls.end(), seen: 0, trouble });
    }

    /// Lets the caller die with the `changes`th changing call: it and all later ones never answer.
    pub fn crash_after(&mut self, changes: u32, when: Crash) {
        self.crash = Some((changes, when));
    }

    pub fn crashed(&self) -> bool {
        self.crashed
    }

    /// Forgets everything: a dead caller's successor is answered.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

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
        for rule in self.rules.iter_mut().filter(|rule| matches(&rule.pattern, call)) {
            rule.seen += 1;
            if (rule.from..=rule.to).contains(&rule.seen) {
                word = match &rule.trouble {
                    Trouble::Refuse(fault) => Word::Refuse(fault.clone()),
                    Trouble::Lose => Word::Lose,
                    Trouble::Hang => Word::Hang { effect: false },
                };
            }
        }
        word
    }
}
