//! How learning goes, from moment to moment.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Progress;

use crate::published::Seq;

/// How learning goes. The thread that learns replaces it about once a second.
#[derive(Clone, Debug, Default)]
pub struct Status {
    /// How far training has come since the stream began; none before the first batch.
    pub progress: Option<Progress>,
    /// Words learned a second, over the last few seconds.
    pub words_per_second: f64,
    /// The mean loss of a pair, over the last few seconds; none where nothing was trained.
    pub loss: Option<f64>,
    /// The last lines of the loss curve, the oldest first.
    pub losses: VecDeque<LossPoint>,
    /// The checkpoint on disk.
    pub checkpoint: Option<Checkpoint>,
    /// Why learning cannot go on as it should, if so: a full disk, a model that diverged.
    pub problem: Option<String>,
}

/// A point of the loss curve.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, utoipa::ToSchema)]
pub struct LossPoint {
    /// Words read since the stream began.
    pub words: u64,
    /// The mean loss of a pair since the point before.
    pub loss: f64,
}

/// A checkpoint on disk
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, utoipa::ToSchema)]
pub struct Checkpoint {
    /// The last line it contains
    pub seq: Seq,
    /// When it was written
    pub time: Timestamp,
}
