//! What every request passes on its way to AWS or to the sandbox: it is counted, held to its action's pace, and kept from
//! being one of too many. Must never retry or change a request.

use super::{codes, label::Label, pace::Pace, purpose::Purpose};
use crate::{
    clock::{Clock, pause},
    cloud::Calls,
};
use aws_smithy_runtime_api::{
    box_error::BoxError,
    client::{
        http::{
            HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpClient,
            SharedHttpConnector,
        },
        orchestrator::{HttpRequest, HttpResponse},
        result::ConnectorError,
        runtime_components::{RuntimeComponents, RuntimeComponentsBuilder},
    },
};
use aws_smithy_types::{body::SdkBody, byte_stream::ByteStream, config_bag::ConfigBag};
use futures::future::{Either, select};
use std::{
    future::Future,
    pin::pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};
use tokio::sync::Semaphore;

/// Requests on their way at once, unless told otherwise.
pub const IN_FLIGHT: usize = 16;

/// Counts and paces the requests of one account and region. Copies share one count.
#[derive(Clone, Debug)]
pub struct Meter(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    clock: Clock,
    pace: Pace,
    in_flight: Semaphore,
    calls: Mutex<Calls>,
}

impl Meter {
    pub fn new(clock: Clock, in_flight: usize) -> Self {
        let in_flight = Semaphore::new(in_flight.max(1));
        Self(Arc::new(Inner { clock, pace: Pace::default(), in_flight, calls: Mutex::default() }))
    }

    pub fn calls(&self) -> Calls {
        *self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// `client` with this meter in front of it.
    pub fn over(&self, client: impl HttpClient + 'static) -> SharedHttpClient {
        SharedHttpClient::new(Metered { meter: self.clone(), client: SharedHttpClient::new(client) })
    }

    fn count(&self, act: impl FnOnce(&mut Calls)) {
        act(&mut self.0.calls.lock().unwrap_or_else(PoisonError::into_inner));
    }

    async fn carry(
        &self,
        label: &Label,
        request: HttpRequest,
        connector: &SharedHttpConnector,
        patience: Option<Duration>,
    ) -> Result<HttpResponse, ConnectorError> {
        let Inner { clock, pace, in_flight, .. } = &*self.0;
        // First the pace, then the place: whoever waits for a slow action must not keep others out.
        let wait = pace.take(label.service, &label.operation, clock.elapsed());
        if !wait.is_zero() {
            tracing::debug!(service = label.service, operation = label.operation, ?wait, "held to the action's pace");
            pause(wait).await;
        }
        let place = in_flight.acquire().await.map_err(|e| ConnectorError::other(e.into(), None))?;
        self.count(|calls| {
            match label.purpose {
                Purpose::State => calls.state += 1,
                Purpose::Facts => calls.facts += 1,
                Purpose::Change => calls.changes += 1,
            }
            calls.retries += u64::from(label.attempt > 1);
        });
        let endpoint = Endpoint::of(request.uri());
        let response = connector.call(request).await;
        let mut response = whole_if_refused(response?, patience).await?;
        drop(place);
        response.add_extension(endpoint);
        let throttled = codes::is_throttled(&response);
        self.count(|calls| calls.throttles += u64::from(throttled));
        pace.learn(label.service, &label.operation, throttled, clock.elapsed());
        Ok(response)
    }
}

/// Where an answer came from: scheme, host and port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Endpoint(pub String);

impl Endpoint {
    fn of(uri: &str) -> Self {
        let end = uri.find("://").map_or(0, |at| at + 3);
        let rest = uri.get(end..).and_then(|rest| rest.find(['/', '?'])).map_or(uri.len(), |at| end + at);
        Self(uri.get(..rest).unwrap_or(uri).to_owned())
    }
}

/// A refusal's body is read here, to learn its code; AWS's refusals are short.
async fn whole_if_refused(
    mut response: HttpResponse,
    patience: Option<Duration>,
) -> Result<HttpResponse, ConnectorError> {
    if response.status().is_success() || response.body().bytes().is_some() {
        return Ok(response);
    }
    let body = ByteStream::new(response.take_body()).collect();
    let body = within(patience, body).await?.map_err(|e| ConnectorError::io(e.into()))?;
    *response.body_mut() = SdkBody::from(body.into_bytes());
    Ok(response)
}

/// `work`, or a timeout.
pub(super) async fn within<T>(patience: Option<Duration>, work: impl Future<Output = T>) -> Result<T, ConnectorError> {
    let Some(patience) = patience else { return Ok(work.await) };
    match select(pin!(work), pin!(pause(patience))).await {
        Either::Left((done, _)) => Ok(done),
        Either::Right(_) => Err(ConnectorError::timeout(format!("no answer within {patience:?}").into())),
    }
}

#[derive(Debug)]
struct Metered {
    meter: Meter,
    client: SharedHttpClient,
}

impl HttpClient for Metered {
    fn http_connector(&self, settings: &HttpConnectorSettings, components: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(MeteredConnector {
            meter: self.meter.clone(),
            connector: self.client.http_connector(settings, components),
            patience: settings.read_timeout(),
        })
    }

    fn validate_base_client_config(
        &self,
        components: &RuntimeComponentsBuilder,
        cfg: &ConfigBag,
    ) -> Result<(), BoxError> {
        self.client.validate_base_client_config(components, cfg)
    }

    fn validate_final_config(&self, components: &RuntimeComponents, cfg: &ConfigBag) -> Result<(), BoxError> {
        self.client.validate_final_config(components, cfg)
    }
}

#[derive(Debug)]
struct MeteredConnector {
    meter: Meter,
    connector: SharedHttpConnector,
    patience: Option<Duration>,
}

impl HttpConnector for MeteredConnector {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        // Without a label it is the SDK's own business (credentials), which no call of ours may be made to wait for.
        let Some(label) = request.extension::<Label>().cloned() else { return self.connector.call(request) };
        let (meter, connector, patience) = (self.meter.clone(), self.connector.clone(), self.patience);
        HttpConnectorFuture::new(async move { meter.carry(&label, request, &connector, patience).await })
    }
}
