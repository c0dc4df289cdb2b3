//! Files as bytes: compressed, replaced, locked, memory-mapped.
//!
//! Invariant: nothing here knows what the bytes mean.

mod compression;
#[cfg(feature = "unstable")]
mod lock;
mod map;
mod replace;

pub use compression::Compression;
pub(crate) use compression::{BUFFER_BYTES, read_error, read_magic};
#[cfg(feature = "unstable")]
pub use lock::Lock;
pub(crate) use map::Mapped;
#[cfg(feature = "unstable")]
pub use replace::sync_name;
pub use replace::{create_folder, replace};
