//! Power loss at every moment: from a journal of all file calls, everything that the disk may hold is tried.

mod disk;
mod journal;
mod serve;
mod train;

use anyhow::Result;
use clap::Args;

use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Outcomes of a power loss to try at each moment, beside the regular ones [default: 6, with --short 1]
    #[arg(long)]
    outcomes: Option<u64>,
}

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    let outcomes = options.outcomes.unwrap_or(if torture.short { 1 } else { 6 });
    train::run(torture, outcomes, report)?;
    serve::run(torture, outcomes, report);
    Ok(())
}
