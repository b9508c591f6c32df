//! `plan`: what `up` (or `destroy`) would do, and why. Must never change anything.

use crate::{
    cli::{
        Exit, Failure,
        app::App,
        args,
        connect::{self, Session},
        input::{self, Loaded},
        saved,
        survey::{self, Remains, Survey, api_calls},
    },
    clock::Clock,
    plan::{Action, Options},
    preflight::Verdict,
    report::{self, ChoiceLine, Header, PlanDocument},
    stack::{Expires, Parsed, Spec},
};

pub async fn run(app: &App, args: &args::Plan) -> Result<Exit, Failure> {
    let loaded = input::of_file(app, &args.target)?;
    let session = connect::stack(app, &loaded.parsed.spec)?;
    let watch = Clock::system();
    let (document, blind) = if args.destroy {
        let spec = &loaded.parsed.spec;
        let options = Options { protect: spec.protect, ..Options::default() };
        let remains = survey::remains(&session, &spec.region, &spec.name, &options).await?;
        survey::guard(spec, &remains.caller)?;
        let blind = remains.snapshot.blind().next().is_some();
        (destruction(&remains, &session, &loaded.argument(), watch), blind)
    } else {
        let survey = survey::survey(&session, &loaded.parsed.spec, &survey::options(&loaded.parsed.spec)).await?;
        if let Some(path) = &args.save {
            saved::write(path, &loaded, &survey)?;
        }
        let mut document = of_survey(&survey, &loaded, &session, watch);
        if args.drift_only {
            document.offers.clear();
            document.preflight.clear();
        }
        (document, survey.snapshot.blind().next().is_some())
    };
    session.close()?;
    if app.ndjson() {
        report::events::planned(&document).try_for_each(|line| app.raw(&line))?;
    }
    app.result(&document, |style| report::human::plan(&document, style, app.common.verbose))?;
    Ok(exit(&document, blind, args.detailed_exitcode))
}

/// A blocked step is 8 where something could not be looked at, else a refusal.
fn exit(document: &PlanDocument, blind: bool, detailed: bool) -> Exit {
    let mut exit = Exit::Done;
    if detailed && document.changes.iter().any(|step| step.action != Action::Keep) {
        exit = exit.and(Exit::Changes);
    }
    if document.changes.iter().any(|step| step.action == Action::Blocked) {
        exit = exit.and(if blind { Exit::NotChecked } else { Exit::Refused });
    }
    exit.and(super::preflight::exit(&document.preflight))
}

/// The document of a survey.
pub fn of_survey(survey: &Survey, loaded: &Loaded, session: &Session, watch: Clock) -> PlanDocument {
    let spec = &loaded.parsed.spec;
    let identity = &survey.identity;
    PlanDocument {
        header: Header::new("plan", &spec.name, Some(&identity.account), &identity.region, &survey.circumstances.now),
        caller: Some(survey.caller.principal.clone()),
        expires: expires(spec, survey),
        choices: choices(survey),
        offers: survey.choices.offers.clone(),
        changes: survey.plan.steps.clone(),
        summary: survey.plan.summary(),
        preflight: survey.findings.clone(),
        cost: survey.cost.clone(),
        estimate: survey.estimate.clone(),
        api_calls: api_calls(session.cloud.calls()),
        notes: notes(&loaded.parsed),
        seconds: watch.elapsed().as_secs_f64(),
        destroys: false,
        apply_with: format!("infer-stack up {}", loaded.argument()),
    }
}

/// The document of a destruction.
pub fn destruction(remains: &Remains, session: &Session, argument: &str, watch: Clock) -> PlanDocument {
    let identity = &remains.identity;
    PlanDocument {
        header: Header::new("plan", &identity.stack, Some(&identity.account), &identity.region, &session.clock.text()),
        caller: Some(remains.caller.principal.clone()),
        expires: String::new(),
        choices: vec![],
        offers: vec![],
        changes: remains.plan.steps.clone(),
        summary: remains.plan.summary(),
        preflight: vec![],
        cost: remains.cost.clone(),
        estimate: remains.estimate.clone(),
        api_calls: api_calls(session.cloud.calls()),
        notes: vec![],
        seconds: watch.elapsed().as_secs_f64(),
        destroys: true,
        apply_with: format!("infer-stack destroy {argument}"),
    }
}

fn expires(spec: &Spec, survey: &Survey) -> String {
    let lives = survey.plan.steps.iter().any(|step| step.id.is_some());
    match (&spec.expires, lives) {
        (Expires::After(seconds), false) => format!("{} h after first up", seconds.div_ceil(3600)),
        _ => survey.choices.expires.value.clone(),
    }
}

fn choices(survey: &Survey) -> Vec<ChoiceLine> {
    let line = |subject: &str, value: String, because: &str| ChoiceLine {
        subject: subject.to_owned(),
        value,
        because: because.to_owned(),
    };
    let choices = &survey.choices;
    let mut lines = vec![line("zones", choices.zones.value.join(", "), &choices.zones.because)];
    for (class, choice) in &choices.classes {
        for group in &choice.groups {
            lines.push(line(&format!("zone {class}"), group.zones.value.join(", "), &group.zones.because));
        }
    }
    lines.push(line("kubernetes", choices.cluster_version.value.clone(), &choices.cluster_version.because));
    if let Some(bucket) = &choices.bucket {
        lines.push(line("bucket", bucket.value.clone(), &bucket.because));
    }
    if let Some(zone) = &choices.file_system_zone {
        lines.push(line("file system", zone.value.clone(), &zone.because));
    }
    if let Some(sizing) = &choices.sizing {
        let value = format!("tensor {} × pipeline {}", sizing.value.tensor, sizing.value.pipeline);
        lines.push(line("parallelism", value, &sizing.because));
    }
    lines
}

/// What the reader should know besides.
pub fn notes(parsed: &Parsed) -> Vec<String> {
    let mut notes: Vec<String> = parsed.warnings.iter().map(|warning| warning.message.clone()).collect();
    if parsed.spec.serving.is_some() {
        notes.push(
            "the serving section is checked and sized, but not applied yet: no Kubernetes object is made".to_owned(),
        );
    }
    notes
}

/// True when a finding forbids to go on.
pub fn blocks(survey: &Survey) -> bool {
    survey.findings.iter().any(|finding| finding.verdict == Verdict::Block)
}
