//! Files as bytes: how they are compressed, replaced and looked at in place.
//!
//! Invariant: nothing here knows what the bytes mean.

mod compression;
mod map;
mod replace;

pub use compression::Compression;
pub(crate) use compression::{BUFFER_BYTES, read_error, read_magic};
pub(crate) use map::MappedFloats;
pub use replace::replace;
