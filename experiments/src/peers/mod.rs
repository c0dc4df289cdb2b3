//! The programs that skipstream is compared with: what one types to run each of them, and how long a run takes.

pub mod contender;
pub mod python;
pub mod roster;
pub mod setting;
pub mod timed;
mod yskip;
