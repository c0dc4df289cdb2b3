//! Files as bytes: how they are compressed, and how they are replaced.
//!
//! Invariant: nothing here knows what the bytes mean.

mod compression;
mod replace;

pub use compression::Compression;
pub(crate) use compression::{BUFFER_BYTES, read_error, read_magic};
pub use replace::replace;
