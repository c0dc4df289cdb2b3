//! Limits on concurrent requests and their duration.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ApiError;
use super::body_end::on_body_end;
use crate::settings::{MAX_DOWNLOADS, MAX_TEXTS, ServeSettings};

/// Long-running requests have no timeout and a limit of their own, so that they cannot block queries.
const LONG: [&str; 2] = ["/v1/events", "/v1/text/{seq}/wait"];

/// Uploads also have their own limit, so that listeners cannot block them.
const TEXT: &str = "/v1/text";

/// A download occupies disk space until it is sent.
const DOWNLOAD: &str = "/v1/export";

/// Routes without limits.
const ALWAYS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

#[derive(Debug)]
pub struct Limits {
    short: Limit,
    long: Limit,
    text: Limit,
    downloads: Limit,
    timeout: Duration,
}

/// A limit on concurrent requests of one kind.
#[derive(Debug)]
struct Limit {
    permits: Arc<Semaphore>,
    most: usize,
}

impl Limits {
    pub fn new(settings: &ServeSettings) -> Limits {
        let limit = |most: usize| {
            let most = most.min(settings.max_requests);
            Limit { permits: Arc::new(Semaphore::new(most)), most }
        };
        Limits {
            short: limit(usize::MAX),
            long: limit(usize::MAX),
            text: limit(MAX_TEXTS),
            downloads: limit(MAX_DOWNLOADS),
            timeout: settings.request_timeout,
        }
    }
}

/// The middleware: rejects a request beyond the limit, and ends one that takes too long.
pub async fn limit(State(limits): State<Arc<Limits>>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if ALWAYS.contains(&path) {
        return next.run(request).await;
    }
    let (limit, is_long) = match path {
        TEXT => (&limits.text, true),
        DOWNLOAD => (&limits.downloads, false),
        path if LONG.contains(&path) => (&limits.long, true),
        _ => (&limits.short, false),
    };
    let Ok(permit) = limit.permits.clone().try_acquire_owned() else {
        let message = format!("there are already {} requests of this kind, which is the limit", limit.most);
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
            .retry_after(1)
            .into_response();
    };
    let time = if is_long { Duration::MAX } else { limits.timeout };
    let Ok(response) = timeout(time, next.run(request)).await else {
        let message = format!("no answer within the timeout of {} seconds", time.as_secs_f64());
        return ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response();
    };
    // The permit is held until the response is sent.
    on_body_end(response, move |_| drop(permit))
}
