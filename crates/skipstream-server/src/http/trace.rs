//! A line in the log for each request, and its part in the metrics.
//!
//! Logged is the route as it is written in the document (`/v1/words/{word}`), never the words, the query, a header or a
//! body: what people ask is theirs, and a token may stand in any of these by mistake.

use std::hash::{BuildHasher, RandomState};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;

use super::access::Access;
use super::watched::watched;
use crate::metrics::Metrics;

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a request leaves behind.
#[derive(Debug)]
pub struct Trace {
    metrics: Arc<Metrics>,
    access: Arc<Access>,
    numbers: AtomicU64,
    start: RandomState,
}

impl Trace {
    /// Lines for the log and numbers for the metrics.
    pub fn new(metrics: Arc<Metrics>, access: Arc<Access>) -> Trace {
        Trace { metrics, access, numbers: AtomicU64::new(0), start: RandomState::new() }
    }

    /// The name that a request was given, if it can be shown, or a new one.
    fn name(&self, request: &Request) -> String {
        let given = request.headers().get(REQUEST_ID).and_then(|value| value.to_str().ok());
        let is_name = |text: &&str| {
            (1..=64).contains(&text.len())
                && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte))
                && !self.access.is_token(text)
        };
        match given.filter(is_name) {
            Some(name) => name.to_owned(),
            None => format!("{:016x}", self.start.hash_one(self.numbers.fetch_add(1, Ordering::Relaxed))),
        }
    }
}

/// Answers a request, and tells of it when the answer was sent.
pub async fn trace(State(trace): State<Arc<Trace>>, request: Request, next: Next) -> Response {
    let start = Instant::now();
    let name = trace.name(&request);
    let method = request.method().clone();
    let route = request.extensions().get::<MatchedPath>().map_or("none", MatchedPath::as_str).to_owned();
    let remote = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|remote| remote.0.to_string());
    let mut response = next.run(request).await;
    let status = response.status().as_u16();
    trace.metrics.answered(&method, &route, status, start.elapsed());
    let id = HeaderValue::from_str(&name).expect("the name was checked, or is made of digits");
    response.headers_mut().insert(REQUEST_ID, id);
    watched(response, move |bytes| {
        let ms = start.elapsed().as_secs_f64() * 1e3;
        let remote = remote.as_deref().unwrap_or("-");
        tracing::info!(%method, route, status, ms, bytes, remote, request_id = name, "request");
    })
}
