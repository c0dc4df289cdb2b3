//! Requests → answers.
//!
//! A request passes, from the outside in: `trace` (a line in the log, metrics, a name), `headers` (what a browser may do
//! with the answer), CORS where it is asked for, `limits` (a place, a time), `access` (a role), and then its route.
#![allow(unused_qualifications, reason = "utoipa's macros write them, at our places in the code")]

mod access;
pub mod answer;
mod ask;
mod change;
mod checkpoint;
mod document;
mod error;
mod events;
mod export;
pub mod extract;
mod headers;
mod health;
mod limits;
mod map;
mod stats;
mod text;
mod trace;
mod watched;

use std::sync::Arc;

use axum::extract::Request;
use axum::http::{HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::{from_fn, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::{Extension, Router};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::cors::CorsLayer;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use error::{Accepted, ApiError, ErrorBody, ErrorDetail};

use crate::metrics::Metrics;
use crate::page;
use crate::service::Service;
use access::Access;
use document::{Document, Finished};
use limits::Limits;
use trace::Trace;

/// All routes.
pub fn router(service: Arc<Service>) -> Router {
    let (routes, mut document) = api().split_for_parts();
    document::complete(&mut document);
    let settings = &service.settings;
    export::tidy(&settings.data);
    let access = Arc::new(Access::new(settings, &document));
    let metrics = Arc::new(Metrics::default());
    let trace = Arc::new(Trace::new(metrics.clone(), access.clone()));
    let limits = Arc::new(Limits::new(settings));
    let cors = cors(&settings.cors_origins);
    routes
        .with_state(service)
        .layer(Extension(Finished::new(&document)))
        .layer(Extension(metrics))
        .layer(Extension(access.clone()))
        .layer(from_fn_with_state(access, access::guard))
        .merge(page::router())
        .method_not_allowed_fallback(method_not_allowed)
        .fallback(not_found)
        .layer(CatchPanicLayer::custom(panicked))
        .layer(from_fn_with_state(limits, limits::limit))
        .layer(cors)
        .layer(from_fn(headers::secure))
        .layer(from_fn_with_state(trace, trace::trace))
}

/// The routes that stand in the document.
fn api() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(Document::openapi())
        .merge(texts())
        .merge(questions())
        .merge(changes())
        .merge(operations())
}

fn texts() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::new().routes(routes!(text::send)).routes(routes!(text::wait::wait))
}

fn questions() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::new()
        .routes(routes!(ask::words::complete))
        .routes(routes!(ask::words::word))
        .routes(routes!(ask::neighbors::of_word))
        .routes(routes!(ask::neighbors::of_many))
        .routes(routes!(ask::analogy::one, ask::analogy::many))
        .routes(routes!(ask::similarity::one, ask::similarity::many))
        .routes(routes!(ask::odd_one_out::one, ask::odd_one_out::many))
        .routes(routes!(ask::vectors::one))
        .routes(routes!(ask::vectors::many))
        .routes(routes!(map::draw))
}

fn changes() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::new()
        .routes(routes!(change::history::of_word))
        .routes(routes!(change::emerging::list))
        .routes(routes!(change::movers::list))
        .routes(routes!(change::snapshots::list, change::snapshots::keep))
        .routes(routes!(change::snapshots::delete))
        .routes(routes!(change::watch::list))
        .routes(routes!(change::watch::add, change::watch::remove))
        .routes(routes!(events::listen))
}

fn operations() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::new()
        .routes(routes!(health::healthz))
        .routes(routes!(health::readyz))
        .routes(routes!(health::metrics))
        .routes(routes!(stats::stats))
        .routes(routes!(export::export))
        .routes(routes!(checkpoint::save))
        .routes(routes!(document::openapi))
}

/// Pages of these origins may ask; by default none may. [`crate::auth::check`] has looked at the names.
fn cors(origins: &[String]) -> CorsLayer {
    if origins.is_empty() {
        return CorsLayer::new();
    }
    let origins = origins.iter().filter_map(|origin| HeaderValue::from_str(origin).ok());
    let shown = ["x-request-id", "x-skipstream-seq", "x-skipstream-time", "x-skipstream-dimensions"];
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
            shown.map(HeaderName::from_static).into_iter().chain([header::RETRY_AFTER]).collect::<Vec<_>>(),
        )
}

async fn not_found() -> ApiError {
    ApiError::new(
        StatusCode::NOT_FOUND,
        "not-found",
        "there is nothing at this path; /openapi.json lists what there is",
    )
}

async fn method_not_allowed(request: Request) -> ApiError {
    let message = match *request.method() {
        Method::GET | Method::HEAD | Method::POST | Method::PUT | Method::DELETE => {
            format!("{} is not a method of this path; the header Allow lists them", request.method())
        }
        _ => "this is not a method of this path; the header Allow lists them".to_owned(),
    };
    ApiError::new(StatusCode::METHOD_NOT_ALLOWED, "method-not-allowed", message)
}

/// What a panic said is for the log, where the panic itself has put it.
fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    ApiError::internal("a panic while a request was answered").into_response()
}
