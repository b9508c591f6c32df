//! Who asks, and sessions of roles. Must never give a session of a role that does not trust whoever asks for it.

use super::{
    evaluate::{self, Keys, Request},
    no_entity,
    provider::Provider,
    role::{Role, named, parts},
    validation,
};
use crate::{
    model::{Effect, Policy, Statement},
    sandbox::{
        wire::Fault,
        world::{Context, Moment, Output, World},
    },
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Seconds that a session may last whose asker is a session itself (IAM user guide, role chaining).
const CHAINED: i64 = 3_600;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Session {
    /// `arn:aws:sts::123456789012:assumed-role/NAME/SESSION`
    arn: String,
    /// `AROA…:SESSION`
    id: String,
    ends: Moment,
}

impl World {
    /// ARN of the account's caller: a user or a role.
    pub(super) fn principal(&self) -> String {
        self.scenario.principal.replace("ACCOUNT", &self.account)
    }

    /// ARN and id of whoever signed a call.
    fn signer(&self, context: &Context) -> Result<(String, String), Fault> {
        if let Some(session) = context.access_key.and_then(|key| self.identity.sessions.get(key)) {
            return match session.ends > self.now {
                true => Ok((session.arn.clone(), session.id.clone())),
                false => {
                    let message = "The security token included in the request is expired";
                    Err(Fault::new("ExpiredToken", message).status(403))
                }
            };
        }
        let principal = self.principal();
        let (_, name) = principal.rsplit_once('/').unwrap_or(("", &principal));
        match self.identity.role(name).ok().filter(|role| role.arn == principal) {
            Some(role) => Ok((session_arn(role, "sandbox"), format!("{}:sandbox", role.id))),
            None => {
                let id = format!("AIDA{}", crate::model::hash(&principal, 17).to_ascii_uppercase());
                Ok((principal, id))
            }
        }
    }
}

/// STS leaves the role's path out.
fn session_arn(role: &Role, session: &str) -> String {
    let (partition, account) = (role.arn.split(':').nth(1), role.arn.split(':').nth(4));
    let (partition, account) = (partition.unwrap_or("aws"), account.unwrap_or_default());
    format!("arn:{partition}:sts::{account}:assumed-role/{}/{session}", role.name)
}

pub(super) fn caller(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (arn, id) = world.signer(context)?;
    Ok(json!({ "Account": world.account, "Arn": arn, "UserId": id }).into())
}

pub(super) fn user(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (arn, id) = world.signer(context)?;
    let own = parts(&arn).and_then(|(_, resource)| named(resource.strip_prefix("user")?));
    match (context.text("UserName"), own) {
        (wanted, Some((path, name))) if wanted.is_none_or(|wanted| wanted == name) => {
            Ok(json!({ "User": { "Path": path, "UserName": name, "UserId": id, "Arn": arn, "CreateDate": 0 } }).into())
        }
        (None, _) => Err(validation("Must specify userName when calling with non-User credentials")),
        (Some(name), _) => Err(no_entity(format!("The user with name {name} cannot be found."))),
    }
}

fn denied(message: String) -> Fault {
    Fault::new("AccessDenied", message).status(403)
}

/// Statements of a trust that are about an action, denials first.
fn about(trust: &Policy, action: &str) -> Vec<Statement> {
    let none = Keys::new();
    let request = Request { action, resource: "", keys: &none };
    let mut all: Vec<_> = trust.statements().filter(|one| evaluate::is_about(one, &request)).cloned().collect();
    all.sort_by_key(|statement| statement.effect == Effect::Allow);
    all
}

/// Whether a trust lets in whom `is` recognises, with the request's keys.
fn trusts(trust: &str, action: &str, keys: &Keys, is: impl Fn(&Statement) -> bool) -> bool {
    let Ok(document) = serde_json::from_str(trust) else { return false };
    let statements = about(&Policy::parse(&document), action);
    let mut fitting = statements.iter().filter(|one| is(one) && evaluate::is_met(one, keys, &mut BTreeSet::new()));
    fitting.next().is_some_and(|first| first.effect == Effect::Allow)
}

impl World {
    /// The role of an ARN, as STS sees it by now.
    fn role_to_assume(&self, arn: &str) -> Option<(&Role, &str)> {
        let (_, resource) = parts(arn)?;
        let (_, name) = named(resource.strip_prefix("role")?)?;
        let role = self.identity.role(name).ok().filter(|role| role.arn == arn)?;
        Some((role, role.trust_seen(self.now)?))
    }

    fn open(&mut self, role: &str, name: &str, seconds: i64) -> Result<Value, Fault> {
        let role = self.identity.role(role)?;
        if seconds > role.max_session {
            return Err(validation("The requested DurationSeconds exceeds the MaxSessionDuration set for this role."));
        }
        let (arn, id) = (session_arn(role, name), format!("{}:{name}", role.id));
        let ends = self.now.saturating_add(seconds.saturating_mul(1_000));
        let key = format!("ASIA{}", self.serial(16).to_ascii_uppercase());
        let credentials = json!({
            "AccessKeyId": key,
            "SecretAccessKey": self.serial(40),
            "SessionToken": self.serial(64),
            "Expiration": ends / 1000,
        });
        let user = json!({ "Arn": arn, "AssumedRoleId": id });
        self.identity.sessions.insert(key, Session { arn, id, ends });
        Ok(json!({ "Credentials": credentials, "AssumedRoleUser": user }))
    }
}

pub(super) fn assume(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (arn, session) = (context.required("RoleArn")?, context.required("RoleSessionName")?);
    let seconds = context.number("DurationSeconds").unwrap_or(CHAINED);
    let (caller, _) = world.signer(context)?;
    let refusal = || denied(format!("User: {caller} is not authorized to perform: sts:AssumeRole on resource: {arn}"));
    let (role, trust) = world.role_to_assume(arn).ok_or_else(refusal)?;
    let mut keys = Keys::from([("aws:principalaccount".to_owned(), vec![world.account.clone()])]);
    if let Some(id) = context.text("ExternalId") {
        keys.insert("sts:externalid".to_owned(), vec![id.to_owned()]);
    }
    let known = names_of(world, &caller);
    let is = |statement: &Statement| {
        let named = statement.principals.get("AWS").into_iter().chain(statement.principals.get("*")).flatten();
        named.into_iter().any(|who| who == "*" || known.contains(who))
    };
    if !trusts(trust, "sts:AssumeRole", &keys, is) {
        return Err(refusal());
    }
    if caller.contains(":assumed-role/") && seconds > CHAINED {
        return Err(validation(
            "The requested DurationSeconds exceeds the 1 hour session limit for roles assumed by role chaining",
        ));
    }
    let name = role.name.clone();
    Ok(world.open(&name, session, seconds)?.into())
}

/// What a trust may call a caller: itself, its role, and its account.
fn names_of(world: &World, caller: &str) -> BTreeSet<String> {
    let account = &world.account;
    let partition = caller.split(':').nth(1).unwrap_or("aws");
    let role = caller.split_once(":assumed-role/").and_then(|(_, rest)| rest.split('/').next());
    let role = role.and_then(|name| world.identity.role(name).ok()).map(|role| role.arn.clone());
    let mut names =
        BTreeSet::from([caller.to_owned(), account.clone(), format!("arn:{partition}:iam::{account}:root")]);
    names.extend(role);
    names
}

pub(super) fn assume_by_token(world: &mut World, context: &Context) -> Result<Output, Fault> {
    let (arn, session) = (context.required("RoleArn")?, context.required("RoleSessionName")?);
    let seconds = context.number("DurationSeconds").unwrap_or(CHAINED);
    let invalid = |message: String| Fault::new("InvalidIdentityToken", message);
    let claims = claims(context.required("WebIdentityToken")?).ok_or_else(|| {
        invalid(
            "The ID Token provided is not a valid JWT. (You may see this error if you sent an Access Token)".to_owned(),
        )
    })?;
    let claim = |name: &str| claims.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let host = claim("iss").trim_start_matches("https://").trim_end_matches('/').to_owned();
    let found = world.identity.providers.iter().find(|(_, provider)| provider.host == host);
    let (provider_arn, provider) =
        found.ok_or_else(|| invalid(format!("No OpenIDConnect provider found in your account for https://{host}")))?;
    let audience = audience(&claims, provider).ok_or_else(|| invalid("Incorrect token audience".to_owned()))?;
    if claims.get("exp").and_then(Value::as_i64).is_some_and(|ends| ends.saturating_mul(1_000) <= world.now) {
        let message = format!("Token expired: current date/time {} must be before the expiration date/time", world.now);
        return Err(Fault::new("ExpiredTokenException", message));
    }
    let refusal = || denied("Not authorized to perform sts:AssumeRoleWithWebIdentity".to_owned());
    let (role, trust) = world.role_to_assume(arn).ok_or_else(refusal)?;
    let keys = Keys::from([
        (format!("{host}:sub").to_lowercase(), vec![claim("sub")]),
        (format!("{host}:aud").to_lowercase(), vec![audience.clone()]),
    ]);
    let is =
        |statement: &Statement| statement.principals.get("Federated").is_some_and(|all| all.contains(provider_arn));
    if !trusts(trust, "sts:AssumeRoleWithWebIdentity", &keys, is) {
        return Err(refusal());
    }
    let (name, provider) = (role.name.clone(), provider_arn.clone());
    let mut view = world.open(&name, session, seconds)?;
    view["SubjectFromWebIdentityToken"] = json!(claim("sub"));
    (view["Audience"], view["Provider"]) = (json!(audience), json!(provider));
    Ok(view.into())
}

/// The middle part of a token. Its signature is not looked at: nobody but the sandbox signs any.
fn claims(token: &str) -> Option<Value> {
    let mut parts = token.split('.');
    let (_, middle, _) = (parts.next()?, parts.next()?, parts.next()?);
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(middle.trim_end_matches('=')).ok()?).ok()
}

/// The audience of a token that its provider takes.
fn audience(claims: &Value, provider: &Provider) -> Option<String> {
    let named = match claims.get("aud")? {
        Value::String(one) => vec![one.clone()],
        many => crate::sandbox::world::texts(Some(many)),
    };
    named.into_iter().find(|audience| provider.clients.contains(audience))
}
