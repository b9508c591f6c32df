//! The verdict on every wish, targets before those that link to them, so that a replacement reaches all it must. Must never
//! make tasks.

use super::{
    Action, Options,
    diff::{Diff, Unknown, diff_judged},
    explain,
    fixed::Fixed,
    order::Knots,
    ownership::{Found, How, find, lost},
    wishes::Wishes,
    world::World,
};
use crate::{
    contract::{AnyKind, Field, Readiness, ShapeError},
    desired::{DesiredGraph, Wish},
    model::{Address, Doc, RESOURCE, RUN, Tags, meets, resolve},
};
use std::collections::HashMap;

/// What a wish comes to.
#[derive(Debug)]
pub(super) struct Verdict {
    pub action: Action,
    /// The live object that stands for it.
    pub object: Option<usize>,
    /// False when nothing that needs this wish can be decided either.
    pub decided: bool,
    pub reason: String,
    pub diff: Diff,
    pub interrupts: bool,
    /// An earlier run started something that is not done.
    pub waits: bool,
    /// The wish, its links resolved as far as they are known; `Null` where nothing was decided.
    pub want: Doc,
}

/// Complete tags of a wished object: the stack's, its address, and an anchor's further ones. Empty for what carries none.
pub fn tags_of(graph: &DesiredGraph, kind: &dyn AnyKind, address: &Address) -> Tags {
    each_tag(graph, kind, address).map(|(key, value)| (key.to_owned(), value.to_owned())).collect()
}

fn each_tag<'a>(
    graph: &'a DesiredGraph,
    kind: &dyn AnyKind,
    address: &'a Address,
) -> impl Iterator<Item = (&'a str, &'a str)> {
    let further = kind.anchor().then_some(&graph.anchor_tags);
    let tags = graph.tags.iter().chain(further.into_iter().flatten());
    let all = tags.map(|(key, value)| (key.as_str(), value.as_str())).chain([(RESOURCE, address.as_str())]);
    kind.tagged().then_some(all).into_iter().flatten()
}

pub(super) struct Cascade<'a> {
    pub graph: &'a DesiredGraph,
    pub options: &'a Options,
    pub world: &'a World<'a>,
    pub wishes: &'a Wishes<'a>,
    /// By wish, for all that was seen before any decision: why it can't be decided.
    pub undecidable: &'a [Option<String>],
    pub found: Vec<Found>,
    pub fixed: &'a Fixed,
    /// Objects that hold on to what must go before they could let go of it.
    pub knots: &'a Knots,
    /// Live objects that stand for a wish, and for which.
    pub taken: HashMap<usize, usize>,
    pub verdicts: Vec<Option<Verdict>>,
}

/// Finds what stands for each wish as far as claims and names tell, before anything is decided.
pub(super) fn find_early(
    world: &World<'_>,
    graph: &DesiredGraph,
    options: &Options,
    wishes: &Wishes<'_>,
    undecidable: &mut [Option<String>],
) -> (Vec<Found>, HashMap<usize, usize>) {
    let mut taken: HashMap<usize, usize> = HashMap::new();
    let mut all = Vec::with_capacity(wishes.len());
    for (w, wish) in wishes.iter().enumerate() {
        let mut found = Found::Nothing;
        if let Some(kind) = wishes.kind(w) {
            match wishes.words(w) {
                Ok(words) => found = find(world, graph, options, &wish.address, kind, words.name.as_deref()),
                Err(error) => undecidable[w] = undecidable[w].take().or_else(|| Some(error.to_string())),
            }
        }
        if let Found::Live { object, .. } = found {
            match taken.get(&object) {
                Some(other) => {
                    let name = world.objects[object].look.name.as_deref().unwrap_or_default();
                    found = Found::Refused(explain::name_taken_by(name, &wishes.get(*other).address));
                }
                None => {
                    taken.insert(object, w);
                }
            }
        }
        all.push(found);
    }
    (all, taken)
}

impl Cascade<'_> {
    /// Decides every wish, in an order in which targets come first.
    pub fn run(&mut self) {
        for w in self.wishes.order() {
            let verdict = match &self.undecidable[w] {
                Some(reason) => self.undecided(w, reason.clone()),
                None => self.decide(w).unwrap_or_else(|error| self.undecided(w, error.to_string())),
            };
            self.verdicts[w] = Some(verdict);
        }
    }

    fn undecided(&self, w: usize, reason: String) -> Verdict {
        let object = match self.found[w] {
            Found::Live { object, .. } => Some(object),
            _ => None,
        };
        Verdict {
            action: Action::Blocked,
            object,
            decided: false,
            reason,
            diff: Diff::default(),
            interrupts: false,
            waits: false,
            want: Doc::Null,
        }
    }

    fn decide(&mut self, w: usize) -> Result<Verdict, ShapeError> {
        let wish = self.wishes.get(w);
        let Some(kind) = self.wishes.kind(w) else {
            return Ok(self.undecided(w, explain::unknown_kind(wish.address.kind())));
        };
        if let Some(target) = self.wishes.outside(w) {
            return Ok(self.undecided(w, explain::no_such_target(target)));
        }
        for target in self.wishes.needs(w) {
            if self.verdicts[*target].as_ref().is_some_and(|verdict| !verdict.decided) {
                return Ok(self.undecided(w, explain::waits_for(&self.wishes.get(*target).address)));
            }
        }
        if let Found::Live { object, how } = &self.found[w]
            && let Some(kept) = self.keep(w, kind, *object, how)
        {
            return Ok(kept);
        }
        let mut want = wish.doc.clone();
        resolve(&mut want, &|address, output| self.output(w, address.as_str(), output).map(str::to_owned));
        if !matches!(self.found[w], Found::Live { .. })
            && let Some(object) = lost(self.world, &self.taken, &wish.address, kind, &want)
        {
            self.taken.insert(object, w);
            self.found[w] = Found::Live { object, how: How::Retagged };
        }
        match &self.found[w] {
            Found::Refused(reason) => Ok(self.undecided(w, reason.clone())),
            Found::Nothing => {
                let gone = self.world.gone.get(&wish.address);
                let reason = explain::created(&wish.because, gone);
                Ok(Verdict { action: Action::Create, decided: true, want, ..self.undecided(w, reason) })
            }
            Found::Live { object, how } => self.compare(w, wish, kind, want, *object, how),
        }
    }

    /// The verdict on what is as wished and ready, which most objects mostly are, without a copy of the wish.
    fn keep(&self, w: usize, kind: &'static dyn AnyKind, object: usize, how: &How) -> Option<Verdict> {
        let look = self.world.objects[object].look;
        let wish = self.wishes.get(w);
        let quiet = look.ready == Readiness::Ready && !look.going && !self.knots.contains(&object);
        let meets = quiet
            && *how == How::Claimed
            && meets(&wish.doc, &look.projected, &|address, output| self.output(w, address, output))
            && each_tag(self.graph, kind, &wish.address)
                .all(|(key, value)| key == RUN || look.tags.get(key).is_some_and(|live| live == value));
        meets.then(|| Verdict {
            action: Action::Keep,
            object: Some(object),
            decided: true,
            ..self.undecided(w, explain::kept(None))
        })
    }

    fn compare(
        &self,
        w: usize,
        wish: &Wish,
        kind: &'static dyn AnyKind,
        want: Doc,
        object: usize,
        how: &How,
    ) -> Result<Verdict, ShapeError> {
        let look = self.world.objects[object].look;
        let tags = tags_of(self.graph, kind, &wish.address);
        let judge = |address: &Address, output: &str, live: Option<&str>, field: &Field| {
            self.unknown(w, address, output, live, field)
        };
        let diff = diff_judged(kind, &want, look, &tags, &judge)?;
        let broken = match &look.ready {
            Readiness::Broken(text) => Some(explain::broken(text)),
            _ if diff.replaces() => Some(explain::immutable(&diff)),
            _ if self.knots.contains(&object) => Some(explain::knot()),
            _ => None,
        };
        let mut verdict = Verdict { want, object: Some(object), decided: true, ..self.undecided(w, String::new()) };
        if let Some(why) = if look.going { Some(explain::going()) } else { broken } {
            verdict.interrupts = diff.interrupts || self.world.runs(object);
            verdict.diff = diff;
            if how.is_taken_over() {
                verdict.decided = false;
                verdict.reason = explain::not_ours_to_replace(&look.id, &why);
            } else if let Some(obstacle) = self.fixed.obstacle(object) {
                verdict.reason = explain::refused(&why, obstacle);
            } else if self.options.protect && verdict.interrupts {
                verdict.reason = explain::refused(&why, &explain::protected());
            } else {
                verdict.action = Action::Replace;
                verdict.reason = why;
            }
            return Ok(verdict);
        }
        if let Readiness::Pending(_) = look.ready {
            verdict.waits = true;
        }
        if diff.is_empty() {
            verdict.action = Action::Keep;
            verdict.reason = explain::kept(match &look.ready {
                Readiness::Pending(news) => Some(news),
                _ => None,
            });
            return Ok(verdict);
        }
        verdict.action = Action::Update;
        verdict.reason = match how {
            How::Claimed | How::Named => explain::updated(&diff),
            How::Moved(from) => explain::moved(from, &diff),
            How::Adopted => explain::adopted(&look.id, &diff),
            How::MadeByAws => explain::made_by_aws(&look.id, &diff),
            How::Retagged => explain::retagged(&look.id, &diff),
        };
        verdict.interrupts = diff.interrupts;
        verdict.diff = diff;
        Ok(verdict)
    }

    /// The value of an output that is sure to be the same once everything is applied.
    fn output(&self, w: usize, address: &str, output: &str) -> Option<&str> {
        let target = self.wishes.index(address)?;
        let object = match &self.verdicts[target] {
            Some(verdict) => match verdict.action {
                Action::Create | Action::Replace | Action::Delete => return None,
                _ if verdict.diff.moves.contains(output) && verdict.action == Action::Update => return None,
                Action::Update | Action::Keep | Action::Blocked => verdict.object?,
            },
            // Only a wish's link to itself comes before its own verdict.
            None if target == w => match self.found[w] {
                Found::Live { object, .. } => object,
                _ => return None,
            },
            None => return None,
        };
        self.world.objects[object].look.outputs.get(output).map(String::as_str)
    }

    /// What an unresolved link means for a live object that has `live` in its place.
    fn unknown(&self, w: usize, address: &Address, output: &str, live: Option<&str>, field: &Field) -> Unknown {
        let Some(target) = self.wishes.index(address.as_str()) else { return Unknown::Later };
        let Some(verdict) = &self.verdicts[target] else {
            return if target == w { Unknown::Same } else { Unknown::Later };
        };
        match verdict.action {
            Action::Replace => Unknown::Anew,
            Action::Create if !field.holds && self.named_alike(target, live) => Unknown::Same,
            Action::Create => Unknown::Later,
            Action::Update if verdict.diff.moves.contains(output) => Unknown::Later,
            _ => Unknown::Same,
        }
    }

    /// True when what is made again gets the name, or the ARN that ends in the name, that the live object links to already.
    fn named_alike(&self, target: usize, live: Option<&str>) -> bool {
        let Some(live) = live else { return false };
        let name = self.wishes.words(target).ok().and_then(|words| words.name.as_deref());
        name.is_some_and(|name| {
            live.strip_suffix(name).is_some_and(|head| head.is_empty() || head.ends_with(['/', ':']))
        })
    }
}
