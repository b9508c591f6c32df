//! What people and programs read: documents, and their human, markdown and event forms. The only room that writes to the
//! terminal. Must never decide.

mod document;
pub mod events;
pub mod human;
pub mod markdown;
mod progress;
pub mod schema;
mod style;
mod terminal;

pub use document::{
    ApiCalls, ChoiceLine, Estimate, Header, PlanDocument, PreflightDocument, ReceiptDocument, RunCalls, SCHEMA_VERSION,
    SeedColumn, SizeDocument, StatusDocument, StatusResource, UpDocument,
};
pub use progress::{Course, Progress};
pub use style::Style;
pub use terminal::{Surroundings, Terminal};
