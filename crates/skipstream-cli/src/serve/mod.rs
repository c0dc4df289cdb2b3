//! `skipstream serve`.
//!
//! Combines flags, environment and settings file (`args.rs`). The service itself is the crate `skipstream-server`.

mod args;
mod log;

use std::fs;

use anyhow::{Result, bail};
use clap::FromArgMatches;
use indicatif::DecimalBytes;
use skipstream::train::MemoryBound;
use skipstream::{Config, Trainer};
pub use skipstream_server::ServeSettings;
use skipstream_server::{Server, memory_bound};
use tracing::{info, warn};

use crate::Ending;
use crate::hints::SERVE_A_MODEL;
use crate::settings::{RequestedSettings, SettingsFile};
pub use args::ServeArgs;

/// Serves until it receives SIGINT or SIGTERM.
pub fn run(args: ServeArgs) -> Result<Ending> {
    if args.data.is_file() {
        bail!("{}: this is a file; use the name of a folder; {SERVE_A_MODEL}", args.data.display());
    }
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
    if let Some(message) = machine_memory().and_then(|most| excess(server.memory_bound(), most)) {
        warn!("{message}");
    }
    let bound = DecimalBytes(server.memory_bound());
    info!("listening on http://{address}/; send text to http://{address}/v1/text; memory limit {bound}");
    server.run()?;
    info!("stopped; the model is saved");
    Ok(Ending::Done)
}

/// The warning that a service may need more memory than the machine has.
fn excess(bound: u64, machine: u64) -> Option<String> {
    let (bound, most) = (DecimalBytes(bound), DecimalBytes(machine));
    (bound.0 > machine).then(|| {
        format!(
            "these settings allow up to {bound} of memory, and this machine has {most}; lower --max-line-size, --max-requests or \
             --max-vocabulary, or set --memory"
        )
    })
}

/// The memory of this machine in bytes, where Linux says it.
fn machine_memory() -> Option<u64> {
    let table = fs::read_to_string("/proc/meminfo").ok()?;
    let total = table.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_memory_than_the_machine_has_is_a_warning() {
        assert_eq!(excess(8_000_000_000, 8_000_000_000), None);
        let message = excess(358_000_000_000, 8_000_000_000).unwrap();
        assert!(
            message.starts_with(
                "these settings allow up to 358.00 GB of memory, and this machine has 8.00 GB; "
            )
        );
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_memory_of_this_machine_is_known() {
        assert!(machine_memory().unwrap() > 100_000_000);
    }
}
