//! Tests of the routes, without sockets.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod candidates;
mod change;
mod client;
mod events;
mod hostile;
mod limits;
mod map;
mod operations;
mod queries;
mod text;
