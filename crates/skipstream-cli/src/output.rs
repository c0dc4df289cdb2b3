//! What every command prints the same way.

use std::io::{self, Write};

use anyhow::{Context, Result};
use serde::Serialize;

/// Prints text on standard output. (`print!` would panic when the reader of a pipe has gone.)
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).context("standard output")
}

/// Prints a value as one line of JSON on standard output.
pub fn print_json(value: &impl Serialize) -> Result<()> {
    let json = serde_json::to_string(value).context("writing JSON")?;
    print(&(json + "\n"))
}
