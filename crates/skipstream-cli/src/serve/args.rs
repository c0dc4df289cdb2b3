//! Flags of `serve`.

use std::path::PathBuf;

use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use skipstream_server::ServeSettings;

use crate::settings::SettingArgs;

/// Flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream serve --text prose\n  \
    skipstream serve --data news --listen 127.0.0.1:8321 --dimensions 200 --text prose\n  \
    skipstream serve --data posts --follow posts.log --exec 'tail -F other.log'\n  \
    skipstream serve --data shared --listen 0.0.0.0:8321 --tokens tokens.txt\n\n\
    Send text and query from another terminal:\n  \
    curl -T corpus.txt http://127.0.0.1:8321/v1/text\n  \
    curl http://127.0.0.1:8321/v1/words/berlin/neighbors\n\n\
    The web page is at http://127.0.0.1:8321/, the API documentation at /docs.\n\n\
    Every option can also be set by an environment variable, SKIPSTREAM_ and its name (SKIPSTREAM_MAX_VOCABULARY=500000), or in \
    the --settings file: model settings at the top level, service settings in the table [serve]. Flags take precedence over the \
    environment, and both over the file.")]
pub struct ServeArgs {
    /// Data folder for the log, the model and the snapshots; created if missing
    #[arg(long, value_name = "DIR", default_value = "skipstream-data")]
    pub data: PathBuf,
    /// TOML file with settings, named like the flags with `_` instead of `-`
    #[arg(long = "settings", value_name = "FILE.toml")]
    pub settings_file: Option<PathBuf>,

    #[command(flatten)]
    pub service: ServiceFlags,

    #[command(flatten)]
    pub settings: SettingArgs,
}

/// Service settings from flags and the environment. They change those of the settings file.
#[derive(Debug)]
pub struct ServiceFlags(pub ArgMatches);

impl Args for ServiceFlags {
    fn augment_args(command: Command) -> Command {
        ServeSettings::augment_args_for_update(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        ServeSettings::augment_args_for_update(command)
    }
}

impl FromArgMatches for ServiceFlags {
    fn from_arg_matches(matches: &ArgMatches) -> Result<ServiceFlags, Error> {
        Ok(ServiceFlags(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0 = matches.clone();
        Ok(())
    }
}
