//! Limits on concurrent requests and their duration.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::extract::{ConnectInfo, MatchedPath, Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tokio::sync::Semaphore;
use tokio::time::timeout;

use super::ApiError;
use super::body_end::on_body_end;
use crate::places::{self, Places};
use crate::settings::{MAX_DOWNLOADS, MAX_TEXTS, ServeSettings};

/// Long-running requests have no timeout and a limit of their own, so that they cannot block queries.
const LONG: [&str; 2] = ["/v1/events", "/v1/text/{seq}/wait"];

/// Uploads also have their own limit, so that listeners cannot block them. One that has paused for a while gives way to
/// others.
const TEXT: &str = "/v1/text";

/// How long an upload may pause while others wait.
const TEXT_PAUSE: Duration = Duration::from_secs(5);

/// A download occupies disk space until it is sent.
const DOWNLOAD: &str = "/v1/export";

/// Routes without limits.
const ALWAYS: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Routes that spare connections answer too.
const OPERATIONS: [&str; 2] = ["/v1/stats", "/v1/checkpoint"];

/// Marks a request on a connection beyond the limit.
#[derive(Clone, Copy, Debug)]
pub struct Spare;

#[derive(Debug)]
pub struct Limits {
    short: Limit,
    long: Limit,
    texts: Arc<Places>,
    max_texts: usize,
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
        let max_texts = MAX_TEXTS.min(settings.max_requests);
        let texts = places::Limits {
            total: max_texts,
            per_address: max_texts.div_ceil(2),
            spare: 0,
            idle: TEXT_PAUSE.min(settings.request_timeout),
        };
        Limits {
            short: limit(usize::MAX),
            long: limit(usize::MAX),
            texts: Places::new(texts),
            max_texts,
            downloads: limit(MAX_DOWNLOADS),
            timeout: settings.request_timeout,
        }
    }
}

/// The middleware: rejects a request beyond the limit, and ends one that takes too long.
pub async fn limit(State(limits): State<Arc<Limits>>, mut request: Request, next: Next) -> Response {
    let path = request.extensions().get::<MatchedPath>().map_or("", MatchedPath::as_str);
    if ALWAYS.contains(&path) {
        return next.run(request).await;
    }
    if request.extensions().get::<Spare>().is_some() && !OPERATIONS.contains(&path) {
        let message = "all connections are in use, which is the limit; this one answers only operations";
        return ([(header::CONNECTION, "close")], busy(message.to_owned())).into_response();
    }
    if path == TEXT {
        let Some(place) = limits.texts.take(address(&request)) else {
            return too_many(limits.max_texts).into_response();
        };
        let place = Arc::new(place);
        request.extensions_mut().insert(place.clone());
        return on_body_end(next.run(request).await, move |_| drop(place));
    }
    let (limit, time) = match path {
        DOWNLOAD => (&limits.downloads, limits.timeout),
        path if LONG.contains(&path) => (&limits.long, Duration::MAX),
        _ => (&limits.short, limits.timeout),
    };
    let Ok(permit) = limit.permits.clone().try_acquire_owned() else {
        return too_many(limit.most).into_response();
    };
    let Ok(response) = timeout(time, next.run(request)).await else {
        let message = format!("no answer within the timeout of {} seconds", time.as_secs_f64());
        return ApiError::new(StatusCode::REQUEST_TIMEOUT, "timeout", message).into_response();
    };
    // The permit is held until the response is sent.
    on_body_end(response, move |_| drop(permit))
}

fn address(request: &Request) -> IpAddr {
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>();
    peer.map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |peer| peer.0.ip())
}

fn too_many(most: usize) -> ApiError {
    busy(format!("there are already {most} requests of this kind, which is the limit"))
}

fn busy(message: String) -> ApiError {
    ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(1)
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::Body;
    use axum::middleware::from_fn_with_state;
    use axum::routing::get;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_spare_connection_answers_operations_alone() {
        let limits = Arc::new(Limits::new(&ServeSettings::default()));
        let router = ["/healthz", "/v1/stats", "/v1/map"]
            .into_iter()
            .fold(Router::new(), |router, path| router.route(path, get(|| async { "answer" })))
            .layer(from_fn_with_state(limits, limit));
        let ask = async |path: &str, is_spare: bool| {
            let mut request = Request::get(path).body(Body::empty()).unwrap();
            if is_spare {
                request.extensions_mut().insert(Spare);
            }
            router.clone().oneshot(request).await.unwrap()
        };
        for (path, status) in [("/healthz", 200), ("/v1/stats", 200), ("/v1/map", 503)] {
            assert_eq!(ask(path, true).await.status(), status, "{path}");
            assert_eq!(ask(path, false).await.status(), 200, "{path}");
        }
        assert_eq!(ask("/v1/map", true).await.headers()[header::CONNECTION], "close");
    }
}
