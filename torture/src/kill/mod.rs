//! SIGKILL at every file call in turn, and at random moments.

mod controls;
mod serve;
mod train;

use anyhow::Result;
use clap::Args;

use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Number of kills at random moments, of `serve` and of each way of training [default: 250, with --short 5]
    #[arg(long)]
    random: Option<u64>,
}

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    let random = options.random.unwrap_or(if torture.short { 5 } else { 250 });
    train::run(torture, random, report)?;
    serve::run(torture, random, report);
    controls::run(torture, random, report);
    Ok(())
}
