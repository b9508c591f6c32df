//! What IAM refuses of a policy document. Must never judge what a policy allows.

use super::role::{named, parts};
use crate::{
    model::{Policy, Statement},
    sandbox::{wire::Fault, world::World},
};
use serde_json::Value;
use std::collections::BTreeSet;

fn malformed(message: impl Into<String>) -> Fault {
    Fault::new("MalformedPolicyDocument", message)
}

/// Keys of a statement that [`Statement`] keeps as they are.
const NEGATIONS: &[&str] = &["NotAction", "NotResource", "NotPrincipal"];

/// What both sorts of policy share.
fn read(text: &str) -> Result<Policy, Fault> {
    let document: Value = serde_json::from_str(text).map_err(|_| malformed("This policy contains invalid Json"))?;
    let version = document.get("Version").is_none_or(|version| version == "2012-10-17" || version == "2008-10-17");
    let known = document
        .as_object()
        .is_some_and(|map| map.keys().all(|key| matches!(key.as_str(), "Version" | "Id" | "Statement")));
    if !version || !known {
        return Err(malformed("Syntax errors in policy."));
    }
    let listed = match document.get("Statement") {
        Some(Value::Array(statements)) => statements.len(),
        Some(Value::Object(_)) => 1,
        _ => 0,
    };
    if listed == 0 {
        return Err(malformed("Syntax errors in policy."));
    }
    let policy = Policy::parse(&document);
    let statements = || policy.statements();
    if statements().any(|statement| statement.other.keys().any(|key| !NEGATIONS.contains(&key.as_str()))) {
        return Err(malformed("Syntax errors in policy."));
    }
    let ids: Vec<_> = statements().map(|statement| statement.sid.as_str()).filter(|id| !id.is_empty()).collect();
    if ids.iter().collect::<BTreeSet<_>>().len() < ids.len() {
        return Err(malformed("Statement IDs (SID) in a single policy must be unique."));
    }
    if ids.iter().any(|id| !id.chars().all(|c| c.is_ascii_alphanumeric())) {
        return Err(malformed(
            "Statement IDs (SID) must be alpha-numeric. Check that your input satisfies the regular expression [0-9A-Za-z]*",
        ));
    }
    for statement in statements() {
        if statement.actions.is_empty() && !statement.other.contains_key("NotAction") {
            return Err(malformed("Policy statement must contain actions."));
        }
        if statement.actions.iter().any(|action| action != "*" && !action.contains(':')) {
            return Err(malformed("Actions/Conditions must be prefaced by a vendor, e.g., iam, sdb, ec2, etc."));
        }
    }
    Ok(policy)
}

/// Judges what says who may act as a role.
pub(super) fn trust(world: &World, text: &str) -> Result<(), Fault> {
    for statement in read(text)?.statements() {
        if !statement.resources.is_empty() || statement.other.contains_key("NotResource") {
            return Err(malformed("Has prohibited field Resource"));
        }
        if statement.principals.is_empty() {
            return Err(malformed("Missing required field Principal"));
        }
        if statement.actions.iter().any(|action| !action.starts_with("sts:")) {
            return Err(malformed("AssumeRole policy may only specify STS AssumeRole actions."));
        }
        principals(world, statement)?;
    }
    Ok(())
}

/// Services have the form of a host; users and roles of this account must be there.
fn principals(world: &World, statement: &Statement) -> Result<(), Fault> {
    let invalid = |kind: &str, who: &str| {
        Err(malformed(format!("Invalid principal in policy: \"{}\":\"{who}\"", kind.to_uppercase())))
    };
    for (kind, all) in &statement.principals {
        for who in all {
            let fits = match kind.as_str() {
                "Service" => who.contains(".amazonaws.com") && !who.contains([':', '/', '*']),
                "AWS" => who == "*" || is_account(who) || is_principal(world, who),
                "Federated" => !who.is_empty(),
                "*" => true,
                _ => false,
            };
            if !fits {
                return invalid(kind, who);
            }
        }
    }
    Ok(())
}

fn is_account(who: &str) -> bool {
    who.len() == 12 && who.chars().all(|c| c.is_ascii_digit())
}

fn is_principal(world: &World, who: &str) -> bool {
    let Some((_, resource)) = parts(who) else {
        return who.starts_with("arn:") && who.contains(":sts:");
    };
    // What other accounts hold can't be seen from here.
    if resource == "root" || !who.contains(&format!(":iam::{}:", world.account)) {
        return true;
    }
    match resource.strip_prefix("role").and_then(named) {
        Some((_, name)) => {
            world.identity.role(name).is_ok_and(|role| role.arn == who && role.trust_seen(world.now).is_some())
        }
        None => resource.starts_with("user/"),
    }
}

/// Judges what says what a role may do.
pub(super) fn permissions(text: &str) -> Result<(), Fault> {
    for statement in read(text)?.statements() {
        if !statement.principals.is_empty() || statement.other.contains_key("NotPrincipal") {
            return Err(malformed("Policy document should not specify a principal."));
        }
        if statement.resources.is_empty() && !statement.other.contains_key("NotResource") {
            return Err(malformed("Policy statement must contain resources."));
        }
        let odd = statement.resources.iter().find(|resource| *resource != "*" && !resource.starts_with("arn:"));
        if let Some(resource) = odd {
            return Err(malformed(format!("Resource {resource} must be in ARN format or \"*\".")));
        }
    }
    Ok(())
}
