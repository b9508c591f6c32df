//! The SDK's configuration: AWS's standard chain for the real cloud, by hand for the sandbox. Must never hold a secret that
//! is one.

use super::{connector::Meter, wire::WireClient};
use crate::clock::Clock;
use aws_config::{
    AppName, BehaviorVersion, Region, SdkConfig, retry::RetryConfig,
    stalled_stream_protection::StalledStreamProtectionConfig, timeout::TimeoutConfig,
};
use aws_credential_types::{Credentials, provider::SharedCredentialsProvider};
use aws_smithy_async::{
    rt::sleep::{SharedAsyncSleep, TokioSleep},
    time::TimeSource,
};
use aws_smithy_http_client::{
    Builder, ConnectorBuilder,
    proxy::ProxyConfig,
    tls::{Provider, rustls_provider::CryptoMode},
};
use aws_smithy_runtime_api::client::http::SharedHttpClient;
use std::time::{Duration, SystemTime};

/// In the user agent of every request, so that CloudTrail tells our calls from others.
const APP_NAME: &str = concat!("infer-stack-", env!("CARGO_PKG_VERSION"));

/// Tries of one call, the first included. The SDK's three are few where a plan's many lists meet in EC2's buckets: a look
/// never tries again by itself. Standard mode backs off with jitter and stops when its partition's quota is used up;
/// adaptive mode would only pace once more what the connector paces.
const TRIES: u32 = 6;
/// The SDK's default.
const TRIES_UNLESS_SET: u32 = 3;

/// Seconds to open a connection.
const CONNECT: u64 = 5;
/// Seconds to the head of an answer; the AWS CLI's own. The slowest calls (Cost Explorer, RunInstances) take half of it.
const READ: u64 = 60;

/// What a person may say beside the environment and the profiles.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Of the stack file: it wins over environment and profile.
    pub region: Option<String>,
    pub profile: Option<String>,
}

/// As every AWS tool has it: environment, profiles, SSO, web identity, containers, the instance's role, and processes for
/// credentials; region, endpoints (`AWS_ENDPOINT_URL`, `AWS_ENDPOINT_URL_<SERVICE>`), FIPS, dual stack and proxies too.
///
/// Timeouts are those of connections: one of a whole try would count the wait for the action's pace.
pub async fn real(options: &Options, meter: &Meter) -> SdkConfig {
    let mut loader = aws_config::defaults(BehaviorVersion::latest())
        .app_name(app_name())
        .http_client(meter.over(https()))
        .timeout_config(timeouts())
        .stalled_stream_protection(stalls());
    if let Some(region) = &options.region {
        loader = loader.region(Region::new(region.clone()));
    }
    if let Some(profile) = &options.profile {
        loader = loader.profile_name(profile);
    }
    let config = loader.load().await;
    let tries = match config.retry_config().map_or(TRIES_UNLESS_SET, RetryConfig::max_attempts) {
        TRIES_UNLESS_SET => TRIES,
        set => set,
    };
    config.into_builder().retry_config(RetryConfig::standard().with_max_attempts(tries)).build()
}

/// For the sandbox: nothing of this machine's environment or files is read. Time is the runtime's, as the account's is.
pub fn sandboxed(client: &WireClient, region: &str, clock: Clock, meter: &Meter) -> SdkConfig {
    let credentials = Credentials::new("AKIASANDBOXEXAMPLE", "not-a-secret", None, None, "sandbox");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .app_name(app_name())
        .region(Region::new(region.to_owned()))
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .http_client(meter.over(client.clone()))
        .sleep_impl(SharedAsyncSleep::new(TokioSleep::new()))
        .time_source(Time(clock))
        .timeout_config(timeouts())
        .stalled_stream_protection(stalls())
        .retry_config(RetryConfig::standard().with_max_attempts(TRIES))
        .build()
}

fn app_name() -> AppName {
    AppName::new(APP_NAME).expect("a package's name and version are what an app name may hold")
}

fn timeouts() -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(Duration::from_secs(CONNECT))
        .read_timeout(Duration::from_secs(READ))
        .build()
}

/// Downloads only: a request that waits for its action's pace stands still, with its body unread.
fn stalls() -> StalledStreamProtectionConfig {
    StalledStreamProtectionConfig::enabled().upload_enabled(false).build()
}

/// What the SDK uses unless told otherwise: one pool of connections, TLS by rustls, the machine's roots and proxies. Built
/// here because the meter needs it in its hand.
fn https() -> SharedHttpClient {
    Builder::new().build_with_connector_fn(|settings, components| {
        let mut builder = ConnectorBuilder::default().tls_provider(Provider::Rustls(CryptoMode::AwsLc));
        builder.set_connector_settings(settings.cloned());
        if let Some(components) = components {
            builder.set_sleep_impl(components.sleep_impl());
        }
        builder.set_proxy_config(Some(ProxyConfig::from_env()));
        builder.build()
    })
}

/// The account's clock, for signatures and retries.
#[derive(Clone, Copy, Debug)]
struct Time(Clock);

impl TimeSource for Time {
    fn now(&self) -> SystemTime {
        SystemTime::from(self.0.now())
    }
}
