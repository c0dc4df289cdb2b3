//! The paper's experiments, repeated with skipstream, and what measuring takes.
//!
//! Modules stand in reading order, and a module uses only modules above it: how programs are run, where text comes
//! from, what a run leaves behind, and then the experiments.

pub mod command;

pub mod circumstances;

pub mod python;

pub mod text;

pub mod options;

pub mod record;

pub mod statistics;

pub mod markdown;

pub mod plot;

pub mod section;

pub mod data;

pub mod peers;

pub mod scores;

pub mod portions;

pub mod theorems;

pub mod quality;

pub mod update_time;

pub mod pieces;

pub mod forgetting;

pub mod report;
