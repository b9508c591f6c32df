//! Carries out a plan: every task as soon as what it comes after is done, many at once. Must never choose, and never take
//! anything back.

use super::{
    Event,
    journal::Line,
    run::{Done, Failed, Failure, InFlight, Outcome, Run, Skipped, Surroundings},
    step::Step,
    stop::SETTLE,
};
use crate::{
    contract::Class,
    model::{Address, Doc, Outputs, PhysicalId, Stamp, resolve},
    observed::{Live, Snapshot},
    plan::{Action, Plan, Task, TaskId, Verb, token},
};
use futures::stream::{FuturesUnordered, StreamExt};
use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, PoisonError},
    time::Duration,
};

/// Carries out every task of a plan that was made from this snapshot. Independent branches finish when one fails; what comes
/// after a failure is skipped, and said.
pub async fn apply(plan: &Plan, snapshot: &Snapshot, around: Surroundings<'_>) -> Outcome {
    let run = Run::new(around, &snapshot.scope);
    let begun = around.clock.elapsed();
    let mut outcome = Outcome { outputs: known(plan, snapshot), ..Outcome::default() };
    let mut waiting: BTreeMap<TaskId, &Task> = plan.tasks.iter().map(|task| (task.id, task)).collect();
    let mut done = BTreeSet::new();
    // Why nothing new may start; the first reason stays.
    let mut halted: Option<String> = None;
    let mut told = 0;
    let mut running = FuturesUnordered::new();
    loop {
        if around.stop.level() >= SETTLE && halted.is_none() {
            halted = Some("the run was stopped".to_owned());
        }
        if halted.is_none() {
            let free: Vec<TaskId> = waiting
                .values()
                .filter(|task| task.after.iter().all(|id| done.contains(id)))
                .map(|task| task.id)
                .collect();
            for task in free.iter().filter_map(|id| waiting.remove(id)) {
                run.tell(Event::StepStarted { at: run.now(), address: task.address.clone(), verb: task.verb.clone() });
                running.push(carry_out(&run, task, prepare(plan, snapshot, task, &outcome.outputs)));
            }
        }
        if running.is_empty() {
            break;
        }
        let level = around.stop.level();
        let ended = tokio::select! {
            biased;
            Some(ended) = running.next() => ended,
            () = around.stop.reached(level.max(told) + 1) => {
                told = around.stop.level();
                run.tell(Event::Interrupted { at: run.now(), running: running.len() });
                continue;
            }
        };
        let Ended { task, id, started, result } = ended;
        let seconds = (around.clock.elapsed() - started).as_secs();
        let (address, at) = (task.address.clone(), run.now());
        match result {
            Ok(live) => {
                done.insert(task.id);
                match live {
                    Some(live) => drop(outcome.outputs.insert(address.clone(), live.look.outputs)),
                    // The deletion of a second object of the address takes nothing from the first.
                    None => outcome.outputs.retain(|at, its| *at != address || its.get("id") != id.as_ref()),
                }
                let verb = task.verb.clone();
                run.tell(Event::StepDone { at, address: address.clone(), id: id.clone(), seconds, verb: verb.clone() });
                outcome.done.push(Done { address, verb, id, started_after: (started - begun).as_secs(), seconds });
            }
            Err(Failure::Left) => {
                // The journal is a record, not a source: one that can't be written now changes nothing of what is true.
                if let Err(error) = around.log.say(Line::InFlight { address: &address, id: id.as_deref() }) {
                    run.tell(Event::JournalFailed { at, why: error.to_string() });
                }
                outcome.in_flight.push(InFlight { address, id });
            }
            Err(failure) => {
                let (why, error) = (failure.to_string(), failure.cloud().cloned());
                run.tell(Event::StepFailed {
                    at,
                    address: address.clone(),
                    id: id.clone(),
                    seconds,
                    why: why.clone(),
                    error: error.clone(),
                });
                if error.as_ref().is_some_and(|error| error.class == Class::Expired) && halted.is_none() {
                    halted = Some("the credentials expired".to_owned());
                }
                skip(&run, &mut outcome, &mut waiting, task.id, &format!("{address} failed"));
                outcome.failed.push(Failed { address, verb: task.verb.clone(), id, why, error });
            }
        }
    }
    let because = halted.unwrap_or_else(|| "what it comes after was not done".to_owned());
    for task in waiting.into_values() {
        say_skipped(&run, &mut outcome, task, because.clone());
    }
    outcome.seconds = (around.clock.elapsed() - begun).as_secs();
    run.tell(Event::Summary {
        at: run.now(),
        done: outcome.done.len(),
        failed: outcome.failed.len(),
        skipped: outcome.skipped.len(),
        seconds: outcome.seconds,
    });
    outcome
}

/// Outputs of what lives and stays.
fn known(plan: &Plan, snapshot: &Snapshot) -> BTreeMap<Address, Outputs> {
    let stays = |action| matches!(action, Action::Keep | Action::Update);
    let mut outputs = BTreeMap::new();
    for step in plan.steps.iter().filter(|step| stays(step.action)) {
        let Some(id) = &step.id else { continue };
        let live = snapshot.seen(&step.kind).iter().find(|live| live.look.id == *id && !live.look.gone);
        outputs.extend(live.map(|live| (step.address.clone(), live.look.outputs.clone())));
    }
    outputs
}

/// What a task needs besides itself: the wish with every link resolved, and the stamp with its token.
type Prepared = Result<(Option<Doc>, Option<Stamp>), Failure>;

fn prepare(plan: &Plan, snapshot: &Snapshot, task: &Task, outputs: &BTreeMap<Address, Outputs>) -> Prepared {
    let mut want = task.want.clone();
    if let Some(want) = &mut want {
        let find = |address: &Address, output: &str| outputs.get(address)?.get(output).cloned();
        if !resolve(want, &find) {
            let missing: Vec<String> = crate::model::links(want)
                .into_iter()
                .map(|link| format!("{} of {}", link.output, link.address))
                .collect();
            return Err(Failure::Fault(format!("not known after everything before was done: {}", missing.join(", "))));
        }
    }
    let mut stamp = task.stamp.clone();
    if let (Some(stamp), Some(want)) = (&mut stamp, &want) {
        let gone = plan.gone.get(&task.address).map(Vec::as_slice).unwrap_or_default();
        stamp.token = token(&snapshot.scope.identity, &task.address, &task.kind, want, gone);
    }
    Ok((want, stamp))
}

struct Ended<'t> {
    task: &'t Task,
    id: Option<PhysicalId>,
    started: Duration,
    result: Result<Option<Live>, Failure>,
}

async fn carry_out<'t>(run: &Run<'_>, task: &'t Task, prepared: Prepared) -> Ended<'t> {
    let started = run.around.clock.elapsed();
    let (result, id) = match run.kind(&task.kind) {
        Ok(kind) => {
            let step = Step { run, kind, address: &task.address, id: Mutex::default() };
            let result = perform(&step, task, prepared).await;
            (result, step.id.into_inner().unwrap_or_else(PoisonError::into_inner))
        }
        Err(failure) => (Err(failure), None),
    };
    Ended { task, id, started, result }
}

async fn perform(step: &Step<'_>, task: &Task, prepared: Prepared) -> Result<Option<Live>, Failure> {
    let (want, stamp) = prepared?;
    let incomplete = || Failure::Fault(format!("the task of {} has no wish", task.address));
    match &task.verb {
        Verb::Create => {
            let (want, stamp) = want.zip(stamp).ok_or_else(incomplete)?;
            step.create(&want, &stamp).await.map(Some)
        }
        Verb::Update { id, changed } => {
            let (want, stamp) = want.zip(stamp).ok_or_else(incomplete)?;
            step.update(id, changed, &want, &stamp).await.map(Some)
        }
        Verb::Await { id } => step.attach(id, want.as_ref(), stamp.as_ref()).await.map(Some),
        Verb::Delete { id } => step.delete(id).await.map(|()| None),
    }
}

/// Skips everything that comes after a task, however far.
fn skip(run: &Run<'_>, outcome: &mut Outcome, waiting: &mut BTreeMap<TaskId, &Task>, after: TaskId, because: &str) {
    let mut lost = vec![after];
    while let Some(id) = lost.pop() {
        let next: Vec<TaskId> = waiting.values().filter(|task| task.after.contains(&id)).map(|task| task.id).collect();
        for task in next.iter().filter_map(|id| waiting.remove(id)) {
            say_skipped(run, outcome, task, because.to_owned());
            lost.push(task.id);
        }
    }
}

fn say_skipped(run: &Run<'_>, outcome: &mut Outcome, task: &Task, because: String) {
    run.tell(Event::StepSkipped { at: run.now(), address: task.address.clone(), because: because.clone() });
    outcome.skipped.push(Skipped { address: task.address.clone(), because });
}
