//! `skipstream serve` in a program that was built without the service.

use std::ffi::OsString;

use anyhow::{Result, bail};
use clap::Args;

use crate::Ending;

/// The table `[serve]` of a settings file, which is not read here.
pub type ServeSettings = toml::Table;

/// Any arguments.
#[derive(Debug, Args)]
pub struct ServeArgs {
    #[arg(hide = true, trailing_var_arg = true, allow_hyphen_values = true)]
    arguments: Vec<OsString>,
}

pub fn run(_: ServeArgs) -> Result<Ending> {
    bail!(
        "this program was built without `serve`; `cargo install --path crates/skipstream-cli` builds all of it"
    )
}
