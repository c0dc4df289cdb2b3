//! Requests → answers.

mod error;
mod health;

use std::sync::Arc;

use axum::Router;
use utoipa::OpenApi;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

pub use error::ApiError;

use crate::service::Service;

/// What `/openapi.json` says of the service as a whole.
#[derive(OpenApi)]
#[openapi(info(title = "skipstream", description = "Word embeddings that never stop learning"))]
struct Document;

/// All routes.
pub fn router(service: Arc<Service>) -> Router {
    let (router, _document) = OpenApiRouter::with_openapi(Document::openapi())
        .routes(routes!(health::healthz))
        .with_state(service)
        .split_for_parts();
    router
}
