//! The log on standard error.

use std::env;
use std::io::{self, IsTerminal};

use skipstream_server::LogFormat;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

/// Starts logging, by default as text to a terminal and as JSON elsewhere. `SKIPSTREAM_LOG=debug` logs more.
pub fn begin(format: Option<LogFormat>) {
    let at_terminal = io::stderr().is_terminal();
    let format = format.unwrap_or(if at_terminal { LogFormat::Text } else { LogFormat::Json });
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    // The service says itself what happens to a broker; its client would repeat that with each attempt.
    let filter = match env::var("SKIPSTREAM_LOG") {
        Ok(directives) => filter.parse_lossy(directives),
        Err(_) => filter.parse_lossy("info,async_nats=off,rskafka=off"),
    };
    // If standard error is closed or full, the service goes on without logging.
    let log = tracing_subscriber::fmt().log_internal_errors(false);
    let log = log.with_env_filter(filter).with_writer(io::stderr).with_target(false);
    match format {
        LogFormat::Text => log.with_ansi(at_terminal).init(),
        LogFormat::Json => log.json().flatten_event(true).init(),
    }
}
