//! Compares what is published now with the past.
//!
//! `store.rs` holds the snapshots on disk, `name.rs` their names, `watch.rs` the watched words. `history.rs`, `emerging.rs`
//! and `movers.rs` compare snapshots with the current version. The thread that saves snapshots is the
//! [`monitor`](crate::monitor).
//!
//! Invariant: nothing here knows the rest of the service.

mod emerging;
mod history;
mod movers;
mod name;
mod point_in_time;
mod store;
#[cfg(test)]
pub(crate) mod testing;
mod watch;

pub use emerging::{Emerging, emerging};
pub use history::{HistoryPoint, history};
pub use movers::{Comparison, Movers};
pub use name::SnapshotName;
pub use point_in_time::PointInTime;
pub use store::{SnapshotInfo, SnapshotStore};
pub use watch::WatchList;
