//! `skipstream train`.
//!
//! `job.rs` turns what was typed into what to do. `session.rs` does it: learns, saves at checkpoints and at the end,
//! and rests when `stop.rs` was told to. Its model is new or known (`model.rs`), and its text ends or is followed
//! (`reading.rs`, `pipe.rs`, `patience.rs`).
//! `watch.rs` looks on and says when something is due (`every.rs`), as scores are (`evaluation.rs`). `meter.rs` takes the
//! figures, `log.rs` tells them, and `summary.rs` says what came of it all.

mod args;
mod evaluation;
mod every;
mod headline;
mod job;
mod layout;
mod log;
mod meter;
mod model;
mod patience;
mod pipe;
mod reading;
mod session;
mod shared;
mod stop;
mod summary;
mod watch;

use anyhow::Result;

use crate::Ending;
use crate::output::{note, print, print_json};
pub use args::TrainArgs;
use job::{Job, Report};
pub use log::{Event, Log, Reader};
use session::Session;
use stop::Stop;

/// Learns the text, and reports also when only a part of it could be learned.
pub fn run(args: TrainArgs) -> Result<Ending> {
    let job = Job::new(args)?;
    let log = Log::new(job.log);
    let stop = Stop::on_signals(log.clone())?;
    let report = job.report;
    let session = Session::begin(job, stop, log.clone())?;
    let (summary, result) = session.learn();
    log.clear();
    log.tell(&Event::End(&summary));
    match report {
        Report::Nothing => {}
        Report::ForPeople => print(&summary.to_string())?,
        Report::ForPeopleAside => note(summary.to_string().trim_end()),
        Report::Json => print_json(&summary)?,
    }
    result
}
