//! Accepts connections.
//!
//! `axum::serve` accepts any number of connections and waits forever for their headers and for their end. Here all three
//! have limits.

use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};

/// Pause after the system could not accept a connection.
const PAUSE: Duration = Duration::from_millis(500);

#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// Maximum number of open connections; others wait in the system's backlog.
    pub connections: usize,
    /// Size of the read buffer and of the write buffer in bytes. The request line and headers must fit.
    pub buffer_bytes: usize,
    /// Timeout for the headers of a request, counted from the previous response.
    pub headers: Duration,
    /// Timeout for responses in progress at shutdown.
    pub grace: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connections: 1_024,
            buffer_bytes: 24 << 10,
            headers: Duration::from_secs(30),
            grace: Duration::from_secs(10),
        }
    }
}

pub(super) struct Connections {
    router: Router,
    limits: Limits,
    permits: Arc<Semaphore>,
    graceful: GracefulShutdown,
    /// Open connections; dropping them closes them.
    open: JoinSet<()>,
}

impl Connections {
    pub fn new(router: Router, limits: Limits) -> Connections {
        let permits = Arc::new(Semaphore::new(limits.connections));
        Connections { router, limits, permits, graceful: GracefulShutdown::new(), open: JoinSet::new() }
    }

    /// Serves until `stopped` returns. Then idle connections are closed, responses in progress get some time, and the rest
    /// are dropped.
    pub async fn serve(mut self, listener: TcpListener, stopped: impl Future<Output = ()>) {
        let mut stopped = pin!(stopped);
        loop {
            tokio::select! {
                biased;
                () = &mut stopped => break,
                (stream, peer, permit) = next(&listener, &self.permits) => self.open(stream, peer, permit),
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

    fn open(&mut self, stream: TcpStream, peer: SocketAddr, permit: OwnedSemaphorePermit) {
        // Responses are small and should not wait for more data.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "cannot set TCP_NODELAY");
        }
        let router = TowerToHyperService::new(self.router.clone());
        let answer = service_fn(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            router.call(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.headers)
            .max_buf_size(self.limits.buffer_bytes)
            .serve_connection(TokioIo::new(stream), answer);
        let connection = self.graceful.watch(connection);
        self.open.spawn(async move {
            let _permit = permit;
            if let Err(error) = connection.await {
                // The client disconnected, was too slow or does not speak HTTP.
                tracing::debug!(%error, "a connection ended early");
            }
        });
    }
}

/// The next connection, once the limit allows it.
async fn next(
    listener: &TcpListener,
    permits: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    let permit = permits.clone().acquire_owned().await.expect("nobody closes the semaphore");
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => return (stream, peer, permit),
            Err(error) if is_of_connection(&error) => {}
            // The process may have too many open files.
            Err(error) => {
                tracing::error!(%error, "cannot accept connections");
                sleep(PAUSE).await;
            }
        }
    }
}

/// Whether an error concerns only one connection, which is already gone.
fn is_of_connection(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

#[cfg(test)]
mod tests;
