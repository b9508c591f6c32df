//! Updates of clusters, node groups and add-ons. Must never be forgotten while their cluster is there.

use super::not_found;
use crate::sandbox::{
    wire::Fault,
    world::{Context, Moment, Output, World, page},
};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Update {
    pub id: String,
    /// `InProgress`, `Failed`, `Successful`
    pub status: String,
    /// `ConfigUpdate`, `VersionUpdate`, …
    pub kind: String,
    /// Type and value.
    pub params: Vec<(String, String)>,
    pub created: Moment,
    /// Code, message, resources.
    pub errors: Vec<(String, String, Vec<String>)>,
    /// Whose it is: the cluster's own where both are `None`.
    pub nodegroup: Option<String>,
    pub addon: Option<String>,
}

impl Update {
    pub(in crate::sandbox::world) fn view(&self) -> Value {
        let params = self.params.iter().map(|(kind, value)| json!({ "type": kind, "value": value }));
        let errors = self.errors.iter().map(|(code, message, resources)| {
            json!({ "errorCode": code, "errorMessage": message, "resourceIds": resources })
        });
        json!({
            "id": self.id,
            "status": self.status,
            "type": self.kind,
            "params": params.collect::<Vec<_>>(),
            "createdAt": self.created as f64 / 1000.0,
            "errors": errors.collect::<Vec<_>>(),
        })
    }
}

impl World {
    /// Writes down an update that starts now.
    pub(in crate::sandbox::world) fn begin_update(
        &mut self,
        region: &str,
        cluster: &str,
        kind: &str,
        params: Vec<(String, String)>,
        nodegroup: Option<&str>,
        addon: Option<&str>,
    ) -> Update {
        let update = Update {
            id: self.uuid(),
            status: "InProgress".to_owned(),
            kind: kind.to_owned(),
            params,
            created: self.now,
            errors: vec![],
            nodegroup: nodegroup.map(str::to_owned),
            addon: addon.map(str::to_owned),
        };
        self.eks_mut(region).updates.entry(cluster.to_owned()).or_default().push(update.clone());
        update
    }

    /// Ends an update; with an error it has failed.
    pub(in crate::sandbox::world) fn end_update(
        &mut self,
        region: &str,
        cluster: &str,
        id: &str,
        error: Option<(String, String, Vec<String>)>,
    ) {
        let all = self.eks_mut(region).updates.get_mut(cluster);
        if let Some(update) = all.into_iter().flatten().find(|update| update.id == id) {
            update.status = if error.is_some() { "Failed" } else { "Successful" }.to_owned();
            update.errors.extend(error);
        }
    }
}

fn of<'w>(world: &'w World, context: &Context) -> Result<Vec<&'w Update>, Fault> {
    let cluster = context.required("name")?;
    world.home(context.region, cluster)?;
    let (nodegroup, addon) = (context.text("nodegroupName"), context.text("addonName"));
    let all = world.eks(context.region).updates.get(cluster);
    let its = |update: &&Update| update.nodegroup.as_deref() == nodegroup && update.addon.as_deref() == addon;
    Ok(all.into_iter().flatten().filter(its).collect())
}

pub(super) fn read(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let id = context.required("updateId")?;
    let found = of(world, context)?.into_iter().find(|update| update.id == id);
    let update = found.ok_or_else(|| not_found(format!("No update found for ID: {id}.")))?;
    Ok(json!({ "update": update.view() }).into())
}

/// The newest first.
pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let ids: Vec<&str> = of(world, context)?.into_iter().rev().map(|update| update.id.as_str()).collect();
    let most = context.number("maxResults").or(Some(100));
    let (ids, next) = page(ids, context.text("nextToken"), most, "InvalidParameterException")?;
    Ok(json!({ "updateIds": ids, "nextToken": next }).into())
}
