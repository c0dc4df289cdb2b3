//! Words on a plane, and a cache of the last maps.

mod maps;

pub use maps::{Map, MapPoint, MapRequest, Maps, Method};
