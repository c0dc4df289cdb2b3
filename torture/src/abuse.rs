//! Abuse of the service, row by row.

use anyhow::{Result, bail};
use clap::Args;

use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {}

pub fn run(_torture: &Torture, _options: &Options, _report: &mut Report) -> Result<()> {
    bail!("this attack is not written yet")
}
