//! Abuse of the service, row by row: clients that do nothing, that do not read, that are slow, that ask for too much, and a
//! disk that fails.
//!
//! `rows.rs` and `broken.rs` have the attacks, `target.rs` the service under attack.

mod broken;
mod rows;
pub mod target;

use anyhow::{Result, bail};
use clap::Args;

use crate::{Report, Torture};

#[derive(Args)]
pub struct Options {
    /// Run only this attack
    row: Option<String>,
}

/// A name, and the attack of a service of its own.
type Row = (&'static str, fn(&Torture, &mut Report) -> Result<()>);

const ROWS: [Row; 13] = [
    ("idle", rows::idle),
    ("pipeline", rows::pipeline),
    ("slow-export", rows::slow_export),
    ("long-export", rows::long_export),
    ("unread", rows::unread),
    ("trickle", rows::trickle),
    ("stalled", rows::stalled),
    ("heavy", rows::heavy),
    ("sigterm", broken::sigterm),
    ("deleted", broken::deleted),
    ("damaged", broken::damaged),
    ("full-disk", broken::full_disk),
    ("diverged", broken::diverged),
];

pub fn run(torture: &Torture, options: &Options, report: &mut Report) -> Result<()> {
    target::raise_file_limit();
    let mut any = false;
    for (name, attack) in ROWS {
        if options.row.as_deref().is_none_or(|row| row == name) {
            any = true;
            if let Err(error) = attack(torture, report) {
                report.check(name, false, format_args!("{error:#}"));
            }
        }
    }
    if !any {
        bail!("unknown attack; expected one of {}", ROWS.map(|(name, _)| name).join(", "));
    }
    Ok(())
}
