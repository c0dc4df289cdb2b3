//! Routes and middleware.
//!
//! A request passes through `trace` (access log, metrics, request id), security headers, CORS if configured,
//! `limits` (concurrency, timeout) and `access` (roles), and then reaches its route.
#![allow(unused_qualifications, reason = "utoipa's macros generate them")]

mod access;
pub mod answer;
mod body_end;
mod change;
mod document;
mod error;
mod events;
mod export;
pub mod extract;
mod limits;
mod map;
mod operations;
mod query;
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
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub(crate) use body_end::on_body_end;
pub use error::ApiError;
pub(crate) use limits::Spare;

use crate::page;
use crate::service::Service;
use access::Access;
use document::Document;
use limits::Limits;
use trace::Trace;

/// All routes, with their middleware.
pub fn router(service: Arc<Service>) -> Router {
    let (routes, document) = api().split_for_parts();
    let document = document::complete(&document);
    let settings = &service.settings;
    export::tidy(&settings.data);
    let access = Arc::new(Access::new(settings, &document));
    let trace = Arc::new(Trace::new(service.clone(), access.clone()));
    let limits = Arc::new(Limits::new(settings));
    let cors = cors(&settings.cors_origin);
    routes
        .with_state(service)
        .layer(Extension(Arc::new(document)))
        .layer(Extension(access.clone()))
        .layer(from_fn_with_state(access, access::guard))
        .merge(page::router())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(limits, limits::limit))
        .layer(cors)
        .layer(from_fn(secure))
        .layer(from_fn_with_state(trace, trace::trace))
}

/// The routes in the OpenAPI document.
fn api() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(text::send))
        .routes(routes!(text::wait::wait))
        .routes(routes!(query::words::complete))
        .routes(routes!(query::words::word))
        .routes(routes!(query::neighbors::of_word))
        .routes(routes!(query::neighbors::of_many))
        .routes(routes!(query::analogy::one, query::analogy::many))
        .routes(routes!(query::similarity::one, query::similarity::many))
        .routes(routes!(query::odd_one_out::one, query::odd_one_out::many))
        .routes(routes!(query::vectors::one))
        .routes(routes!(query::vectors::many))
        .routes(routes!(map::draw))
        .routes(routes!(change::history::of_word))
        .routes(routes!(change::emerging::list))
        .routes(routes!(change::movers::list))
        .routes(routes!(change::snapshots::list, change::snapshots::save))
        .routes(routes!(change::snapshots::delete))
        .routes(routes!(change::watch::list))
        .routes(routes!(change::watch::add, change::watch::remove))
        .routes(routes!(events::listen))
        .routes(routes!(operations::healthz))
        .routes(routes!(operations::readyz))
        .routes(routes!(operations::metrics))
        .routes(routes!(operations::stats))
        .routes(routes!(operations::history))
        .routes(routes!(operations::settings))
        .routes(routes!(export::export))
        .routes(routes!(operations::checkpoint))
        .routes(routes!(document::openapi))
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
