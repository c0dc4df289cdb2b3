//! `skipstream sync` in a program that was built without it.

use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::Args;

use crate::Ending;

/// Any arguments.
#[derive(Debug, Args)]
pub struct SyncArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub fn run(_: SyncArgs) -> Result<Ending> {
    bail!(
        "this program was built without `sync`; `cargo install --path crates/skipstream-cli` builds all of it"
    )
}
