//! The event stream's frame: its first line, and the plan as events. What happens afterwards are the engine's own events.
//! Must never hold what a reader could not ignore.

use crate::report::document::{PlanDocument, SCHEMA_VERSION};
use serde_json::json;

/// The first line, then one a planned change.
pub fn planned(plan: &PlanDocument) -> impl Iterator<Item = String> {
    let version = json!({
        "type": "version", "schema_version": SCHEMA_VERSION, "infer_stack": env!("CARGO_PKG_VERSION"),
        "stack": plan.header.stack, "account": plan.header.account, "region": plan.header.region,
        "started_at": plan.header.started_at,
    });
    let changes = plan.changes.iter().filter(|step| step.action != crate::plan::Action::Keep).map(|step| {
        json!({
            "type": "planned_change", "address": step.address, "action": step.action, "id": step.id,
            "reason": step.reason, "interrupts": step.interrupts, "fields": step.fields,
        })
    });
    std::iter::once(version).chain(changes).map(|line| line.to_string()).collect::<Vec<_>>().into_iter()
}
