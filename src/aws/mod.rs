//! The adapter: AWS through its SDK. Everything AWS-specific that is not one resource kind's own is here. Must never decide
//! what happens to a resource.

mod clients;
pub mod codes;

pub use clients::Clients;
pub use codes::failed;

/// What live halves work with.
pub struct Aws {
    pub clients: Clients,
    pub account: String,
    pub region: String,
}

impl std::ops::Deref for Aws {
    type Target = Clients;
    fn deref(&self) -> &Clients {
        &self.clients
    }
}
