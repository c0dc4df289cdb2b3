//! Compares what is published now with the past.
//!
//! `monitor.rs` is a thread that looks at each published version: it reports words that entered and left the vocabulary,
//! saves snapshots on a schedule, and checks watched words (`watch.rs`). `store.rs` holds the snapshots on disk, `name.rs`
//! their names. `history.rs`, `emerging.rs` and `movers.rs` compare
//! snapshots with the current version.
//!
//! Invariant: nothing here delays training, publishing or queries.

mod emerging;
mod history;
mod monitor;
mod movers;
mod name;
mod point_in_time;
mod store;
#[cfg(test)]
pub(crate) mod testing;
mod vocabulary;
mod watch;

pub use emerging::{Emerging, emerging};
pub use history::{HistoryPoint, history};
pub use monitor::start as start_monitor;
pub use movers::Movers;
pub use name::SnapshotName;
pub use point_in_time::PointInTime;
pub use store::{SnapshotInfo, SnapshotStore};
pub use watch::WatchList;
