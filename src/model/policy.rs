//! An IAM policy as a set of statements, in one spelling. Must never lose a word of a live policy: what it does not know it
//! keeps, so that it shows as drift.

use crate::model::Doc;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};

/// Operator, then key, then values: `StringEquals: {aws:ResourceTag/x: [y]}`.
pub type Conditions = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

/// Statements in one order. IAM takes, and gives back, one policy in many spellings: one text or a list of one, lists in any
/// order, truth values as text or not.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Policy(BTreeSet<Statement>);

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Effect {
    #[default]
    Allow,
    Deny,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Statement {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub sid: String,
    pub effect: Effect,
    /// `Service`, `AWS`, `Federated` or `*`, with who of it; empty in a policy of a role.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub principals: BTreeMap<String, BTreeSet<String>>,
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub actions: BTreeSet<String>,
    /// Empty in a trust policy.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub resources: BTreeSet<String>,
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions,
    /// What a live statement says beyond this (`NotAction`, …), as JSON text by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub other: BTreeMap<String, String>,
}

impl Statement {
    pub fn allow(sid: &str) -> Self {
        Self { sid: sid.to_owned(), ..Self::default() }
    }
    pub fn deny(sid: &str) -> Self {
        Self { effect: Effect::Deny, ..Self::allow(sid) }
    }
    pub fn actions(mut self, actions: &[&str]) -> Self {
        self.actions.extend(actions.iter().map(|&action| action.to_owned()));
        self
    }
    pub fn on<T: Into<String>>(mut self, resources: impl IntoIterator<Item = T>) -> Self {
        self.resources.extend(resources.into_iter().map(Into::into));
        self
    }
    pub fn service(self, service: &str) -> Self {
        self.principal("Service", service)
    }
    pub fn principal(mut self, kind: &str, who: &str) -> Self {
        self.principals.entry(kind.to_owned()).or_default().insert(who.to_owned());
        self
    }
    pub fn when<T: Into<String>>(mut self, operator: &str, key: &str, values: impl IntoIterator<Item = T>) -> Self {
        let keys = self.conditions.entry(operator.to_owned()).or_default();
        keys.entry(key.to_owned()).or_default().extend(values.into_iter().map(Into::into));
        self
    }

    fn document(&self) -> Doc {
        let mut map = serde_json::Map::new();
        if !self.sid.is_empty() {
            map.insert("Sid".into(), json!(self.sid));
        }
        map.insert("Effect".into(), json!(self.effect));
        if self.principals.get("*").is_some_and(|who| who.contains("*")) {
            map.insert("Principal".into(), json!("*"));
        } else if !self.principals.is_empty() {
            map.insert("Principal".into(), json!(self.principals));
        }
        if !self.actions.is_empty() {
            map.insert("Action".into(), json!(self.actions));
        }
        if !self.resources.is_empty() {
            map.insert("Resource".into(), json!(self.resources));
        }
        if !self.conditions.is_empty() {
            map.insert("Condition".into(), json!(self.conditions));
        }
        for (key, text) in &self.other {
            map.insert(key.clone(), serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
        }
        Doc::Object(map)
    }

    fn parse(document: &Doc) -> Self {
        let mut statement = Self::default();
        let Some(map) = document.as_object() else {
            statement.other.insert("Statement".into(), document.to_string());
            return statement;
        };
        for (key, value) in map {
            let known = match key.as_str() {
                "Sid" => value.as_str().map(|sid| statement.sid = sid.to_owned()),
                "Effect" => Effect::deserialize(value).ok().map(|effect| statement.effect = effect),
                "Principal" => principals(value).map(|principals| statement.principals = principals),
                "Action" => texts(value).map(|actions| statement.actions = actions),
                "Resource" => texts(value).map(|resources| statement.resources = resources),
                "Condition" => conditions(value).map(|conditions| statement.conditions = conditions),
                _ => None,
            };
            if known.is_none() {
                statement.other.insert(key.clone(), value.to_string());
            }
        }
        statement
    }
}

impl Policy {
    pub fn of(statements: impl IntoIterator<Item = Statement>) -> Self {
        Self(statements.into_iter().collect())
    }

    pub fn statements(&self) -> impl Iterator<Item = &Statement> {
        self.0.iter()
    }

    /// As AWS takes it.
    pub fn document(&self) -> Doc {
        json!({
            "Version": "2012-10-17",
            "Statement": self.0.iter().map(Statement::document).collect::<Vec<_>>(),
        })
    }

    /// As AWS gives it, in any of its spellings. Total: what is not understood is kept.
    pub fn parse(document: &Doc) -> Self {
        match document.get("Statement") {
            Some(Doc::Array(statements)) => Self::of(statements.iter().map(Statement::parse)),
            Some(statement) => Self::of([Statement::parse(statement)]),
            None => Self::of([Statement::parse(document)]),
        }
    }

    /// Characters that count against IAM's limits, which leave out white space.
    pub fn size(&self) -> usize {
        self.document().to_string().chars().filter(|c| !c.is_whitespace()).count()
    }
}

/// One text or a list of texts; numbers and truth values as IAM stores them, as text.
fn texts(value: &Doc) -> Option<BTreeSet<String>> {
    let text = |value: &Doc| match value {
        Doc::String(text) => Some(text.clone()),
        Doc::Bool(_) | Doc::Number(_) => Some(value.to_string()),
        _ => None,
    };
    match value {
        Doc::Array(values) => values.iter().map(text).collect(),
        _ => text(value).map(|text| BTreeSet::from([text])),
    }
}

fn principals(value: &Doc) -> Option<BTreeMap<String, BTreeSet<String>>> {
    match value {
        Doc::String(all) if all == "*" => Some(BTreeMap::from([("*".to_owned(), BTreeSet::from(["*".to_owned()]))])),
        Doc::Object(map) => map.iter().map(|(kind, who)| Some((kind.clone(), texts(who)?))).collect(),
        _ => None,
    }
}

fn conditions(value: &Doc) -> Option<Conditions> {
    let keys = |value: &Doc| -> Option<BTreeMap<String, BTreeSet<String>>> {
        value.as_object()?.iter().map(|(key, values)| Some((key.clone(), texts(values)?))).collect()
    };
    value.as_object()?.iter().map(|(operator, value)| Some((operator.clone(), keys(value)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_policy_in_two_spellings_is_one_policy() {
        let short = json!({"Version": "2012-10-17", "Statement": {
            "Effect": "Allow", "Principal": {"Service": "ec2.amazonaws.com"}, "Action": "sts:AssumeRole",
            "Condition": {"Bool": {"aws:SecureTransport": true}}}});
        let long = json!({"Version": "2012-10-17", "Statement": [{
            "Action": ["sts:AssumeRole"], "Effect": "Allow", "Principal": {"Service": ["ec2.amazonaws.com"]},
            "Condition": {"Bool": {"aws:SecureTransport": ["true"]}}}]});
        assert_eq!(Policy::parse(&short), Policy::parse(&long));
    }

    #[test]
    fn a_policy_survives_the_way_to_aws_and_back() {
        let policy = Policy::of([
            Statement::allow("Everyone").principal("*", "*").actions(&["s3:GetObject"]).on(["arn:aws:s3:::b/*"]),
            Statement::deny("").principal("AWS", "*").actions(&["s3:*"]).when("Bool", "aws:SecureTransport", ["false"]),
        ]);
        assert_eq!(Policy::parse(&policy.document()), policy);
    }

    #[test]
    fn what_is_not_understood_shows_as_a_difference() {
        let live = json!({"Statement": [{"Effect": "Allow", "NotAction": "iam:*", "Resource": "*"}]});
        let policy = Policy::parse(&live);
        assert_ne!(policy, Policy::of([Statement::allow("").on(["*"])]));
        assert_eq!(policy.document()["Statement"][0]["NotAction"], "iam:*");
        assert_ne!(Policy::parse(&json!("nonsense")), Policy::default());
    }
}
