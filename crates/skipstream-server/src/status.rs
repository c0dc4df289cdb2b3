//! The progress of learning.

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Progress;

use crate::change::SnapshotName;
use crate::published::Seq;

/// The progress of learning. The learning thread replaces it about once a second.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// Totals since the stream began; none before the first batch.
    pub progress: Option<Progress>,
    /// Words learned per second, over the last few seconds.
    pub words_per_second: f64,
    /// The mean loss per pair over the last few seconds; none if nothing was trained.
    pub loss: Option<f64>,
    /// The checkpoint on disk.
    pub checkpoint: Option<Checkpoint>,
}

/// A checkpoint on disk
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Checkpoint {
    /// The last line it contains
    pub seq: Seq,
    /// When it was written
    pub time: Timestamp,
}

/// The snapshot that the service returned to
#[derive(Clone, Debug, Serialize, utoipa::ToSchema)]
pub struct RolledBack {
    /// Its name
    #[schema(value_type = String)]
    pub snapshot: SnapshotName,
    /// The last line that the model has learned
    pub learned: Seq,
    /// The last line that was skipped; learning continues with the next
    pub seq: Seq,
}
