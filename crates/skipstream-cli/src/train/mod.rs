//! `skipstream train`.
//!
//! `job.rs` turns what was typed into what to do. `session.rs` does it: learns, saves at checkpoints and at the end,
//! and rests when `stop.rs` was told to. `watch.rs` follows the training, `summary.rs` says what came of it.

mod args;
mod every;
mod job;
mod pipe;
mod session;
mod shared;
mod stop;
mod summary;
mod watch;

use anyhow::Result;

use crate::Ending;
use crate::output::{print, print_json};
pub use args::TrainArgs;
use job::{Job, Report};
use session::Session;
use stop::Stop;

/// Learns the text, and reports also when only a part of it could be learned.
pub fn run(args: TrainArgs) -> Result<Ending> {
    let job = Job::new(args)?;
    let stop = Stop::on_signals()?;
    let report = job.report;
    let session = Session::begin(job, stop)?;
    if report == Report::ForPeople {
        eprintln!("{}", session.headline());
    }
    let (summary, result) = session.learn();
    match report {
        Report::Nothing => {}
        Report::ForPeople => print(&summary.to_string())?,
        Report::Json => print_json(&summary)?,
    }
    result
}
