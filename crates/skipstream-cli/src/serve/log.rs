//! The log on standard error, and the traces for OpenTelemetry.

use std::env;
use std::io::{self, IsTerminal};

use anyhow::Result;
use skipstream_server::LogFormat;
use tracing_subscriber::filter::{FilterExt, LevelFilter, filter_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

/// Sends traces until it is dropped.
#[cfg(feature = "otel")]
pub type Traces = Option<skipstream_server::Exporter>;
#[cfg(not(feature = "otel"))]
pub struct Traces;

/// Starts logging, by default as text to a terminal and as JSON elsewhere. `SKIPSTREAM_LOG=debug` logs more.
pub fn begin(format: Option<LogFormat>) -> Result<Traces> {
    let at_terminal = io::stderr().is_terminal();
    let format = format.unwrap_or(if at_terminal { LogFormat::Text } else { LogFormat::Json });
    let filter = EnvFilter::builder().with_default_directive(LevelFilter::INFO.into());
    // The service says itself what happens to a broker; its client would repeat that with each attempt.
    let filter = match env::var("SKIPSTREAM_LOG") {
        Ok(directives) => filter.parse_lossy(directives),
        Err(_) => filter.parse_lossy("info,async_nats=off,rskafka=off"),
    };
    // If standard error is closed or full, the service goes on without logging.
    let log = tracing_subscriber::fmt::layer().log_internal_errors(false);
    let log = log.with_writer(io::stderr).with_target(false);
    let log = match format {
        LogFormat::Text => log.with_ansi(at_terminal).boxed(),
        LogFormat::Json => log.json().flatten_event(true).boxed(),
    };
    // Spans are for traces.
    let log = log.with_filter(filter.and(filter_fn(|metadata| metadata.is_event())));
    let subscriber = tracing_subscriber::registry().with(log);
    #[cfg(feature = "otel")]
    {
        let traces = skipstream_server::Exporter::from_environment()?;
        subscriber.with(traces.as_ref().map(|traces| traces.layer())).init();
        Ok(traces)
    }
    #[cfg(not(feature = "otel"))]
    {
        subscriber.init();
        Ok(Traces)
    }
}
