//! How many requests are answered at a time, and for how long.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::{MatchedPath, Request, State};
use axum::http::StatusCode;
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ApiError;
use super::watched::watched;
use crate::settings::{MAX_DOWNLOADS, MAX_TEXTS, ServeSettings};

/// Routes whose requests last as long as whoever asked wants. They have places and times of their own, so that they
/// do not take those of questions.
const LONG: [&str; 2] = ["/v1/events", "/v1/text/{seq}/wait"];

/// The route of text lasts as long too. Its places are not those of who listens or waits, who could keep text out.
const TEXT: &str = "/v1/text";

/// A download is a file until it is sent, however slowly it is taken.
const DOWNLOAD: &str = "/v1/export";

/// Routes that must be answered when nothing else is.
const ALWAYS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Places for requests.
#[derive(Debug)]
pub struct Limits {
    short: Places,
    long: Places,
    text: Places,
    downloads: Places,
    time: Duration,
}

/// Places of one kind.
#[derive(Debug)]
struct Places {
    free: Arc<Semaphore>,
    most: usize,
}

impl Places {
    fn new(most: usize) -> Places {
        Places { free: Arc::new(Semaphore::new(most)), most }
    }
}

impl Limits {
    /// As the settings say: so many short requests at a time, as many long ones, and fewer with text or for downloads.
    pub fn new(settings: &ServeSettings) -> Limits {
        let most = settings.max_requests;
        Limits {
            short: Places::new(most),
            long: Places::new(most),
            text: Places::new(most.min(MAX_TEXTS)),
            downloads: Places::new(most.min(MAX_DOWNLOADS)),
            time: settings.request_timeout,
        }
    }
}

/// Answers a request when there is a place for it, within its time.
pub async fn limit(State(limits): State<Arc<Limits>>, request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if ALWAYS.contains(&path) {
        return next.run(request).await;
    }
    let (places, is_long) = match path {
        TEXT => (&limits.text, true),
        DOWNLOAD => (&limits.downloads, false),
        path if LONG.contains(&path) => (&limits.long, true),
        _ => (&limits.short, false),
    };
    let Ok(place) = places.free.clone().try_acquire_owned() else {
        let message = format!(
            "{} requests of this kind are being answered, which is the limit; try again",
            places.most
        );
        return ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
            .retry_after(1)
            .into_response();
    };
    let response = if is_long {
        next.run(request).await
    } else {
        match timeout(limits.time, next.run(request)).await {
            Ok(response) => response,
            Err(_) => {
                let message =
                    format!("no answer within {} seconds, which is the limit", limits.time.as_secs_f64());
                return ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response();
            }
        }
    };
    // The place is held until the answer was sent.
    watched(response, move |_| drop(place))
}
