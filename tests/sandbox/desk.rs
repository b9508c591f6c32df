//! A simulated account and its clock, for tests that ask one operation after the other.

use bytes::Bytes;
use http::HeaderMap;
use infer_stack::{
    cloud::memory::Scenario,
    sandbox::{
        wire::{Fault, Model, Shape, answer, models},
        world::{Context, Moment, World},
    },
};
use serde_json::Value;

pub const REGION: &str = "us-west-2";

pub struct Desk {
    pub world: World,
    now: Moment,
}

impl Desk {
    pub fn new() -> Self {
        Self::of(Scenario::ready())
    }

    pub fn of(scenario: Scenario) -> Self {
        let now = 1_796_000_000_000;
        Self { world: World::new("123456789012", scenario, now), now }
    }

    pub fn wait(&mut self, seconds: i64) {
        self.now += seconds * 1000;
    }

    /// One call. Members that AWS's model does not know fail the test, whoever wrote them.
    pub fn call(&mut self, name: &str, input: Value) -> Result<Value, Fault> {
        let (service, operation) = name.split_once(':').unwrap();
        let model = &models().services[service];
        let shapes = &model.operations[operation];
        known(model, shapes.input.as_deref(), &input, name);
        let context = Context {
            service,
            operation,
            region: REGION,
            request_id: "request",
            access_key: None,
            input: &input,
            body: &Bytes::new(),
            headers: &HeaderMap::new(),
        };
        let output = self.world.answer(self.now, &context)?.value;
        known(model, shapes.output.as_deref(), &output, name);
        assert_eq!(answer(model, operation, &output, Bytes::new(), "request").status(), 200);
        Ok(output)
    }

    /// A call that must succeed.
    pub fn ok(&mut self, name: &str, input: Value) -> Value {
        self.call(name, input).unwrap_or_else(|fault| panic!("{name}: {fault}"))
    }

    /// A text of the output of a call that must succeed, by a JSON pointer.
    pub fn id(&mut self, name: &str, input: Value, at: &str) -> String {
        let output = self.ok(name, input);
        output.pointer(at).and_then(Value::as_str).unwrap_or_else(|| panic!("{name}: no {at} in {output}")).to_owned()
    }

    /// The code and message of a call that must be refused.
    pub fn refused(&mut self, name: &str, input: Value) -> (String, String) {
        match self.call(name, input) {
            Ok(output) => panic!("{name} was not refused: {output}"),
            Err(fault) => (fault.code, fault.message),
        }
    }

    pub fn code(&mut self, name: &str, input: Value) -> String {
        self.refused(name, input).0
    }
}

fn known(model: &Model, shape: Option<&str>, value: &Value, at: &str) {
    match (shape, value) {
        (_, Value::Null) => {}
        (Some(name), value) => walk(model, model.shape(name), value, at),
        (None, value) => panic!("{at}: the operation has no such document: {value}"),
    }
}

fn walk(model: &Model, shape: &Shape, value: &Value, at: &str) {
    match value {
        Value::Object(fields) if !shape.members.is_empty() => {
            for (name, value) in fields.iter().filter(|(_, value)| !value.is_null()) {
                // Describe calls say tags for all shapes alike; one shape calls them otherwise and shows both.
                if name == "Tags" && shape.members.contains_key("TagSet") {
                    continue;
                }
                let member = shape.members.get(name).unwrap_or_else(|| panic!("{at}: {name} is no member"));
                walk(model, model.shape(&member.shape), value, &format!("{at}.{name}"));
            }
        }
        Value::Array(items) => {
            let item = shape.member.as_ref().unwrap_or_else(|| panic!("{at} is no list"));
            items.iter().for_each(|value| walk(model, model.shape(&item.shape), value, at));
        }
        _ => {}
    }
}
