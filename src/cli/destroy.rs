//! `destroy`: takes a stack down in order, sweeps what others left in it, and proves that nothing remains. Must never end
//! well without the proof.

use crate::{
    apply::Surroundings,
    cli::{
        Exit, Failure,
        app::App,
        args,
        connect::{self, Session},
        input::{self, Wanted},
        plan as planning, run as running,
        survey::{self, Remains},
        verify,
    },
    clock::Clock,
    report::{self, Course},
    stack::OnDestroy,
    teardown,
};

pub async fn run(app: &App, args: &args::Destroy) -> Result<Exit, Failure> {
    let wanted = input::of_target(app, &args.target)?;
    let session = connect::wanted(app, &wanted)?;
    let result = take_down(app, args, &session, &wanted).await;
    let closed = session.close();
    let exit = result?;
    closed.map(|()| exit)
}

/// The file may say that the data goes with the stack; without a file it stays unless told.
fn deletes_data(args: &args::Destroy, wanted: &Wanted) -> bool {
    args.delete_data
        || matches!(wanted, Wanted::File(loaded)
            if loaded.parsed.spec.weights.as_ref().is_some_and(|weights| weights.on_destroy == OnDestroy::Delete))
}

async fn take_down(app: &App, args: &args::Destroy, session: &Session, wanted: &Wanted) -> Result<Exit, Failure> {
    let delete_data = deletes_data(args, wanted);
    let options = wanted.options(delete_data);
    let watch = Clock::system();
    let remains = survey::remains(session, wanted.region(), wanted.name(), &options).await?;
    wanted.guard(&remains.caller)?;
    if options.protect
        && let Some(refusal) = remains.refusal()
    {
        return Err(refusal.hint("go on", "set `protect: false` in the file and run `infer-stack up` first"));
    }
    let document = planning::destruction(&remains, session, &wanted.argument(), watch);
    if app.ndjson() {
        report::events::planned(&document).try_for_each(|line| app.raw(&line))?;
    } else if !app.machine() && !remains.plan.tasks.is_empty() {
        app.note(&report::human::plan(&document, app.terminal.err, app.common.verbose))?;
    }
    confirm(app, args, wanted.name())?;
    let run_id = remains.circumstances.run.clone();
    let who = format!("destroy by {}", remains.caller.principal);
    let held = running::lock(session, &remains.identity, &run_id, &who).await?;
    let remains = survey::remains(session, wanted.region(), wanted.name(), &options).await?;
    let result = delete(app, session, &remains, &run_id, &held, delete_data).await;
    let released = held.release(&remains.identity).await;
    let exit = result?;
    released.map(|()| exit)
}

/// Who destroys says the name once more.
fn confirm(app: &App, args: &args::Destroy, name: &str) -> Result<(), Failure> {
    let said = match &args.confirm {
        Some(said) if args.yes => said.clone(),
        _ => app.answer(&format!("This deletes {name}. Its name, to confirm:"), &format!("--yes --confirm {name}"))?,
    };
    if said == name {
        return Ok(());
    }
    Err(Failure::new(Exit::Refused, format!("`{said}` is not `{name}`: nothing was deleted")))
}

async fn delete(
    app: &App,
    session: &Session,
    remains: &Remains,
    run_id: &str,
    held: &running::Held<'_>,
    delete_data: bool,
) -> Result<Exit, Failure> {
    let begun = session.clock.elapsed();
    let ground = running::Ground {
        app,
        session,
        identity: &remains.identity,
        catalog: &remains.catalog,
        run: run_id,
        course: Course {
            tasks: remains.plan.tasks.len(),
            estimate: remains.estimate.seconds,
            longest: remains.estimate.longest.clone(),
            hourly_after: 0.0,
        },
        column: running::column(&remains.plan),
    };
    let scope = &remains.snapshot.scope;
    let work = async |around: Surroundings<'_>| teardown::destroy(&remains.plan, &remains.snapshot, around).await;
    let (destroyed, interrupted) = running::carry_out(ground, held, work).await?;
    let outcome = destroyed.outcome;
    let mut document = verify::prove(session, scope, &remains.catalog, delete_data).await;
    document.deleted = Some(outcome.done.len() + destroyed.swept.len());
    document.seconds = Some((session.clock.elapsed() - begun).as_secs());
    document.failed = outcome.failed.iter().map(|failed| format!("{}: {}", failed.address, failed.why)).collect();
    verify::keep(app, session, &remains.identity, &mut document).await?;
    app.result(&document, |style| report::human::receipt(&document, style, app.common.verbose))?;
    let exit = verify::exit(document.receipt.verdict);
    Ok(if interrupted && exit != Exit::Done { exit.and(Exit::Interrupted) } else { exit })
}
