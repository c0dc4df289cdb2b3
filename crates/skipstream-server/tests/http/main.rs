//! Tests of the routes, without sockets; those of `lanes` on a real port.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod candidates;
mod change;
mod client;
mod embeddings;
mod events;
mod hostile;
mod lanes;
mod limits;
mod map;
mod operations;
mod queries;
mod real;
mod subwords;
mod text;
