//! The adapter: AWS through its SDK, over the network or over the sandbox's wire. Everything AWS-specific that is not one
//! resource kind's own is here. Must never decide what happens to a resource.
//!
//! A request passes, from the outside in: `cloud` (what it is for) · a live half or `facts` (which calls) · `clients` (one a
//! service) · `label` (what the request is) · the SDK (signing, retries) · `connector` (counts, pace) · HTTPS or `wire`.

pub mod answers;
mod clients;
mod cloud;
pub mod codes;
mod config;
mod connector;
pub mod ec2;
pub mod elbv2;
mod facts;
pub mod iam;
mod label;
mod pace;
mod purpose;
mod store;
mod wire;

pub use clients::Clients;
pub use codes::failed;
pub use config::Options;
pub use connector::{IN_FLIGHT, Meter};
pub use purpose::Purpose;

pub use wire::WireClient;

use crate::{
    clock::Clock,
    contract::{Class, CloudError},
};
use aws_credential_types::provider::ProvideCredentials;
use jiff::Timestamp;
use tokio::sync::OnceCell;

/// What live halves work with: one account and region.
#[derive(Debug)]
pub struct Aws {
    clients: Clients,
    meter: Meter,
    pub account: String,
    pub region: String,
    /// Set once the operations bucket is known to be there and as it should be.
    operations: OnceCell<()>,
}

impl std::ops::Deref for Aws {
    type Target = Clients;
    fn deref(&self) -> &Clients {
        &self.clients
    }
}

/// The jitter of retries comes from one generator a thread: seeded, the same run takes the same time twice.
const SEED: u64 = 20_261_201;

impl Aws {
    /// The account that this machine's credentials belong to. Fails with class `Expired` where there are none that AWS
    /// takes, and with `Invalid` where nothing says a region.
    pub async fn connect(options: &Options, in_flight: usize) -> Result<Self, CloudError> {
        let meter = Meter::new(Clock::system(), in_flight);
        let config = config::real(options, &meter).await;
        let region = config.region().map(ToString::to_string).ok_or_else(|| {
            let message = "no region is set: neither the stack file nor AWS_REGION nor the profile names one";
            CloudError::new("connect", Class::Invalid, "NoRegion", message)
        })?;
        let clients = Clients::new(config);
        let call = "sts:GetCallerIdentity";
        let identity = Purpose::Facts.of(clients.sts().get_caller_identity().send()).await.map_err(failed(call))?;
        let account = answers::field(call, "Account", identity.account)?;
        Ok(Self { clients, meter, account, region, operations: OnceCell::new() })
    }

    /// A simulated account. Nothing of this machine's AWS settings is read; the thread that makes it must be the one that
    /// uses it, or the same run may take another time.
    pub fn sandbox(client: &WireClient, clock: Clock, account: &str, region: &str) -> Self {
        fastrand::seed(SEED);
        let meter = Meter::new(clock, IN_FLIGHT);
        let clients = Clients::of_sandbox(config::sandboxed(client, region, clock, &meter));
        Self { clients, meter, account: account.to_owned(), region: region.to_owned(), operations: OnceCell::new() }
    }

    /// When the credentials end; `None`: they do not, or do not say. Long runs ask before they start.
    pub async fn credentials_expire(&self) -> Result<Option<Timestamp>, CloudError> {
        let lacking = |message: String| CloudError::new("credentials", Class::Expired, "NoCredentials", message);
        let provider = self.clients.config().credentials_provider();
        let provider = provider.ok_or_else(|| lacking("no source of credentials is set".to_owned()))?;
        let credentials = provider.provide_credentials().await.map_err(|error| lacking(codes::chain(&error)))?;
        Ok(credentials.expiry().and_then(|at| Timestamp::try_from(at).ok()))
    }
}
