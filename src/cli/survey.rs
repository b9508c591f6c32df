//! The pipeline up to the plan: facts, look, choices, wishes, plan, checks, price. Every command that needs a plan takes it
//! from here. Must never change anything.

use crate::{
    catalog::{Catalog, Facts},
    choose::{Choices, ChooseError, Circumstances, choose},
    cli::{Exit, Failure, connect::Session},
    cloud::{Caller, Calls, Fact},
    contract::{Class, CloudError},
    cost::{self, Cost},
    desired::{DesiredGraph, desired},
    model::{Identity, Scope},
    observed::{Snapshot, look, wished_names},
    plan::{self, Options, Plan},
    preflight::{self, Finding, Inquiry},
    report::{ApiCalls, Estimate},
    resources::{KINDS, kind},
    stack::{Spec, names},
};
use std::collections::BTreeMap;

/// Everything that is known before anything is done.
pub struct Survey {
    pub identity: Identity,
    pub caller: Caller,
    pub catalog: Catalog,
    pub circumstances: Circumstances,
    pub snapshot: Snapshot,
    pub choices: Choices,
    pub plan: Plan,
    pub findings: Vec<Finding>,
    pub cost: Cost,
    pub estimate: Estimate,
}

/// What the file says of planning.
pub fn options(spec: &Spec) -> Options {
    Options { protect: spec.protect, ..Options::default() }
}

/// This moment, and an id for what is done in it.
fn circumstances(session: &Session) -> Circumstances {
    let now = session.clock.text();
    let run = names::hash(&format!("{now} {}", std::process::id()), 12);
    Circumstances { now, run }
}

/// Looks, chooses and plans for a stack file.
pub async fn survey(session: &Session, spec: &Spec, options: &Options) -> Result<Survey, Failure> {
    let circumstances = circumstances(session);
    let cloud = &*session.cloud;
    let mut facts = Facts::default();
    let caller = caller(session, &mut facts).await?;
    guard(spec, &caller)?;
    let identity = identity(&caller, &spec.region, &spec.name);
    let mut scope = scope(&identity);
    let nothing = Snapshot { taken_at: circumstances.now.clone(), scope: scope.clone(), sights: BTreeMap::new() };
    let mut inquiry = Inquiry::knowing(Fact::Caller, facts);
    let catalog = inquiry.ask(cloud, spec, &nothing, &circumstances).await;
    // Names of what is wished do not hang on what lives, so they can be known before the look that needs them. A choice
    // that fails here fails below as well, with its reason.
    if let Ok(choices) = choose(spec, &nothing, &catalog, &circumstances) {
        let graph = desired(spec, &choices, &catalog, &identity, &circumstances).map_err(|error| bug(&error))?;
        let wishes = graph.wishes.values().filter_map(|wish| Some((kind(wish.address.kind())?, &wish.doc)));
        scope.names = wished_names(wishes).map_err(|error| bug(&error))?;
    }
    let snapshot = look(cloud, scope, KINDS, &session.clock).await;
    let catalog = inquiry.ask(cloud, spec, &snapshot, &circumstances).await;
    let choices = choose(spec, &snapshot, &catalog, &circumstances).map_err(undecided)?;
    let graph = desired(spec, &choices, &catalog, &identity, &circumstances).map_err(|error| bug(&error))?;
    let plan = plan::plan(&graph, &snapshot, options);
    let cost = cost::price(Some(spec), &graph, &snapshot, &catalog, &circumstances.now).map_err(|error| bug(&error))?;
    let input = preflight::Input::new(spec, &choices, &graph, &snapshot, &catalog, &cost, &circumstances);
    let findings = preflight::judge(&input.map_err(|error| bug(&error))?);
    let estimate = estimate(&plan, &catalog);
    Ok(Survey { identity, caller, catalog, circumstances, snapshot, choices, plan, findings, cost, estimate })
}

/// What a destruction knows: it needs no file, so nothing is chosen.
pub struct Remains {
    pub identity: Identity,
    pub caller: Caller,
    pub catalog: Catalog,
    pub circumstances: Circumstances,
    pub snapshot: Snapshot,
    pub plan: Plan,
    pub cost: Cost,
    pub estimate: Estimate,
}

/// Looks at what lives of a stack, and plans its end.
pub async fn remains(session: &Session, region: &str, stack: &str, options: &Options) -> Result<Remains, Failure> {
    let circumstances = circumstances(session);
    let mut facts = Facts::default();
    let caller = caller(session, &mut facts).await?;
    let identity = identity(&caller, region, stack);
    let catalog = Catalog::with(facts);
    let snapshot = look(&*session.cloud, scope(&identity), KINDS, &session.clock).await;
    let graph = DesiredGraph::empty(identity.clone());
    let plan = plan::plan(&graph, &snapshot, options);
    let cost = cost::price(None, &graph, &snapshot, &catalog, &circumstances.now).map_err(|error| bug(&error))?;
    let estimate = estimate(&plan, &catalog);
    Ok(Remains { identity, caller, catalog, circumstances, snapshot, plan, cost, estimate })
}

/// Refuses another account than the file's.
pub fn guard(spec: &Spec, caller: &Caller) -> Result<(), Failure> {
    match &spec.account {
        Some(account) if *account != caller.account => Err(Failure::new(
            Exit::Refused,
            format!("the file is for account {account}, these credentials are for {}", caller.account),
        )
        .hint("go on", "use credentials of that account: AWS_PROFILE, or `aws sso login`")),
        _ => Ok(()),
    }
}

fn identity(caller: &Caller, region: &str, stack: &str) -> Identity {
    Identity { account: caller.account.clone(), region: region.to_owned(), stack: stack.to_owned() }
}

/// What can be known of it without a look.
fn scope(identity: &Identity) -> Scope {
    Scope { identity: identity.clone(), cluster: names::cluster_name(identity), vpc: None, names: BTreeMap::new() }
}

/// Who asks. Nothing can be done without it, so that a failure here ends every command.
async fn caller(session: &Session, facts: &mut Facts) -> Result<Caller, Failure> {
    facts.learn(&Fact::Caller, session.cloud.ask(&Fact::Caller).await);
    match facts.caller.clone() {
        Some(Ok(caller)) => Ok(caller),
        Some(Err(error)) => Err(unreachable(&error)),
        None => Err(Failure::new(Exit::Failed, "nobody answered who the caller is")),
    }
}

/// A cloud that does not answer, in the words of what to do about it.
pub fn unreachable(error: &CloudError) -> Failure {
    match error.class {
        Class::Expired => {
            Failure::new(Exit::Credentials, error.to_string()).hint("go on", "log in again, then the same command")
        }
        Class::Denied => {
            Failure::new(Exit::Credentials, error.to_string()).hint("go on", "use credentials that may call it")
        }
        _ => Failure::new(Exit::NotChecked, format!("could not look: {error}")).hint("go on", "the same command"),
    }
}

fn undecided(error: ChooseError) -> Failure {
    match &error {
        ChooseError::CouldNotLook { source, .. } => {
            let failure = unreachable(source);
            Failure { cause: format!("{error}: {source}"), ..failure }
        }
        other => Failure::new(Exit::Blocked, other.to_string()),
    }
}

/// A document of ours that its own kind does not read.
pub fn bug(error: &dyn std::fmt::Display) -> Failure {
    Failure::new(Exit::Failed, format!("this is a fault of infer-stack: {error}"))
}

/// How long the tasks take along their longest path, by the times that AWS was seen to need.
fn estimate(plan: &Plan, catalog: &Catalog) -> Estimate {
    let (seconds, path) = plan::duration(plan, catalog);
    Estimate { seconds, longest: path.iter().map(ToString::to_string).collect() }
}

pub fn api_calls(calls: Calls) -> ApiCalls {
    ApiCalls { state: calls.state, facts: calls.facts, kubernetes: calls.kubernetes }
}

/// The kinds that could not be looked at as one failure, for commands that can't go on without them.
pub fn blind(snapshot: &Snapshot) -> Option<Failure> {
    let blind: Vec<String> =
        snapshot.blind().map(|(kind, error)| format!("could not look at {kind}: {error}")).collect();
    (!blind.is_empty()).then(|| Failure::new(Exit::NotChecked, blind.join("\n")).hint("go on", "the same command"))
}
