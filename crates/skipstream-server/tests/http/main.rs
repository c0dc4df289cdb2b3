//! Requests and their answers, without sockets.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod asking;
mod changing;
mod client;
mod listening;
mod mapping;
mod operations;
mod sending;
