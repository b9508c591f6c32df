//! What Auto Scaling groups did, in their own words. Must never be changed once it has ended.

use super::group::no_such;
use crate::sandbox::{
    wire::Fault,
    world::{Context, Moment, Output, World, page},
};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Activity {
    pub id: String,
    pub description: String,
    pub cause: String,
    pub start: Moment,
    pub end: Option<Moment>,
    /// `InProgress`, `Successful`, `Failed`
    pub status: String,
    pub message: Option<String>,
}

/// Activities that are remembered of a group; Auto Scaling remembers six weeks.
const REMEMBERED: usize = 100;

/// `At 2026-12-01T12:00:00Z`
fn at(moment: Moment) -> String {
    let time = Timestamp::from_second(moment.div_euclid(1000)).unwrap_or(Timestamp::UNIX_EPOCH);
    format!("At {time}")
}

impl World {
    /// Writes down what a group starts to do, and why; the id of it.
    pub(super) fn note(&mut self, region: &str, name: &str, description: String, cause: &str) -> String {
        let (id, now) = (self.uuid(), self.now);
        let Some(group) = self.scaling_group_mut(region, name) else { return id };
        let cause = format!("{} {}.  {} {cause}", at(now), group.request, at(now));
        group.activities.push(Activity {
            id: id.clone(),
            description,
            cause,
            start: now,
            end: None,
            status: "InProgress".to_owned(),
            message: None,
        });
        let surplus = group.activities.len().saturating_sub(REMEMBERED);
        group.activities.drain(..surplus);
        id
    }

    pub(super) fn close(&mut self, region: &str, name: &str, id: &str, failure: Option<String>) {
        let now = self.now;
        let Some(group) = self.scaling_group_mut(region, name) else { return };
        let Some(activity) = group.activities.iter_mut().find(|activity| activity.id == id) else { return };
        if activity.end.is_some() {
            return;
        }
        activity.end = Some(now);
        activity.status = if failure.is_some() { "Failed" } else { "Successful" }.to_owned();
        if let Some(message) = &failure {
            activity.description = format!("{}.  Status Reason: {message}", activity.description);
        }
        activity.message = failure;
    }
}

/// The newest first.
pub(super) fn list(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (world, region) = (&*world, context.region);
    let (wanted, ids) = (context.text("AutoScalingGroupName"), context.texts("ActivityIds"));
    let all = world.scaling.get(region);
    if let Some(name) = wanted.filter(|name| all.is_none_or(|all| !all.contains_key(*name))) {
        return Err(no_such(name));
    }
    let mut found: Vec<(Moment, Value)> = vec![];
    for (name, group) in all.into_iter().flatten().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name)) {
        for activity in group.activities.iter().rev().filter(|one| ids.is_empty() || ids.contains(&one.id)) {
            let view = json!({
                "ActivityId": activity.id,
                "AutoScalingGroupName": name,
                "AutoScalingGroupARN": world.scaling_arn(region, name, &group.id),
                "Description": activity.description,
                "Cause": activity.cause,
                "StartTime": activity.start as f64 / 1000.0,
                "EndTime": activity.end.map(|end| end as f64 / 1000.0),
                "StatusCode": activity.status,
                "StatusMessage": activity.message,
                "Progress": if activity.end.is_some() { 100 } else { 50 },
                "Details": "{}",
            });
            found.push((activity.start, view));
        }
    }
    found.sort_by_key(|(start, _)| std::cmp::Reverse(*start));
    let most = context.number("MaxRecords").unwrap_or(100);
    let found = found.into_iter().map(|(_, view)| view).collect();
    let (rows, next) = page(found, context.text("NextToken"), Some(most), "InvalidNextToken")?;
    Ok(json!({ "Activities": rows, "NextToken": next }).into())
}
