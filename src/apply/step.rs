//! One task: call, wait, compare, bring what the call could not carry. Must never start another task.

use super::{
    Event,
    journal::Line,
    retry::{Call, Retry, retry},
    run::{Failure, Run},
    stop::LEAVE,
    waiter::{Goal, History, Seen, Wait, settled},
};
use crate::{
    clock::pause,
    contract::{AnyKind, Class, CloudError, Residue},
    model::{Address, Doc, PhysicalId, Stamp, anchor_only},
    observed::{Live, Sight, live, misshapen, relook},
    plan::diff,
};
use std::{
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// After a lost answer the object may not be listed at once.
const UNTIL_VISIBLE: Duration = Duration::from_secs(10);
/// Between heartbeats of a wait.
const HEARTBEAT: Duration = Duration::from_secs(30);
/// Looks that a finished change gets to show itself, before it is made again.
const LOOKS: u32 = 5;
/// Times that a change is made.
const CHANGES: u32 = 3;

/// One task on its way.
pub(crate) struct Step<'r> {
    pub run: &'r Run<'r>,
    pub kind: &'static dyn AnyKind,
    pub address: &'r Address,
    /// Known as soon as AWS named it, also when the step fails or is left later.
    pub id: Mutex<Option<PhysicalId>>,
}

impl Step<'_> {
    /// Creates, waits until ready, and brings what the create call could not carry.
    pub async fn create(&self, want: &Doc, stamp: &Stamp) -> Result<Live, Failure> {
        let mut carried = stamp.clone();
        carried.tags.retain(|key, _| !anchor_only(key));
        let begun = self.run.around.clock.elapsed();
        let mut attempt = 0;
        let id = loop {
            attempt += 1;
            self.say("create", None, Some(&carried.token), &[], attempt)?;
            let answer = self.run.call(self.run.around.cloud.create(self.kind, want, &carried)).await;
            self.heard("create", answer.as_ref().map(String::as_str))?;
            let error = match answer {
                Ok(id) => break id,
                Err(error) => error,
            };
            let taken = error.class == Class::AlreadyExists;
            if taken || error.residue == Residue::MayExist {
                if !taken {
                    self.rest(UNTIL_VISIBLE).await?;
                }
                match self.find(stamp, begun).await? {
                    Found::Ours(id) => break id,
                    Found::Foreign => return Err(Failure::Foreign { error }),
                    Found::Nothing => {}
                }
            }
            self.again(Call::Create, attempt, begun, error).await?;
        };
        self.named(&id);
        self.complete(&id, want, stamp, History::default()).await
    }

    /// Changes what differs, waits until the change is over, and looks whether it shows.
    pub async fn update(&self, id: &str, changed: &[String], want: &Doc, stamp: &Stamp) -> Result<Live, Failure> {
        self.named(id);
        self.change(id, changed, want, stamp).await?;
        self.complete(id, want, stamp, History::of_known()).await
    }

    /// Waits for what an earlier run started.
    pub async fn attach(&self, id: &str, want: Option<&Doc>, stamp: Option<&Stamp>) -> Result<Live, Failure> {
        self.named(id);
        match (want, stamp) {
            (Some(want), Some(stamp)) => self.complete(id, want, stamp, History::of_known()).await,
            _ => self.ready(id, History::of_known()).await,
        }
    }

    /// Deletes, and waits until it is proven gone.
    pub async fn delete(&self, id: &str) -> Result<(), Failure> {
        self.named(id);
        let begun = self.run.around.clock.elapsed();
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.say("delete", Some(id), None, &[], attempt)?;
            let answer = self.run.call(self.run.around.cloud.delete(self.kind, id)).await;
            self.heard("delete", answer.as_ref().map(|()| id))?;
            let Err(error) = answer else { break };
            if self.again(Call::Delete, attempt, begun, error).await? == Again::Done {
                break;
            }
        }
        self.wait(Goal::Gone, id, History::of_known()).await.map(drop)
    }

    /// Waits until ready, then changes what differs until nothing does.
    async fn complete(&self, id: &str, want: &Doc, stamp: &Stamp, history: History) -> Result<Live, Failure> {
        let mut live = self.ready(id, history).await?;
        let mut times = 0;
        let mut looks = 0;
        loop {
            let diff = diff(self.kind, want, &live.look, &stamp.tags)?;
            if diff.is_empty() {
                return Ok(live);
            }
            // The first difference is what the create call could not carry; later ones may only be slow to show.
            if times == 0 || looks == LOOKS {
                if times == CHANGES {
                    let paths = diff.changes.into_iter().map(|change| change.path).collect();
                    return Err(Failure::NotTaken { paths, times });
                }
                times += 1;
                looks = 0;
                self.change(id, &diff.changed, want, stamp).await?;
            } else {
                looks += 1;
                self.rest(Duration::from_secs(self.kind.patience().poll.into())).await?;
            }
            live = self.ready(id, History::of_known()).await?;
        }
    }

    async fn change(&self, id: &str, changed: &[String], want: &Doc, stamp: &Stamp) -> Result<(), Failure> {
        let begun = self.run.around.clock.elapsed();
        let mut attempt = 0;
        loop {
            attempt += 1;
            self.say("update", Some(id), None, changed, attempt)?;
            let answer = self.run.call(self.run.around.cloud.update(self.kind, id, want, changed, stamp)).await;
            self.heard("update", answer.as_ref().map(|()| id))?;
            match answer {
                Ok(()) => return Ok(()),
                Err(error) => self.again(Call::Update, attempt, begun, error).await?,
            };
        }
    }

    async fn ready(&self, id: &str, history: History) -> Result<Live, Failure> {
        let live = self.wait(Goal::Ready, id, history).await?;
        live.ok_or_else(|| Failure::Fault(format!("{id} was ready and not there at once")))
    }

    /// The one loop that waits. Returns the last good look.
    async fn wait(&self, goal: Goal, id: &str, mut history: History) -> Result<Option<Live>, Failure> {
        let around = &self.run.around;
        let patience = self.kind.patience();
        let timing = around.catalog.timing(self.kind.name());
        let expected = timing.and_then(|timing| match goal {
            Goal::Ready => timing.expected_create(),
            Goal::Gone => timing.expected_delete(),
        });
        let begun = around.clock.elapsed();
        let mut told = (history.news.clone(), Duration::ZERO);
        loop {
            let answer = self.run.call(around.cloud.read(self.kind, id)).await;
            let seen = answer.and_then(|doc| {
                doc.map(|doc| live(self.kind, doc)).transpose().map_err(|error| misshapen(self.kind, &error))
            });
            let at = around.clock.elapsed() - begun;
            let glimpse = match &seen {
                Ok(None) => Seen::Nothing,
                Ok(Some(live)) => Seen::Object(&live.look),
                Err(error) => Seen::Blind(error),
            };
            match settled(goal, glimpse, patience, &mut history, at) {
                Wait::Done => return Ok(seen?),
                Wait::GiveUp(why) => return Err(Failure::GaveUp(why)),
                Wait::Wait => {}
            }
            if let Err(error) = seen {
                self.run.tell(Event::LookFailed { at: self.run.now(), address: self.address.clone(), error });
            }
            if history.news != told.0 || at - told.1 >= HEARTBEAT {
                told = (history.news.clone(), at);
                self.run.tell(Event::StepWaiting {
                    at: self.run.now(),
                    address: self.address.clone(),
                    id: Some(id.to_owned()),
                    seconds: at.as_secs(),
                    expected_seconds: expected.map(u64::from),
                    waiting_for: history.news.clone(),
                });
            }
            self.rest(Duration::from_secs(patience.poll.max(1).into())).await?;
        }
    }

    /// Looks for an object of this address that a lost or repeated create made.
    async fn find(&self, stamp: &Stamp, begun: Duration) -> Result<Found, Failure> {
        let around = &self.run.around;
        let wished = self.run.scope.names.get(self.kind.name());
        loop {
            let error = match self.run.call(relook(around.cloud, self.run.scope, self.kind)).await {
                Sight::Seen(all) => {
                    let there = || all.iter().map(|live| &live.look).filter(|look| !look.gone && !look.going);
                    let ours = |claims: Option<&Address>| claims == Some(&stamp.address);
                    if let Some(look) = there().find(|look| ours(look.claims.as_ref())) {
                        return Ok(Found::Ours(look.id.clone()));
                    }
                    let named = there().any(|look| {
                        look.claims.is_none()
                            && look.name.as_ref().is_some_and(|name| wished.is_some_and(|w| w.contains(name)))
                    });
                    return Ok(if named { Found::Foreign } else { Found::Nothing });
                }
                Sight::Blind(error) => error,
            };
            // Without a look a repeat could make a twin.
            self.run.tell(Event::LookFailed {
                at: self.run.now(),
                address: self.address.clone(),
                error: error.clone(),
            });
            if around.clock.elapsed() - begun > Duration::from_secs(300) {
                return Err(error.into());
            }
            self.rest(UNTIL_VISIBLE).await?;
        }
    }

    /// Pauses before the next attempt, or fails with the error.
    async fn again(&self, call: Call, attempt: u32, begun: Duration, error: CloudError) -> Result<Again, Failure> {
        match retry(error.class, call, attempt, self.run.around.clock.elapsed() - begun) {
            Retry::Done => Ok(Again::Done),
            Retry::Fail => Err(error.into()),
            Retry::After(wait) => {
                self.run.tell(Event::StepRetried { at: self.run.now(), address: self.address.clone(), attempt, error });
                self.rest(wait).await?;
                Ok(Again::Now)
            }
        }
    }

    async fn rest(&self, duration: Duration) -> Result<(), Failure> {
        tokio::select! {
            () = pause(duration) => Ok(()),
            () = self.run.around.stop.reached(LEAVE) => Err(Failure::Left),
        }
    }

    fn named(&self, id: &str) {
        *self.id.lock().unwrap_or_else(PoisonError::into_inner) = Some(id.to_owned());
    }

    fn say(
        &self,
        call: &'static str,
        id: Option<&str>,
        token: Option<&str>,
        changed: &[String],
        attempt: u32,
    ) -> Result<(), Failure> {
        Ok(self.run.around.log.say(Line::Call { address: self.address, call, id, token, changed, attempt })?)
    }

    fn heard(&self, call: &'static str, answer: Result<&str, &CloudError>) -> Result<(), Failure> {
        let (id, error) = (answer.ok(), answer.err());
        Ok(self.run.around.log.say(Line::Answer { address: self.address, call, id, error })?)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Again {
    Now,
    Done,
}

enum Found {
    Ours(PhysicalId),
    Foreign,
    Nothing,
}
