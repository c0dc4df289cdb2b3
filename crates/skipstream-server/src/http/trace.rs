//! The access log and the metrics of requests.
//!
//! The log shows the route (`/v1/words/{word}`), never the path, the query, a header or a body: queries are private, and any
//! of these may contain a token by mistake.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
#[cfg(feature = "otel")]
use tracing::Instrument;

use super::access::Access;
use super::body_end::on_body_end;
use crate::service::Service;
#[cfg(feature = "otel")]
use crate::traces::RequestSpan;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

#[derive(Debug)]
pub struct Trace {
    service: Arc<Service>,
    access: Arc<Access>,
    numbers: AtomicU64,
    start: RandomState,
}

impl Trace {
    pub fn new(service: Arc<Service>, access: Arc<Access>) -> Trace {
        Trace { service, access, numbers: AtomicU64::new(0), start: RandomState::new() }
    }

    /// The request id that the client sent, if it is harmless, or a new one.
    fn request_id(&self, request: &Request) -> String {
        let given = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
        let is_harmless = |text: &&str| {
            (1..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !self.access.is_token(text)
        };
        match given.filter(is_harmless) {
            Some(id) => id.to_owned(),
            None => format!("{:016x}", self.start.hash_one(self.numbers.fetch_add(1, Ordering::Relaxed))),
        }
    }
}

/// The middleware: logs a request when its response has been sent.
pub async fn trace(State(trace): State<Arc<Trace>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = trace.request_id(&request);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let remote = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|remote| remote.0.to_string());
    #[cfg(feature = "otel")]
    let span = RequestSpan::of(&request, &route, &id);
    let answering = next.run(request);
    #[cfg(feature = "otel")]
    let answering = answering.instrument(span.span());
    let mut response = answering.await;
    let status = response.status().as_u16();
    #[cfg(feature = "otel")]
    span.answered(status);
    trace.service.metrics.answered(&method, &route, status, start.elapsed());
    let value = HeaderValue::from_str(&id).expect("the id was checked, or consists of digits");
    response.headers_mut().insert(REQUEST_ID, value);
    on_body_end(response, move |bytes| {
        // The span ends here.
        #[cfg(feature = "otel")]
        drop(span);
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let remote = remote.as_deref().unwrap_or("-");
        tracing::info!(%method, route, status, ms, bytes, remote, request_id = id, "request");
    })
}
