//! The command as a person or a script meets it: what it prints, what it leaves on disk, and its exit codes.

// In a test an unwrap is an assertion.
#![allow(clippy::unwrap_used)]

mod conversation;
mod desk;
mod diff;
mod embed;
mod eval;
mod examples;
mod following;
mod formats;
mod hints;
mod init;
mod inspect;
mod logging;
mod models;
mod naming;
mod phrases;
mod queries;
mod questions;
mod records;
mod refusals;
mod rollback;
mod scoring;
mod serve;
mod settings;
mod sharded;
mod shell;
mod stopping;
mod subwords;
mod text;
mod training;
mod words;
