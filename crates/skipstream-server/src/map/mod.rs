//! Words in a plane.
//!
//! `principal.rs` shows them from the side on which they lie farthest apart, `neighborhoods.rs` bends space so that neighbours
//! stay neighbours. Both depend on the vectors alone, and a map looks like the one of the publication before.

mod atlas;
mod neighborhoods;
mod principal;

pub use atlas::{Atlas, Map, MapQuestion, Method, Place};
