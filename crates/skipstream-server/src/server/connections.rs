//! Accepts connections.
//!
//! `axum::serve` accepts any number of connections and waits forever for their headers, for clients that do not read, and
//! for the end. Here all of these have limits, and nobody can use up the connections.

mod stream;

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::http::{HeaderValue, Version, header};
use axum::response::IntoResponse;
use futures_util::future::{Either, ready};
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutStream;

use self::stream::{Requests, Stream, Watched};
use crate::http::{ApiError, Spare, host_name, on_body_end};
use crate::lifecycle::Lifecycle;
use crate::places::{self, Place, Places};
use crate::settings::ServeSettings;

/// Pause after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(500);

/// Size of the system's send buffer in bytes. A client must read a third of it within [`Limits::write`], so it bounds the
/// slowest download as well.
const SEND_BUFFER_BYTES: usize = 512 << 10;

/// Connections beyond the limit, for operations.
pub(crate) const SPARE: usize = 16;

/// Size of the read buffer and of the write buffer of a connection in bytes. The request line and headers must fit.
pub(crate) const BUFFER_BYTES: usize = 24 << 10;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Open connections. The spare ones answer nothing but operations.
    pub places: places::Limits,
    /// Size of the read buffer and of the write buffer in bytes. The request line and headers must fit.
    pub buffer_bytes: usize,
    /// Timeout for the headers of a request, counted from the previous response.
    pub headers: Duration,
    /// Timeout for a client that does not read.
    pub write: Duration,
    /// Timeout for responses in progress at shutdown.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::new(&ServeSettings::default())
    }
}

impl Limits {
    pub fn new(settings: &ServeSettings) -> Limits {
        Limits {
            places: places::Limits {
                total: settings.max_connections,
                per_address: settings.max_connections_per_address,
                spare: SPARE,
                idle: Duration::ZERO,
            },
            buffer_bytes: BUFFER_BYTES,
            headers: settings.request_timeout,
            write: settings.request_timeout,
            grace: Duration::from_secs(10),
        }
    }
}

pub(super) struct Connections {
    router: Router,
    limits: Limits,
    lifecycle: Lifecycle,
    places: Arc<Places>,
    graceful: GracefulShutdown,
    /// Open connections; dropping them closes them.
    open: JoinSet<()>,
}

impl Connections {
    pub fn new(router: Router, limits: Limits, lifecycle: Lifecycle) -> Connections {
        let places = Places::new(limits.places);
        Connections {
            router,
            limits,
            lifecycle,
            places,
            graceful: GracefulShutdown::new(),
            open: JoinSet::new(),
        }
    }

    /// Serves until the service stops. Then idle connections are closed, responses in progress get some time, and the rest
    /// are dropped.
    pub async fn serve(mut self, listener: TcpListener) {
        let lifecycle = self.lifecycle.clone();
        bound_send_buffer(&listener);
        loop {
            tokio::select! {
                biased;
                () = lifecycle.stopping() => break,
                (stream, peer) = next(&listener) => {
                    if let Some(place) = self.places.take(peer.ip()) {
                        self.open(stream, peer, place);
                    }
                }
                // Remove finished tasks.
                Some(_) = self.open.join_next() => {}
            }
        }
        drop(listener);
        let Connections { graceful, limits, mut open, .. } = self;
        let in_time = timeout(limits.grace, graceful.shutdown()).await.is_ok();
        if !in_time {
            tracing::warn!(
                connections = open.len(),
                "dropped connections that did not end within {} seconds",
                limits.grace.as_secs_f64()
            );
        }
        open.shutdown().await;
    }

    fn open(&mut self, stream: TcpStream, peer: SocketAddr, place: Place) {
        // Responses are small and should not wait for more data.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.limits.write));
        let router = TowerToHyperService::new(self.router.clone());
        let place = Arc::new(place);
        let held = place.clone();
        let lifecycle = self.lifecycle.clone();
        let requests = Arc::new(Requests::default());
        let stream = Stream::new(stream, requests.clone());
        let answer = service_fn(move |request: Request<Incoming>| {
            requests.is_answering.store(true, Ordering::Relaxed);
            let mut request = request.map(|body| Watched::new(body, requests.clone()));
            request.extensions_mut().insert(ConnectInfo(peer));
            if place.is_spare {
                request.extensions_mut().insert(Spare);
            }
            place.set_busy();
            let answered = match check_head(&mut request) {
                Ok(()) => Either::Left(router.call(request)),
                Err(error) => {
                    Either::Right(ready(Ok(([(header::CONNECTION, "close")], error).into_response())))
                }
            };
            let (place, lifecycle, requests) = (place.clone(), lifecycle.clone(), requests.clone());
            async move {
                let mut response = answered.await?;
                if lifecycle.is_draining() {
                    // The client's next request should go elsewhere.
                    response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
                }
                Ok::<_, Infallible>(on_body_end(response, move |_| {
                    requests.is_answering.store(false, Ordering::Relaxed);
                    place.set_idle();
                }))
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.headers)
            .max_buf_size(self.limits.buffer_bytes)
            .serve_connection(TokioIo::new(stream), answer);
        let connection = self.graceful.watch(connection);
        self.open.spawn(async move {
            tokio::select! {
                ended = connection => if let Err(error) = ended {
                    // The client disconnected, was too slow or does not speak HTTP.
                    tracing::debug!(%error, "a connection ended early");
                },
                () = held.needed() => tracing::debug!(%peer, "closed an idle connection to admit another"),
            }
        });
    }
}

/// Enforces what RFC 9112 leaves to us, beside hyper. Section 3.2: a request has one valid `Host`, and one of a full address in
/// the request line counts instead. Section 6.1: no transfer coding but `chunked`; hyper would ignore others before it.
fn check_head<B>(request: &mut Request<B>) -> Result<(), ApiError> {
    let is_needed = request.version() > Version::HTTP_10;
    let mut hosts = request.headers().get_all(header::HOST).into_iter();
    let is_valid = match (hosts.next(), hosts.next()) {
        (None, _) => !is_needed,
        (Some(host), None) => host.is_empty() || host.to_str().is_ok_and(|host| host_name(host).is_some()),
        (Some(_), Some(_)) => false,
    };
    if !is_valid {
        return Err(ApiError::bad_request("a request must have one valid Host header"));
    }
    let mut codings = request.headers().get_all(header::TRANSFER_ENCODING).into_iter();
    let is_chunked = codings.next().is_none_or(|coding| coding.as_bytes().eq_ignore_ascii_case(b"chunked"));
    if !is_chunked || codings.next().is_some() {
        return Err(ApiError::bad_request("Transfer-Encoding must be `chunked`"));
    }
    let authority = request.uri().authority().and_then(|host| HeaderValue::from_str(host.as_str()).ok());
    if let Some(host) = authority {
        request.headers_mut().insert(header::HOST, host);
    }
    Ok(())
}

/// The next connection.
async fn next(listener: &TcpListener) -> (TcpStream, SocketAddr) {
    loop {
        match listener.accept().await {
            Ok(accepted) => return accepted,
            Err(error) if is_of_connection(&error) => {}
            // The process may have too many open files.
            Err(error) => {
                tracing::error!(%error, "cannot accept connections");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Bounds what the system holds for clients that do not read. Connections inherit it.
fn bound_send_buffer(listener: &TcpListener) {
    #[cfg(unix)]
    if let Err(error) = rustix::net::sockopt::set_socket_send_buffer_size(listener, SEND_BUFFER_BYTES) {
        tracing::debug!(%error, "cannot bound the send buffer");
    }
}

/// Whether an error concerns only one connection, which is already gone.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
