//! `skipstream serve`.
//!
//! Combines flags, environment and settings file (`args.rs`). The service itself is the crate `skipstream-server`.

mod args;
mod log;

use anyhow::Result;
use clap::FromArgMatches;
use indicatif::DecimalBytes;
use skipstream::train::MemoryBound;
use skipstream::{Config, Trainer};
pub use skipstream_server::ServeSettings;
use skipstream_server::{Server, memory_bound};
use tracing::info;

use crate::Ending;
use crate::settings::{RequestedSettings, SettingsFile};
pub use args::ServeArgs;

/// Serves until it receives SIGINT or SIGTERM.
pub fn run(args: ServeArgs) -> Result<Ending> {
    let file = args.settings_file.as_deref().map(SettingsFile::read).transpose()?;
    let mut settings = file.as_ref().map(|file| file.serve.clone()).unwrap_or_default();
    settings.update_from_arg_matches(&args.service.0)?;
    settings.data = args.data;
    let _traces = log::begin(settings.log_format)?;
    let requested = RequestedSettings::new(args.settings, file);
    settings.text_is_chosen = requested.choose_text();

    let bound = |config: &Config| {
        let config = config.clone().check()?;
        Ok(memory_bound(&config, MemoryBound::new(&config), &settings))
    };
    let config = || requested.config_bounded(&bound);
    let agree = |trainer: &Trainer| {
        let bound = memory_bound(trainer.settings(), trainer.memory_bound(), &settings);
        requested.agree_with(trainer, bound)
    };
    let server = Server::open(settings.clone(), requested.threads, &config, &agree)?;
    server.stop_on_signals(|| std::process::exit(Ending::Interrupted.code().into()))?;
    let address = server.address()?;
    let bound = DecimalBytes(server.memory_bound());
    info!("listening on http://{address}/; send text to http://{address}/v1/text; memory limit {bound}");
    server.run()?;
    info!("stopped; the model is saved");
    Ok(Ending::Done)
}
