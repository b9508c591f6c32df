//! A plan on disk, to be applied exactly as it was read. Must never be applied to a world that has moved.

use crate::{
    choose::Circumstances,
    cli::{Exit, Failure, app::write_file, input::Loaded, survey::Survey},
    model::{Doc, Identity},
    observed::Snapshot,
    plan::{Plan, Step},
    report::SCHEMA_VERSION,
    stack::Spec,
};
use serde::{Deserialize, Serialize};
use std::{collections::BTreeMap, path::Path};

#[derive(Serialize, Deserialize)]
pub struct Saved {
    schema_version: u32,
    kind: String,
    pub spec: Spec,
    pub identity: Identity,
    pub circumstances: Circumstances,
    /// What lived when it was made: kind and id, to projection and tags.
    world: BTreeMap<String, Doc>,
    pub plan: Plan,
    /// The stack file it was made from.
    pub file: String,
}

const KIND: &str = "saved-plan";

pub fn write(path: &Path, loaded: &Loaded, survey: &Survey) -> Result<(), Failure> {
    let saved = Saved {
        schema_version: SCHEMA_VERSION,
        kind: KIND.to_owned(),
        spec: loaded.parsed.spec.clone(),
        identity: survey.identity.clone(),
        circumstances: survey.circumstances.clone(),
        world: world(&survey.snapshot),
        plan: survey.plan.clone(),
        file: loaded.path.clone(),
    };
    let text = serde_json::to_string_pretty(&saved)
        .map_err(|error| Failure::new(Exit::Failed, format!("the plan can't be written as JSON: {error}")))?;
    write_file(path, &text)
}

pub fn read(path: &Path) -> Result<Saved, Failure> {
    let shown = path.display();
    let bad =
        |why: String| Failure::new(Exit::Usage, why).hint("go on", "make one with `infer-stack plan FILE --save PLAN`");
    let text = std::fs::read_to_string(path).map_err(|error| bad(format!("can't read {shown}: {error}")))?;
    let saved: Saved =
        serde_json::from_str(&text).map_err(|error| bad(format!("{shown} is no saved plan: {error}")))?;
    if saved.schema_version != SCHEMA_VERSION || saved.kind != KIND {
        return Err(bad(format!("{shown} was saved by another version of infer-stack")));
    }
    Ok(saved)
}

impl Saved {
    /// What has moved since it was made: the account, what lives in it, or what this program would do about it.
    pub fn moved(&self, survey: &Survey) -> Vec<String> {
        if self.identity != survey.identity {
            let (then, now) = (&self.identity.account, &survey.identity.account);
            return vec![format!("it was made for account {then}, these credentials are for {now}")];
        }
        let now = world(&survey.snapshot);
        let gone = self.world.keys().filter(|key| !now.contains_key(*key)).map(|key| format!("{key} is gone"));
        let new = now.keys().filter(|key| !self.world.contains_key(*key)).map(|key| format!("{key} is new"));
        let other = self
            .world
            .iter()
            .filter(|(key, doc)| now.get(*key).is_some_and(|live| live != *doc))
            .map(|(key, _)| format!("{key} has changed"));
        let moved: Vec<String> = gone.chain(new).chain(other).collect();
        if moved.is_empty() { self.planned_otherwise(&survey.plan) } else { moved }
    }

    /// Facts move too: a newer image, a version that ended.
    fn planned_otherwise(&self, now: &Plan) -> Vec<String> {
        let then: BTreeMap<_, _> = self.plan.steps.iter().map(|step| ((&step.address, &step.id), step)).collect();
        let same = |step: &&Step| {
            then.get(&(&step.address, &step.id)).is_some_and(|old| {
                old.action == step.action && old.headline == step.headline && old.fields == step.fields
            })
        };
        let other = now.steps.iter().filter(|step| !same(step));
        other.map(|step| format!("{} would be planned otherwise today", step.address)).collect()
    }
}

fn world(snapshot: &Snapshot) -> BTreeMap<String, Doc> {
    snapshot
        .objects()
        .filter(|live| !live.look.gone)
        .map(|live| {
            let key = format!("{} {}", live.kind, live.look.id);
            (key, serde_json::json!({ "is": live.look.projected, "tags": live.look.tags }))
        })
        .collect()
}
