//! Whether the service is alive, and whether it can answer.

/// Whether the process is alive
#[utoipa::path(get, path = "/healthz", tag = "operations", responses((status = 200, body = str)))]
pub async fn healthz() -> &'static str {
    "ok\n"
}
