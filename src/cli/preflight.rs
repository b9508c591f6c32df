//! `preflight`: the checks alone. Must never change anything.

use crate::{
    cli::{
        Exit, Failure,
        app::App,
        args::StackFile,
        connect, input,
        survey::{self, api_calls},
    },
    preflight::{Check, Finding, Verdict},
    report::{self, Header, PreflightDocument},
};

pub async fn run(app: &App, args: &StackFile) -> Result<Exit, Failure> {
    let loaded = input::of_file(app, args)?;
    let spec = &loaded.parsed.spec;
    let session = connect::stack(app, spec)?;
    let survey = survey::survey(&session, spec, &survey::options(spec)).await?;
    let document = PreflightDocument {
        header: Header::new(
            "preflight",
            &spec.name,
            Some(&survey.identity.account),
            &spec.region,
            &survey.circumstances.now,
        ),
        preflight: survey.findings.clone(),
        api_calls: api_calls(session.cloud.calls()),
    };
    session.close()?;
    app.result(&document, |style| report::human::findings(&document.preflight, style, true))?;
    Ok(exit(&document.preflight).and(match survey::blind(&survey.snapshot) {
        Some(failure) => app.tell(&failure),
        None => Exit::Done,
    }))
}

/// A blocked budget is a guard's refusal (6), any other block 3; what could not be looked at is 8.
pub fn exit(findings: &[Finding]) -> Exit {
    findings.iter().fold(Exit::Done, |exit, finding| {
        exit.and(match (finding.verdict, finding.check) {
            (Verdict::Block, Check::Budget | Check::Account) => Exit::Refused,
            (Verdict::Block, _) => Exit::Blocked,
            (Verdict::Unknown, _) => Exit::NotChecked,
            (Verdict::Pass | Verdict::Warn, _) => Exit::Done,
        })
    })
}
