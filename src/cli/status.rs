//! `status`: what lives of a stack, and what it costs. Must never take "could not look" for "nothing there".

use crate::{
    cli::{
        Exit, Failure,
        app::App,
        args::Target,
        connect::{self, Session},
        input,
        survey::{self, Remains, api_calls},
    },
    contract::Readiness,
    cost,
    model::EXPIRES,
    observed::Live,
    plan::Options,
    report::{self, Header, StatusDocument, StatusResource},
    resources::{self, kind},
    teardown,
};
use serde::Deserialize;
use std::collections::BTreeMap;

pub async fn run(app: &App, args: &Target) -> Result<Exit, Failure> {
    let wanted = input::of_target(app, args)?;
    let session = connect::wanted(app, &wanted)?;
    let remains = survey::remains(&session, wanted.region(), wanted.name(), &Options::default()).await?;
    wanted.guard(&remains.caller)?;
    let document = document(&remains, &session)?;
    session.close()?;
    app.result(&document, |style| report::human::status(&document, style, app.common.verbose))?;
    Ok(if document.not_looked.is_empty() { Exit::Done } else { Exit::NotChecked })
}

fn document(remains: &Remains, session: &Session) -> Result<StatusDocument, Failure> {
    let snapshot = &remains.snapshot;
    let living: Vec<&Live> = snapshot
        .objects()
        .filter(|live| !live.look.gone)
        .filter(|live| kind(&live.kind).is_some_and(|kind| teardown::is_ours(kind, live, &remains.identity)))
        .collect();
    let instances: Vec<&Live> = living.iter().copied().filter(|live| live.kind == "instance").collect();
    let catalog = &remains.catalog;
    let mut node_types = BTreeMap::new();
    for live in instances {
        *node_types.entry(instance_type(live)?).or_default() += 1;
    }
    let expires = living.iter().find_map(|live| live.look.tags.get(EXPIRES)).cloned();
    let now = session.clock.now();
    let seconds_left = expires
        .as_deref()
        .and_then(|text| text.parse::<jiff::Timestamp>().ok())
        .map(|end| end.as_second() - now.as_second());
    let resources: Vec<StatusResource> = living.iter().map(|live| resource(live, remains)).collect::<Result<_, _>>()?;
    Ok(StatusDocument {
        header: Header::new(
            "status",
            &remains.identity.stack,
            Some(&remains.identity.account),
            &remains.identity.region,
            &session.clock.text(),
        ),
        expires,
        seconds_left,
        nodes: node_types.values().sum(),
        accelerators: node_types.iter().filter_map(|(name, n)| Some(catalog.instance_type(name)?.devices() * n)).sum(),
        node_types,
        hourly_usd: resources.iter().filter_map(|resource| resource.hourly_usd).sum(),
        resources,
        not_looked: snapshot.blind().map(|(kind, error)| (kind.to_owned(), error.to_string())).collect(),
        api_calls: api_calls(session.cloud.calls()),
    })
}

fn resource(live: &Live, remains: &Remains) -> Result<StatusResource, Failure> {
    let known = kind(&live.kind);
    let state = match &live.look.ready {
        _ if live.look.going => "going".to_owned(),
        Readiness::Ready => "ready".to_owned(),
        Readiness::Pending(why) | Readiness::Broken(why) => why.clone(),
    };
    // What is billed by what it brings is not billed twice.
    let bills = teardown::finders().find(|finder| finder.kind == live.kind).is_none_or(|finder| finder.bills);
    let hourly_usd = match known {
        Some(_) if !bills => None,
        Some(kind) => {
            cost::hourly(&remains.catalog, &remains.identity.region, kind, live).map_err(|e| survey::bug(&e))?
        }
        None => None,
    };
    Ok(StatusResource {
        // A byproduct carries the address of the template that it is made from.
        address: live.look.claims.as_ref().filter(|address| address.kind() == live.kind).map(ToString::to_string),
        what: known.map_or(live.kind.as_str(), |kind| kind.aws_name()).to_owned(),
        id: live.look.id.clone(),
        state,
        hourly_usd,
    })
}

fn instance_type(live: &Live) -> Result<String, Failure> {
    let known = resources::instance::Observed::deserialize(&live.doc).map_err(|error| survey::bug(&error))?;
    Ok(known.shape.instance_type)
}
