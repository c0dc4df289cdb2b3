//! How the service does.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use jiff::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

use super::ApiError;
use super::answer::SnapshotInfo;
use crate::http::answer::Json;
use crate::metrics::{Metrics, resident_bytes};
use crate::published::Seq;
use crate::service::Service;
use crate::status::LossPoint;

/// How the service does
#[derive(Debug, Serialize, ToSchema)]
pub struct Stats {
    /// What questions are answered from
    pub snapshot: SnapshotInfo,
    /// How long the service runs
    pub uptime_seconds: f64,
    /// Words learned a second, over the last few seconds
    pub words_per_second: f64,
    /// The mean loss of a pair, over the last few seconds; null while nothing is trained
    pub loss: Option<f64>,
    /// The loss curve, the oldest point first
    pub losses: Vec<LossPoint>,
    /// Words of text that were learned since the stream began
    pub words: u64,
    /// Words that are known
    pub vocabulary: usize,
    /// Words that may be known; null before the model is there
    pub max_vocabulary: Option<usize>,
    /// Words that had to leave
    pub evictions: u64,
    /// Text that waits to be learned
    pub queue: Queue,
    /// The last line that is safe on disk
    pub logged: Seq,
    /// The last line that answers know of
    pub learned: Seq,
    /// The model on disk; null before it was saved
    pub checkpoint: Option<CheckpointInfo>,
    /// Why learning cannot go on as it should; null while it can
    pub problem: Option<String>,
    /// The settings of the model; null before it is there
    #[schema(value_type = Option<Object>)]
    pub settings: Option<skipstream::Config>,
    /// Memory
    pub memory: Memory,
}

/// Text that waits to be learned
#[derive(Debug, Serialize, ToSchema)]
pub struct Queue {
    /// Its bytes
    pub bytes: u64,
    /// Bytes that may wait
    pub limit_bytes: u64,
    /// Its lines
    pub lines: u64,
}

/// A model on disk
#[derive(Debug, Serialize, ToSchema)]
pub struct CheckpointInfo {
    /// All lines up to this one are in it
    pub seq: Seq,
    /// When it was written
    pub time: Timestamp,
}

/// Memory of the process
#[derive(Debug, Serialize, ToSchema)]
pub struct Memory {
    /// Bytes that it may take by its settings; null where that is not known
    pub bound_bytes: Option<u64>,
    /// Bytes that it takes; null where the system does not tell
    pub resident_bytes: Option<u64>,
}

/// How the service does
#[utoipa::path(
    get, path = "/v1/stats", tag = "operations",
    responses((status = 200, body = Stats)), security(("token" = ["read"]))
)]
pub async fn stats(
    State(service): State<Arc<Service>>,
    Extension(metrics): Extension<Arc<Metrics>>,
) -> Result<Json<Stats>, ApiError> {
    let (status, published) = (service.status.load_full(), service.published());
    let progress = status.progress.as_ref().unwrap_or(&published.progress);
    let logged = service.log.last();
    Ok(Json(Stats {
        snapshot: (&*published).into(),
        uptime_seconds: metrics.uptime().as_secs_f64(),
        words_per_second: status.words_per_second,
        loss: status.loss,
        losses: status.losses.iter().copied().collect(),
        words: progress.tokens,
        vocabulary: progress.vocabulary,
        max_vocabulary: service.model().map(|model| model.max_vocabulary),
        evictions: progress.evictions,
        queue: Queue {
            bytes: service.log.waiting_bytes(),
            limit_bytes: service.settings.queue_bytes,
            lines: service.log.waiting_lines(),
        },
        logged,
        learned: published.seq,
        checkpoint: status.checkpoint.map(|saved| CheckpointInfo { seq: saved.seq, time: saved.time }),
        problem: status.problem.clone(),
        settings: service.model().cloned(),
        memory: Memory { bound_bytes: service.memory_bound(), resident_bytes: resident_bytes() },
    }))
}
