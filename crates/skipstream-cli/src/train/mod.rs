//! `skipstream train`.
//!
//! `job.rs` checks the arguments and creates or loads the model. `session.rs` runs the job: it trains, saves at checkpoints
//! and at the end, and pauses when `stop.rs` receives a signal. `reading.rs` and `followed.rs` provide the text. `watch.rs`
//! observes training and reports when a checkpoint or an evaluation (`evaluation.rs`) is due (`every.rs`). `meter.rs`
//! computes progress figures, `log.rs` writes them, and `summary.rs` is the final report.

#[cfg(not(feature = "brokers"))]
mod absent;
mod args;
mod evaluation;
mod every;
mod followed;
mod headline;
mod job;
mod log;
mod meter;
mod reading;
mod session;
mod stop;
mod summary;
mod watch;

use anyhow::Result;

use crate::Ending;
use crate::output::{note, print, print_json};
pub use args::TrainArgs;
use job::Job;
pub use log::{Event, Log, LogKind};
use session::Session;
use stop::Stop;
use summary::Outcome;

/// Learns the text and prints a summary.
pub fn run(args: TrainArgs) -> Result<Ending> {
    let log = Log::new(match (args.log_json, args.quiet, args.verbose) {
        (true, ..) => LogKind::Json,
        (_, true, _) => LogKind::Quiet,
        (_, _, true) => LogKind::Verbose,
        _ => LogKind::Text,
    });
    let TrainArgs { json, quiet, .. } = args;
    let prints_scores = !args.eval.is_empty();
    let job = Job::new(args)?;
    let stop = Stop::on_signals(log.clone())?;
    let (summary, result) = Session::begin(job, stop, log.clone())?.learn();
    log.clear();
    for message in summary.warnings() {
        log.tell(&Event::Warning { message: &message });
    }
    log.tell(&Event::End(&summary));
    if json {
        print_json(&summary)?;
    } else if (prints_scores || summary.outcome == Outcome::Failed) && !quiet {
        note(summary.to_string().trim_end());
    } else if !quiet {
        print(&summary.to_string())?;
    }
    result
}
