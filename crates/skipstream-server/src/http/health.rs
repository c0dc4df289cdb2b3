//! Liveness, readiness and metrics.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use axum::http::header;
use axum::response::{IntoResponse, Response};

use super::ApiError;
use crate::error::Error;
use crate::metrics::Metrics;
use crate::service::Service;

/// Liveness: the process runs
#[utoipa::path(
    get, path = "/healthz", tag = "operations", responses((status = 200, body = str)), security(())
)]
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Readiness: the service accepts requests and is not shutting down
#[utoipa::path(
    get, path = "/readyz", tag = "operations", responses((status = 200, body = str)), security(())
)]
pub async fn readyz(State(service): State<Arc<Service>>) -> Result<&'static str, ApiError> {
    if service.is_stopping() {
        return Err(Error::Stopping.into());
    }
    Ok("ok\n")
}

/// Prometheus metrics
#[utoipa::path(
    get, path = "/metrics", tag = "operations",
    responses((status = 200, body = str, content_type = "application/openmetrics-text")),
    security(("token" = ["read"]))
)]
pub async fn metrics(
    State(service): State<Arc<Service>>,
    Extension(metrics): Extension<Arc<Metrics>>,
) -> Result<Response, ApiError> {
    let text = metrics.text(&service).map_err(ApiError::internal)?;
    let kind = [(header::CONTENT_TYPE, "application/openmetrics-text; version=1.0.0; charset=utf-8")];
    Ok((kind, text).into_response())
}
