//! Requests and their answers, without sockets.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

mod access;
mod asking;
mod changing;
mod client;
mod hostile;
mod limits;
mod listening;
mod mapping;
mod operations;
mod sending;
