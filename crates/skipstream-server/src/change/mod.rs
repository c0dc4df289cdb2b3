//! Published models → kept ones; words that moved, came and rose.
//!
//! `keeper.rs` is a thread that looks at what is published: it tells which words came and left, keeps a snapshot now and
//! then, and looks after the words that somebody watches (`watch.rs`). `kept.rs` has the kept snapshots as files, `name.rs`
//! what they may be called, `thinning.rs` says which of them stay. `history.rs`, `emerging.rs` and `movers.rs` hold them
//! against what is published now.
//!
//! Invariant: nothing here delays training, publishing or answering.

mod emerging;
mod history;
mod keeper;
mod kept;
mod movers;
mod name;
mod since;
#[cfg(test)]
pub(crate) mod testing;
mod thinning;
mod vocabulary;
mod watch;

pub use emerging::{Emerging, emerging};
pub use history::{HistoryPoint, Near, history};
pub use keeper::Keeper;
pub use kept::{KeepError, Kept};
pub use movers::{Comparison, Movers};
pub use name::SnapshotName;
pub use since::Since;
pub use watch::{WatchError, WatchList};
