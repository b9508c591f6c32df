//! `verify`: does anything of a stack remain or bill? Must never delete, and never take "could not look" for absence.

use crate::{
    catalog::Catalog,
    cli::{
        Exit, Failure,
        app::{App, write_file},
        args::Target,
        connect::{self, Session},
        input::{self, Wanted},
        survey::{self, Remains},
    },
    cloud::Expect,
    model::{Identity, Scope},
    plan::Options,
    report::{self, Header, ReceiptDocument},
    resources::KINDS,
    teardown::{self, Inquest, Status, receipt_key},
};
use std::path::PathBuf;

pub async fn run(app: &App, args: &Target) -> Result<Exit, Failure> {
    let wanted = input::of_target(app, args)?;
    let session = connect::wanted(app, &wanted)?;
    let result = look(app, &session, &wanted).await;
    let closed = session.close();
    let exit = result?;
    closed.map(|()| exit)
}

async fn look(app: &App, session: &Session, wanted: &Wanted) -> Result<Exit, Failure> {
    let remains = survey::remains(session, wanted.region(), wanted.name(), &Options::default()).await?;
    wanted.guard(&remains.caller)?;
    let mut document = prove(session, &remains.snapshot.scope, &remains.catalog, false).await;
    keep(app, session, &remains.identity, &mut document).await?;
    app.result(&document, |style| report::human::receipt(&document, style, app.common.verbose))?;
    Ok(exit(document.receipt.verdict))
}

/// The receipt of two looks, a pause apart.
pub async fn prove(session: &Session, scope: &Scope, catalog: &Catalog, delete_data: bool) -> ReceiptDocument {
    let started = session.clock.text();
    let inquest = Inquest {
        cloud: &*session.cloud,
        kinds: KINDS,
        catalog,
        clock: session.clock,
        pause: teardown::PAUSE,
        delete_data,
    };
    let receipt = teardown::verify(inquest, scope).await;
    let identity = &scope.identity;
    ReceiptDocument {
        header: Header::new("receipt", &identity.stack, Some(&identity.account), &identity.region, &started),
        receipt,
        deleted: None,
        seconds: None,
        failed: vec![],
        kept_as: None,
        look_with: format!("infer-stack verify --name {} --region {}", identity.stack, identity.region),
    }
}

/// Keeps the receipt here, and a copy beside the lock.
pub async fn keep(
    app: &App,
    session: &Session,
    identity: &Identity,
    document: &mut ReceiptDocument,
) -> Result<(), Failure> {
    let key = receipt_key(identity, &session.clock.text());
    let path = format!(".infer-stack/receipts/{key}");
    document.kept_as = Some(path.clone());
    let text = serde_json::to_string_pretty(document).map_err(|error| survey::bug(&error))?;
    write_file(&PathBuf::from(&path), &text)?;
    match session.cloud.store().put(&key, text.into_bytes(), Expect::Anything).await {
        Ok(_) => Ok(()),
        Err(error) => app.note(&format!("the receipt is in {path} only: {error}")),
    }
}

pub fn exit(verdict: Status) -> Exit {
    match verdict {
        Status::Absent => Exit::Done,
        Status::NotChecked => Exit::NotChecked,
        Status::Present => Exit::Remains,
    }
}

/// What a survey of remains and its wish have in common.
impl Wanted {
    pub fn guard(&self, caller: &crate::cloud::Caller) -> Result<(), Failure> {
        match self {
            Wanted::File(loaded) => survey::guard(&loaded.parsed.spec, caller),
            Wanted::Named { .. } => Ok(()),
        }
    }

    /// Options that a destruction of it has.
    pub fn options(&self, delete_data: bool) -> Options {
        let protect = match self {
            Wanted::File(loaded) => loaded.parsed.spec.protect,
            Wanted::Named { .. } => false,
        };
        Options { protect, delete_data, ..Options::default() }
    }
}

impl Remains {
    /// Steps that are refused, as one refusal.
    pub fn refusal(&self) -> Option<Failure> {
        let blocked: Vec<String> = self
            .plan
            .steps
            .iter()
            .filter(|step| step.action == crate::plan::Action::Blocked)
            .map(|step| format!("{}: {}", step.address, step.reason))
            .collect();
        (!blocked.is_empty()).then(|| Failure::new(Exit::Refused, blocked.join("\n")))
    }
}
