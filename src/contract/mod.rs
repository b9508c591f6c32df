//! What a resource kind must say of itself, and what every call to a cloud answers. Must never name a concrete kind.
//!
//! Authors implement [`Kind`] with their own types; everything else of the program sees [`AnyKind`], over documents.

mod demand;
mod error;
mod field;
mod kind;
mod live;

pub use demand::{Demand, Purchase};
pub use error::{Class, CloudError, Residue};
pub use field::{Change, Field, TAGS, leaves};
pub use kind::{AnyKind, FieldsOf, Kind, Layer, Look, Ownership, Patience, Phase, Readiness, ShapeError, Words};
pub use live::{AnyLive, Live};
