//! JSON Schemas of the documents, from the types that write them. Must never be written by hand.

use crate::{
    apply::Event,
    report::document::{PlanDocument, ReceiptDocument},
};
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

pub fn plan() -> Value {
    of::<PlanDocument>("infer-stack plan")
}

pub fn receipt() -> Value {
    of::<ReceiptDocument>("infer-stack receipt")
}

/// One line of the stream. Unknown types must be ignorable.
pub fn events() -> Value {
    of::<Event>("infer-stack event")
}

/// As the documents are written: what is left out or null there may be so here.
fn of<T: JsonSchema>(title: &str) -> Value {
    let mut schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    schema.insert("title".to_owned(), title.into());
    schema.into()
}
