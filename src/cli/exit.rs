//! Exit codes: a contract that pipelines branch on. Must never grow a code that `docs` do not list.

/// In the order of precedence: when several apply, the first is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 65: the stack file is not valid.
    BadFile,
    /// 64: wrong usage; a needed answer without a terminal.
    Usage,
    /// 7: credentials missing, expired, or too short for the run.
    Credentials,
    /// 6: refused by a guard: wrong account, protection, budget, confirmation not given.
    Refused,
    /// 4: lock held by another run.
    Locked,
    /// 130: interrupted; run again to go on.
    Interrupted,
    /// 1: an AWS call failed, or an apply ended part-way.
    Failed,
    /// 3: preflight blocks.
    Blocked,
    /// 5: something of the stack remains.
    Remains,
    /// 8: could not look.
    NotChecked,
    /// 2: changes pending.
    Changes,
    /// 0: done; nothing to do; nothing remains.
    Done,
}

impl Exit {
    pub const fn code(self) -> u8 {
        match self {
            Exit::BadFile => 65,
            Exit::Usage => 64,
            Exit::Credentials => 7,
            Exit::Refused => 6,
            Exit::Locked => 4,
            Exit::Interrupted => 130,
            Exit::Failed => 1,
            Exit::Blocked => 3,
            Exit::Remains => 5,
            Exit::NotChecked => 8,
            Exit::Changes => 2,
            Exit::Done => 0,
        }
    }

    /// Of two that apply, the one that is given.
    pub fn and(self, other: Exit) -> Exit {
        self.min(other)
    }
}

/// Why a command ended without its result, in the order people read: cause, what was kept, how to go on.
#[derive(Debug)]
pub struct Failure {
    pub exit: Exit,
    /// The cause; may have several lines.
    pub cause: String,
    /// Further lines, label and text: `kept`, `go on`, `or stop`.
    pub hints: Vec<(&'static str, String)>,
}

impl Failure {
    pub fn new(exit: Exit, cause: impl Into<String>) -> Self {
        Self { exit, cause: cause.into(), hints: vec![] }
    }

    pub fn hint(mut self, label: &'static str, text: impl Into<String>) -> Self {
        self.hints.push((label, text.into()));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::Exit;

    #[test]
    fn precedence_is_that_of_the_contract() {
        let order = [65, 64, 7, 6, 4, 130, 1, 3, 5, 8, 2, 0];
        let all = [
            Exit::Done,
            Exit::Changes,
            Exit::NotChecked,
            Exit::Remains,
            Exit::Blocked,
            Exit::Failed,
            Exit::Interrupted,
            Exit::Locked,
            Exit::Refused,
            Exit::Credentials,
            Exit::Usage,
            Exit::BadFile,
        ];
        let mut sorted = all;
        sorted.sort();
        assert_eq!(sorted.map(Exit::code), order);
        assert_eq!(Exit::Remains.and(Exit::NotChecked), Exit::Remains);
    }
}
