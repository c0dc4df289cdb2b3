//! Requests → answers.
#![allow(unused_qualifications, reason = "utoipa's macros write them, at our places in the code")]

pub mod answer;
mod ask;
mod change;
mod error;
mod events;
pub mod extract;
mod health;

use std::sync::Arc;

use axum::Router;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use error::{Accepted, ApiError, ErrorBody, ErrorDetail};

use crate::page;
use crate::service::Service;

/// What `/openapi.json` says of the service as a whole.
#[derive(OpenApi)]
#[openapi(info(title = "skipstream", description = "Word embeddings that never stop learning"))]
struct Document;

/// All routes.
pub fn router(service: Arc<Service>) -> Router {
    let (router, _document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .merge(questions())
        .merge(changes())
        .with_state(service)
        .split_for_parts();
    router.merge(page::router())
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
