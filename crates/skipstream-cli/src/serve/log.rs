//! What happens, on standard error.

use std::io::{self, IsTerminal};

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::args::LogFormat;

/// Tells from now on what happens: to people at a terminal, to programs elsewhere, unless one of them was asked for.
pub fn begin(format: Option<LogFormat>) {
    let at_terminal = io::stderr().is_terminal();
    let format = format.unwrap_or(if at_terminal { LogFormat::Text } else { LogFormat::Json });
    // `SKIPSTREAM_LOG=debug` tells more.
    let filter = EnvFilter::builder()
        .with_default_directive(LevelFilter::INFO.into())
        .with_env_var("SKIPSTREAM_LOG")
        .from_env_lossy();
    // A log that nobody reads any more, or that has no room, is no reason to stop: to tell of it would be to panic.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(io::stderr).with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(at_terminal).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
