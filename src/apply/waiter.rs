//! One waiter for every kind: what a look means to whoever waits for it, as a pure function over what was seen before. Must
//! never call a cloud; [`super::step`] does, and asks here.

use crate::contract::{CloudError, Look, Patience, Readiness};
use std::time::Duration;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Goal {
    Ready,
    /// Read as absent, or as a record of something gone: an error is not absence.
    Gone,
}

/// What one look brought.
#[derive(Clone, Copy, Debug)]
pub enum Seen<'a> {
    Nothing,
    Object(&'a Look),
    Blind(&'a CloudError),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Wait {
    Wait,
    Done,
    /// With the reason. It says nothing against the object: a later run attaches to it.
    GiveUp(String),
}

/// What was seen so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct History {
    /// The last wording, and when it was new.
    pub news: String,
    news_at: Duration,
    /// Good looks in a row.
    streak: u32,
    seen: bool,
}

impl History {
    /// A wait that begins after something was seen already, as that of a deletion or of a change does.
    pub fn of_known() -> Self {
        Self { seen: true, ..Self::default() }
    }
}

/// Takes in one look, `at` after the wait began. The history's wording changes when there is news.
pub fn settled(goal: Goal, seen: Seen<'_>, patience: Patience, history: &mut History, at: Duration) -> Wait {
    let wording = match (goal, seen) {
        // A look that failed tells nothing, and breaks the row of good ones.
        (_, Seen::Blind(_)) => {
            history.streak = 0;
            return lasts(goal, patience, history, at);
        }
        (Goal::Gone, Seen::Nothing) => None,
        (Goal::Gone, Seen::Object(look)) if look.gone => None,
        (Goal::Gone, Seen::Object(look)) => Some(match &look.ready {
            Readiness::Pending(why) | Readiness::Broken(why) => why.clone(),
            Readiness::Ready if look.going => "being deleted".to_owned(),
            Readiness::Ready => "still there".to_owned(),
        }),
        (Goal::Ready, Seen::Nothing) if history.seen && history.streak == 0 => {
            return Wait::GiveUp("it is there no longer: somebody else deleted it".to_owned());
        }
        (Goal::Ready, Seen::Nothing) => Some("not visible yet".to_owned()),
        (Goal::Ready, Seen::Object(look)) if look.gone || look.going => {
            return Wait::GiveUp("somebody else is deleting it".to_owned());
        }
        (Goal::Ready, Seen::Object(look)) => match &look.ready {
            Readiness::Ready => None,
            Readiness::Pending(why) => Some(why.clone()),
            Readiness::Broken(why) => return Wait::GiveUp(why.clone()),
        },
    };
    history.seen |= matches!(seen, Seen::Object(_));
    let wording = match wording {
        Some(wording) => {
            history.streak = 0;
            wording
        }
        None => {
            history.streak += 1;
            if history.streak >= patience.streak {
                return Wait::Done;
            }
            format!("good {} of {} times in a row", history.streak, patience.streak)
        }
    };
    if wording != history.news {
        (history.news, history.news_at) = (wording, at);
    }
    lasts(goal, patience, history, at)
}

fn lasts(goal: Goal, patience: Patience, history: &History, at: Duration) -> Wait {
    let last = if history.news.is_empty() { "no answer yet" } else { history.news.as_str() };
    let verb = if goal == Goal::Ready { "ready" } else { "gone" };
    if at >= Duration::from_secs(patience.total.into()) {
        return Wait::GiveUp(format!("not {verb} after {} s, the last word was: {last}", at.as_secs()));
    }
    if at.saturating_sub(history.news_at) >= Duration::from_secs(patience.stall.into()) {
        return Wait::GiveUp(format!("no news for {} s, the last word was: {last}", patience.stall));
    }
    Wait::Wait
}
