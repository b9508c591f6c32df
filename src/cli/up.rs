//! `up`: brings the stack to what the file says, then looks whether it is. Must never start while a check blocks.

use crate::{
    apply::{Outcome, Surroundings, apply},
    cli::{
        Exit, Failure,
        app::App,
        args,
        connect::{self, Session},
        input::{self, Loaded},
        plan as planning, preflight, run as running, saved,
        survey::{self, Survey},
    },
    clock::Clock,
    model::Address,
    plan::{Action, Options},
    report::{self, Course, Header, PlanDocument, UpDocument},
    stack::Parsed,
};
use std::collections::BTreeSet;

pub async fn run(app: &App, args: &args::Up) -> Result<Exit, Failure> {
    let saved = args.plan.as_deref().map(saved::read).transpose()?;
    let loaded = match (&saved, &args.file) {
        (Some(saved), _) => Loaded {
            path: saved.file.clone(),
            parsed: Parsed { spec: saved.spec.clone(), warnings: vec![], places: Default::default() },
        },
        (None, Some(file)) => input::one(app, file, args.stack.as_deref())?,
        (None, None) => return Err(Failure::new(Exit::Usage, "name a stack file, or a saved plan with --plan")),
    };
    let options = options(args, &loaded)?;
    let session = connect::stack(app, &loaded.parsed.spec)?;
    let result = bring_up(app, args, &session, &loaded, &options, saved.as_ref()).await;
    let closed = session.close();
    let exit = result?;
    closed.map(|()| exit)
}

fn options(args: &args::Up, loaded: &Loaded) -> Result<Options, Failure> {
    let addresses = |texts: &[String]| -> Result<BTreeSet<Address>, Failure> {
        texts
            .iter()
            .map(|text| Address::parse(text).map_err(|error| Failure::new(Exit::Usage, error.to_string())))
            .collect()
    };
    Ok(Options { adopt: addresses(&args.adopt)?, only: addresses(&args.only)?, ..survey::options(&loaded.parsed.spec) })
}

async fn bring_up(
    app: &App,
    args: &args::Up,
    session: &Session,
    loaded: &Loaded,
    options: &Options,
    saved: Option<&saved::Saved>,
) -> Result<Exit, Failure> {
    let spec = &loaded.parsed.spec;
    let watch = Clock::system();
    let mut survey = survey::survey(session, spec, options).await?;
    let mut document = planning::of_survey(&survey, loaded, session, watch);
    refuse(app, &survey, &document, loaded)?;
    show(app, &document)?;
    if let Some(saved) = saved {
        still_holds(saved, &survey, loaded)?;
    } else if !survey.plan.tasks.is_empty() && !args.yes {
        app.confirm("Apply this? [y/N]", "--yes")?;
    }
    let run_id = survey.circumstances.run.clone();
    let mut outcome = Outcome::default();
    let mut interrupted = false;
    if !survey.plan.tasks.is_empty() {
        let who = format!("up by {}", survey.caller.principal);
        let held = running::lock(session, &survey.identity, &run_id, &who).await?;
        // Somebody may have worked on it while the lock was waited for: what is applied was seen under the lock.
        let under_lock = survey::survey(session, spec, options).await?;
        if under_lock.plan.steps != survey.plan.steps {
            document = planning::of_survey(&under_lock, loaded, session, watch);
            let allowed =
                refuse(app, &under_lock, &document, loaded).and_then(|()| show(app, &document)).and_then(|()| {
                    match saved {
                        Some(saved) => still_holds(saved, &under_lock, loaded),
                        None if args.yes || under_lock.plan.tasks.is_empty() => Ok(()),
                        None => app.confirm("It has moved meanwhile. Apply this instead? [y/N]", "--yes"),
                    }
                });
            if let Err(refusal) = allowed {
                held.release(&survey.identity).await?;
                return Err(refusal);
            }
        }
        survey = under_lock;
        let ground = running::Ground {
            app,
            session,
            identity: &survey.identity,
            catalog: &survey.catalog,
            run: &run_id,
            course: Course {
                tasks: survey.plan.tasks.len(),
                estimate: survey.estimate.seconds,
                longest: survey.estimate.longest.clone(),
                hourly_after: survey.cost.hourly_after,
            },
            column: running::column(&survey.plan),
        };
        let work = async |around: Surroundings<'_>| apply(&survey.plan, &survey.snapshot, around).await;
        (outcome, interrupted) = running::carry_out(ground, &held, work).await?;
        held.release(&survey.identity).await?;
    }
    finish(app, session, loaded, options, &survey, outcome, interrupted).await
}

/// The plan on stderr, since the result of `up` is what came of it.
fn show(app: &App, document: &PlanDocument) -> Result<(), Failure> {
    if app.ndjson() {
        return report::events::planned(document).try_for_each(|line| app.raw(&line));
    }
    if app.machine() { Ok(()) } else { app.note(&report::human::plan(document, app.terminal.err, app.common.verbose)) }
}

/// Checks that block and steps that are refused, before anything is made.
fn refuse(app: &App, survey: &Survey, document: &PlanDocument, loaded: &Loaded) -> Result<(), Failure> {
    let nothing = "nothing was created";
    let exit = preflight::exit(&survey.findings);
    if planning::blocks(survey) {
        if app.ndjson() {
            show(app, document)?;
        }
        app.instead(document, |style| report::human::blocked(document, style))?;
        let argument = loaded.argument();
        return Err(Failure::new(exit, "")
            .hint("go on", format!("infer-stack up {argument}   once it is mended"))
            .hint("see", format!("infer-stack plan {argument}   shows it beside the changes")));
    }
    if let Some(failure) = survey::blind(&survey.snapshot) {
        return Err(Failure { cause: format!("{}\n{nothing}", failure.cause), ..failure });
    }
    let blocked: Vec<String> = document
        .changes
        .iter()
        .filter(|step| step.action == Action::Blocked)
        .map(|step| format!("{}: {}", step.address, step.reason))
        .collect();
    if blocked.is_empty() {
        return Ok(());
    }
    Err(Failure::new(Exit::Refused, format!("{}\n{nothing}", blocked.join("\n"))))
}

fn still_holds(saved: &saved::Saved, survey: &Survey, loaded: &Loaded) -> Result<(), Failure> {
    let moved = saved.moved(survey);
    if moved.is_empty() {
        return Ok(());
    }
    Err(Failure::new(
        Exit::Refused,
        format!("the plan was made for another world, so nothing was changed:\n{}", moved.join("\n")),
    )
    .hint("go on", format!("infer-stack plan {} --save PLAN", loaded.argument())))
}

/// Looks again: what was made is there, and the file asks for nothing more.
async fn finish(
    app: &App,
    session: &Session,
    loaded: &Loaded,
    options: &Options,
    before: &Survey,
    outcome: Outcome,
    interrupted: bool,
) -> Result<Exit, Failure> {
    let spec = &loaded.parsed.spec;
    let after = survey::survey(session, spec, options).await?;
    let open: Vec<String> = after
        .plan
        .steps
        .iter()
        .filter(|step| step.action != Action::Keep)
        .map(|step| format!("{}: {}", step.address, step.reason))
        .collect();
    let argument = loaded.argument();
    let document = UpDocument {
        header: Header::new(
            "up",
            &spec.name,
            Some(&after.identity.account),
            &after.identity.region,
            &before.circumstances.now,
        ),
        resources: after.plan.steps.iter().filter(|step| step.id.is_some()).count(),
        verified: outcome.is_complete() && open.is_empty(),
        outcome,
        open,
        interrupted,
        expires: after.choices.expires.value.clone(),
        hourly_usd: after.cost.hourly_now,
        calls: session.cloud.calls().into(),
        notes: planning::notes(&loaded.parsed),
        go_on: format!("infer-stack up {argument}"),
        destroy_with: format!("infer-stack destroy {argument}"),
    };
    app.result(&document, |style| report::human::up(&document, style))?;
    Ok(match (document.verified, interrupted) {
        (_, true) if !document.verified => Exit::Interrupted,
        (true, _) => Exit::Done,
        (false, _) => Exit::Failed,
    })
}
