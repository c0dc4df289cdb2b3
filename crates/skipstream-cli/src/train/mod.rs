//! `skipstream train`.
//!
//! `job.rs` checks the arguments. `session.rs` runs the job: it trains, saves at checkpoints and at the end, and pauses when
//! `stop.rs` receives a signal. `model.rs` creates or loads the model; `reading.rs`, `pipe.rs` and `patience.rs` provide the
//! text. `watch.rs` observes training and reports when a checkpoint or an evaluation (`evaluation.rs`) is due (`every.rs`).
//! `meter.rs` computes progress figures, `log.rs` writes them, and `summary.rs` is the final report.

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
pub use log::{Event, Log, LogKind};
use session::Session;
use stop::Stop;

/// Learns the text and prints a summary, even if only part of it could be learned.
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
