//! SimulatePrincipalPolicy: what a user's or role's policies say of actions. Must never do what it is asked about.

use super::{
    evaluate::{Decision, Keys, Request, decide},
    input, no_entity, paged,
    role::{Role, named, parts},
};
use crate::{
    model::Policy,
    sandbox::{
        wire::Fault,
        world::{Context, Output, World, texts},
    },
};
use serde_json::{Value, json};

pub(super) fn principal(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let arn = context.required("PolicySourceArn")?;
    let (mut policies, boundary) = world.policies_of(arn)?;
    for text in context.texts("PolicyInputList") {
        policies.push(parsed(&text)?);
    }
    let keys = keys(context);
    let mut resources = context.texts("ResourceArns");
    if resources.is_empty() {
        resources.push("*".to_owned());
    }
    let mut results = vec![];
    for action in context.texts("ActionNames") {
        if !action.contains(':') {
            return Err(input(format!("Invalid action: {action}. The action must be prefaced by a vendor.")));
        }
        for resource in &resources {
            results.push(result(&policies, boundary.as_ref(), &Request { action: &action, resource, keys: &keys }));
        }
    }
    paged(context, "EvaluationResults", results)
}

fn result(policies: &[Policy], boundary: Option<&Policy>, request: &Request) -> Value {
    let (mut decision, missing) = decide(policies, request);
    let within = boundary.map(|boundary| decide([boundary], request).0);
    match within {
        Some(Decision::Denied) => decision = Decision::Denied,
        Some(Decision::Silent) if decision == Decision::Allowed => decision = Decision::Silent,
        _ => {}
    }
    let mut view = json!({
        "EvalActionName": request.action,
        "EvalResourceName": request.resource,
        "EvalDecision": match decision {
            Decision::Allowed => "allowed",
            Decision::Denied => "explicitDeny",
            Decision::Silent => "implicitDeny",
        },
        "MatchedStatements": [],
        "MissingContextValues": missing,
    });
    if let Some(within) = within {
        view["PermissionsBoundaryDecisionDetail"] =
            json!({ "AllowedByPermissionsBoundary": within == Decision::Allowed });
    }
    view
}

fn keys(context: &Context) -> Keys {
    let entries = context.list("ContextEntries").iter();
    let keys = entries.filter_map(|entry| {
        let name = entry.get("ContextKeyName")?.as_str()?;
        Some((name.to_lowercase(), texts(entry.get("ContextKeyValues"))))
    });
    keys.collect()
}

fn parsed(text: &str) -> Result<Policy, Fault> {
    let document = serde_json::from_str(text).map_err(|_| input("The policy is not valid JSON."))?;
    Ok(Policy::parse(&document))
}

impl World {
    /// The policies of a user or role, and its boundary. Users have what the account's caller has: all of it.
    fn policies_of(&self, arn: &str) -> Result<(Vec<Policy>, Option<Policy>), Fault> {
        let invalid = || input(format!("Invalid Entity Arn: {arn} does not clearly define entity type and name."));
        let (_, resource) = parts(arn).ok_or_else(invalid)?;
        if let Some((_, name)) = resource.strip_prefix("role").and_then(named) {
            let role = self.identity.role(name).ok().filter(|role| role.arn == arn);
            let role = role.ok_or_else(|| super::no_role(name))?;
            let boundary = role.boundary.as_deref().and_then(|arn| self.managed_policy(arn)?.document);
            return Ok((self.policies_of_role(role), boundary.as_ref().map(Policy::parse)));
        }
        let (_, name) = resource.strip_prefix("user").and_then(named).ok_or_else(invalid)?;
        match self.principal() == arn {
            true => {
                let all = json!({ "Statement": { "Effect": "Allow", "Action": "*", "Resource": "*" } });
                Ok((vec![Policy::parse(&all)], None))
            }
            false => Err(no_entity(format!("The user with name {name} cannot be found."))),
        }
    }

    /// A document that can't be read, or that is not held here, allows nothing.
    fn policies_of_role(&self, role: &Role) -> Vec<Policy> {
        let inline = role.inline.values().filter_map(|text| serde_json::from_str(text).ok());
        let managed = role.managed.iter().filter_map(|arn| self.managed_policy(arn)?.document);
        inline.chain(managed).map(|document: Value| Policy::parse(&document)).collect()
    }
}
