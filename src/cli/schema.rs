//! `schema`: JSON Schema of the stack file and of the documents. Must never describe what is not written or read.

use crate::{
    cli::{Exit, Failure, app::App, args::SchemaDocument},
    report, stack,
};

pub fn run(app: &App, document: SchemaDocument) -> Result<Exit, Failure> {
    let schema = match document {
        SchemaDocument::Stack => stack::schema(),
        SchemaDocument::Plan => report::schema::plan(),
        SchemaDocument::Events => report::schema::events(),
        SchemaDocument::Receipt => report::schema::receipt(),
    };
    app.raw(&format!("{schema:#}"))?;
    Ok(Exit::Done)
}
