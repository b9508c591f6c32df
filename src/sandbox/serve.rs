//! The sandbox on a loopback port, for other AWS clients: the wall's time, run faster. Must never listen beyond this machine.

use super::{Arrival, Wire, world::Moment};
use crate::clock::{Clock, pause};
use bytes::Bytes;
use futures::future::{Either, select};
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use jiff::{SignedDuration, Timestamp};
use std::{
    future::pending,
    io,
    net::{Ipv4Addr, SocketAddr},
    pin::pin,
    sync::Arc,
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::{JoinHandle, JoinSet},
};

/// Bytes of a request's body, at most: enough for every call but S3's largest parts.
const LARGEST: usize = 64 << 20;
/// Seconds that answers on their way are waited for at the end; what hangs by script never comes.
const FAREWELL: u64 = 2;

/// A running server. Dropped without [`Server::stop`] it runs on until its runtime ends.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    stop: watch::Sender<bool>,
    task: JoinHandle<()>,
}

impl Server {
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Takes no more connections, lets answers that are on their way arrive, and ends.
    pub async fn stop(self) {
        self.stop.send_replace(true);
        if let Err(error) = self.task.await {
            tracing::warn!(%error, "the sandbox's server ended badly");
        }
    }
}

/// Serves a wire on a loopback port (0: any free one). The account's clock shows `base` now and runs `speed` times as fast as
/// the wall's, which is 1 at least; `Date` headers tell the wall's time, for clients shift their signatures by them.
pub async fn serve(wire: Arc<dyn Wire>, port: u16, speed: u32, base: Timestamp) -> io::Result<Server> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await?;
    let address = listener.local_addr()?;
    let desk = Desk { wire, wall: Clock::system(), speed: speed.max(1), base };
    let (stop, stopped) = watch::channel(false);
    let task = tokio::spawn(accept(listener, desk, stopped));
    Ok(Server { address, stop, task })
}

async fn accept(listener: TcpListener, desk: Desk, mut stopped: watch::Receiver<bool>) {
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = stopped.wait_for(|stopped| *stopped) => break,
            // Ended connections are let go of as they end.
            Some(_) = connections.join_next() => continue,
        };
        match accepted {
            Ok((stream, _)) => {
                connections.spawn(connection(stream, desk.clone(), stopped.clone()));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection to the sandbox could not be taken");
                // Out of file handles, as a rule: they come back as connections end.
                pause(Duration::from_millis(100)).await;
            }
        }
    }
    drop(listener);
    let last = async { while connections.join_next().await.is_some() {} };
    select(pin!(last), pin!(pause(Duration::from_secs(FAREWELL)))).await;
}

async fn connection(stream: TcpStream, desk: Desk, mut stopped: watch::Receiver<bool>) {
    let service = service_fn(move |request| {
        let desk = desk.clone();
        async move { desk.answer(request).await }
    });
    let mut connection = pin!(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    let stop = pin!(async { drop(stopped.wait_for(|stopped| *stopped).await) });
    let ended = match select(connection.as_mut(), stop).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection to the sandbox broke off");
    }
}

/// What every connection answers from.
#[derive(Clone)]
struct Desk {
    wire: Arc<dyn Wire>,
    wall: Clock,
    speed: u32,
    base: Timestamp,
}

impl Desk {
    fn moment(&self) -> Moment {
        let elapsed = SignedDuration::try_from(self.wall.elapsed()).unwrap_or(SignedDuration::MAX);
        let elapsed = i32::try_from(self.speed).ok().and_then(|speed| elapsed.checked_mul(speed));
        let now = self.base.saturating_add(elapsed.unwrap_or(SignedDuration::MAX));
        now.unwrap_or(Timestamp::MAX).as_millisecond()
    }

    /// An error closes the connection without an answer.
    async fn answer(&self, request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Silence> {
        let (head, body) = request.into_parts();
        let Ok(body) = Limited::new(body, LARGEST).collect().await else {
            let mut refusal = Response::new(Full::from("the request is larger than the sandbox takes"));
            *refusal.status_mut() = StatusCode::PAYLOAD_TOO_LARGE;
            return Ok(refusal);
        };
        let request = Request::from_parts(head, body.to_bytes());
        let reply = self.wire.answer(&request, self.moment());
        pause(Duration::from_millis(reply.delay) / self.speed).await;
        match reply.arrival {
            Arrival::Whole => Ok(reply.dated(self.wall.now()).response.map(Full::new)),
            Arrival::Lost => Err(Silence),
            Arrival::Never => pending().await,
        }
    }
}

/// The answer is lost on its way, by script.
#[derive(Debug, thiserror::Error)]
#[error("the answer is lost")]
struct Silence;
