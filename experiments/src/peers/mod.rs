//! The programs that skipstream is compared with: their command lines, and timed runs.

pub mod contender;
pub mod installed;
pub mod python;
pub mod setting;
pub mod timed;
mod yskip;
