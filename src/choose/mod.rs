//! From a Spec, a Snapshot and the Catalog to [`Choices`], each with its reason. A default is read from what lives first,
//! so that it never moves by itself; what is newer becomes an offer. Must never change a value that the file states.

mod addons;
mod choices;
mod decide;
mod error;
mod facts;
mod live;
mod versions;
mod zones;

pub use addons::{is_accelerated, needed_addons};
pub use choices::{BroughtSubnets, Choice, Choices, Circumstances, ClassChoice, GroupChoice, Offer};
pub use decide::choose;
pub use error::ChooseError;
pub use facts::{facts_needed, purchase};
