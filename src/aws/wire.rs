//! The sandbox as the SDK's HTTP client: in process, no sockets, in the runtime's own time. Must never answer by itself.

use super::connector::within;
use crate::{
    clock::{Clock, pause},
    sandbox::{Arrival, Wire},
};
use aws_smithy_runtime_api::client::{
    http::{HttpClient, HttpConnector, HttpConnectorFuture, HttpConnectorSettings, SharedHttpConnector},
    orchestrator::{HttpRequest, HttpResponse},
    result::ConnectorError,
    runtime_components::RuntimeComponents,
};
use aws_smithy_types::{body::SdkBody, byte_stream::ByteStream};
use bytes::Bytes;
use http::{Request, Response};
use std::{fmt, future::pending, io, sync::Arc, time::Duration};
use tokio::sync::Notify;

/// Carries requests to a [`Wire`]. Copies share one line.
#[derive(Clone)]
pub struct WireClient {
    wire: Arc<dyn Wire>,
    clock: Clock,
    silent: Arc<Notify>,
}

impl WireClient {
    /// `clock` tells the simulated account's time: the SDK's time source must be a copy of it.
    pub fn new(wire: Arc<dyn Wire>, clock: Clock) -> Self {
        Self { wire, clock, silent: Arc::default() }
    }

    /// Returns when a request is met with silence. Whoever plays a process that dies drops it then.
    pub async fn silence(&self) {
        self.silent.notified().await;
    }

    async fn carry(&self, mut request: HttpRequest) -> Result<HttpResponse, ConnectorError> {
        // Taken whole before time passes: a stream that stands still meanwhile looks stalled to the SDK.
        let body = ByteStream::new(request.take_body()).collect().await.map_err(|e| ConnectorError::user(e.into()))?;
        let request = request.try_into_http1x().map_err(|e| ConnectorError::user(e.into()))?;
        let request = Request::from_parts(request.into_parts().0, body.into_bytes());
        let reply = self.wire.answer(&request, self.clock.now().as_millisecond());
        pause(Duration::from_millis(reply.delay)).await;
        match reply.arrival {
            Arrival::Whole => sdk_response(reply.dated(self.clock.now()).response),
            Arrival::Lost => {
                let lost =
                    io::Error::new(io::ErrorKind::ConnectionReset, "the connection was closed before the answer");
                Err(ConnectorError::io(lost.into()))
            }
            Arrival::Never => {
                self.silent.notify_one();
                pending().await
            }
        }
    }
}

fn sdk_response(response: Response<Bytes>) -> Result<HttpResponse, ConnectorError> {
    HttpResponse::try_from(response.map(SdkBody::from)).map_err(|e| ConnectorError::other(e.into(), None))
}

impl fmt::Debug for WireClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WireClient").field("clock", &self.clock).finish_non_exhaustive()
    }
}

impl HttpClient for WireClient {
    fn http_connector(&self, settings: &HttpConnectorSettings, _: &RuntimeComponents) -> SharedHttpConnector {
        SharedHttpConnector::new(Line { client: self.clone(), patience: settings.read_timeout() })
    }
}

/// The client with the timeout of one configuration.
#[derive(Debug)]
struct Line {
    client: WireClient,
    patience: Option<Duration>,
}

impl HttpConnector for Line {
    fn call(&self, request: HttpRequest) -> HttpConnectorFuture {
        let (client, patience) = (self.client.clone(), self.patience);
        HttpConnectorFuture::new(async move { within(patience, client.carry(request)).await? })
    }
}
