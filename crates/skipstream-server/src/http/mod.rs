//! Routes and middleware.
//!
//! `routes.rs` is the table of all routes with their rules. A request passes through `trace` (access log, metrics, request
//! id), security headers and CORS if configured, and reaches its route. Its `gate` checks `access` (roles), `limits`
//! (concurrency, timeout) and `memory`, and gives it a place to work in one of the `lanes`.
#![allow(unused_qualifications, reason = "utoipa's macros generate them")]

mod access;
pub mod answer;
mod body_end;
mod change;
mod controls;
mod document;
mod error;
mod events;
mod export;
pub mod extract;
mod gate;
mod lanes;
mod limits;
mod map;
mod memory;
mod operations;
mod query;
mod routes;
mod text;
mod trace;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;

pub(crate) use access::host_name;
pub(crate) use body_end::on_body_end;
pub use error::ApiError;
pub(crate) use gate::Spare;
#[cfg(feature = "brokers")]
pub(crate) use text::{Decoder, Kind, Problem, read_message};

use crate::service::Service;
use document::Document;
use gate::Gate;
use trace::Trace;

/// All routes, with their middleware.
pub fn router(service: Arc<Service>) -> Router {
    let settings = &service.settings;
    let gate = Arc::new(Gate::new(settings));
    let (routes, document) = routes::build(routes::table(), &gate);
    let trace = Arc::new(Trace::new(service.clone(), gate.access.clone()));
    let cors = cors(&settings.cors_origin);
    routes
        .with_state(service)
        .layer(Extension(Document::new(&document)))
        .layer(Extension(gate.access.clone()))
        .layer(Extension(gate.lanes.clone()))
        .layer(Extension(Arc::new(export::Versions::default())))
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(cors)
        .layer(from_fn(secure))
        .layer(from_fn_with_state(trace, trace::trace))
}

/// Security headers.
const HEADERS: [(HeaderName, &str); 6] = [
    (header::CONTENT_SECURITY_POLICY, "default-src 'none'; frame-ancestors 'none'"),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::X_FRAME_OPTIONS, "DENY"),
    (header::REFERRER_POLICY, "no-referrer"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
    (header::CACHE_CONTROL, "no-store"),
];

/// Adds the headers that a response does not have. The web page sets its own policy.
async fn secure(request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    for (name, value) in HEADERS {
        response.headers_mut().entry(name).or_insert(HeaderValue::from_static(value));
    }
    response
}

/// Allows these origins; none by default. [`crate::auth::check`] has validated them.
fn cors(origins: &[String]) -> CorsLayer {
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    let exposed = ["x-request-id", "x-skipstream-seq", "x-skipstream-time", "x-skipstream-dimensions"];
    CorsLayer::new()
        .allow_origin(origins.collect::<Vec<_>>())
        .allow_methods([Method::GET, Method::POST, Method::PUT, Method::DELETE])
        .allow_headers([
            header::AUTHORIZATION,
            header::CONTENT_TYPE,
            header::CONTENT_ENCODING,
            header::ACCEPT,
            HeaderName::from_static("idempotency-key"),
            HeaderName::from_static("last-event-id"),
        ])
        .expose_headers(
            exposed.map(HeaderName::from_static).into_iter().chain([header::RETRY_AFTER]).collect::<Vec<_>>(),
        )
}

async fn not_found() -> ApiError {
    ApiError::new(StatusCode::NOT_FOUND, "not-found", "there is no such path; /openapi.json lists all paths")
}

async fn method_not_allowed(request: Request) -> ApiError {
    let message = match *request.method() {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::DELETE => {
            format!("{} is not allowed; the Allow header lists the allowed methods", request.method())
        }
        _ => "this method is not allowed; the Allow header lists the allowed methods".to_owned(),
    };
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
}

/// The message of a panic is already in the log.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::internal("a handler panicked").into_response()
}
