//! Flags of `serve`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Deserialize;
use skipstream::Bytes;
use skipstream::Vectors;
use skipstream_server::{Index, ServeSettings};

use crate::args::one_of;
use crate::settings::SettingArgs;

/// Flags of `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream serve\n  \
    skipstream serve --data news --listen 127.0.0.1:8321 --dimensions 200 --lowercase\n  \
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
    pub service: ServiceArgs,

    #[command(flatten)]
    pub settings: SettingArgs,
}

/// Service settings given as flags or in a file. This is the one description of them: the help, the environment and the
/// file follow from it, and tests compare it with the table in `docs/service.md` and with the defaults.
#[derive(Clone, Debug, Default, Args, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Service settings")]
pub struct ServiceArgs {
    /// Address to listen on; anything but loopback requires --tokens [default: 127.0.0.1:8321]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<Address>,
    /// Token file: each line is `read`, `write` or `admin`, and a token
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Follow this file and learn its lines, like `tail -F`; can be repeated
    #[arg(long, value_name = "FILE")]
    pub follow: Vec<PathBuf>,
    /// Run this command and learn its output, and restart it when it exits; can be repeated
    #[arg(long, value_name = "COMMAND")]
    pub exec: Vec<String>,
    /// Vectors to publish: target, context or their sum [default: sum]
    #[arg(long, value_name = "WHICH", value_parser = one_of::<Vectors>(&["target", "context", "sum"]))]
    pub vectors: Option<Vectors>,
    /// Publish new vectors at this interval [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub publish_every: Option<Period>,
    /// How often to write a checkpoint [default: 60s]
    #[arg(long, value_name = "TIME")]
    pub checkpoint_every: Option<Period>,
    /// How often to save a snapshot, to see what changed [default: 1h]
    #[arg(long, value_name = "TIME")]
    pub snapshot_every: Option<Period>,
    /// Number of recent snapshots to keep [default: 48]
    #[arg(long, value_name = "N")]
    pub keep_recent: Option<usize>,
    /// Days to keep one older snapshot per day [default: 90]
    #[arg(long, value_name = "N")]
    pub keep_days: Option<usize>,
    /// Maximum number of words in a snapshot, most frequent first [default: 30000]
    #[arg(long, value_name = "N")]
    pub snapshot_words: Option<usize>,
    /// Send an event when this word moves; can be repeated
    #[arg(long, value_name = "WORD")]
    pub watch: Vec<String>,
    /// Neighbor search: exact, or hnsw, a graph that may miss some neighbors [default: exact]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Index>(&["exact", "hnsw"]))]
    pub index: Option<Index>,
    /// Capacity of the queue of text to learn; when it is full, uploads get status 429 [default: 256Mi]
    #[arg(long, value_name = "SIZE")]
    pub queue_size: Option<Bytes>,
    /// Maximum decompressed request size [default: 1Gi]
    #[arg(long, value_name = "SIZE")]
    pub max_body_size: Option<Bytes>,
    /// Maximum length of a line [default: 1Mi]
    #[arg(long, value_name = "SIZE")]
    pub max_line_size: Option<Bytes>,
    /// Maximum number of concurrent requests; more get status 503 [default: 512]
    #[arg(long, value_name = "N")]
    pub max_requests: Option<usize>,
    /// Request timeout; an upload may be idle for 120 times as long [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub request_timeout: Option<Period>,
    /// Allow web pages of this origin (https://example.org); can be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub cors_origin: Vec<String>,
    /// Log format [default: text at a terminal, json otherwise]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// Format of the log on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// JSON lines for programs.
    Json,
}

/// An address to listen on: `127.0.0.1:8321`, `localhost:8321`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Address(pub SocketAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let address = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
        address.map(Address).ok_or_else(|| {
            format!("invalid address `{text}`; expected an address and port such as 127.0.0.1:8321")
        })
    }
}

/// A duration: `2s`, `5m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Period(pub Duration);

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Period, String> {
        humantime::parse_duration(text)
            .map(Period)
            .map_err(|error| format!("invalid duration `{text}`; expected one such as 2s or 5m: {error}"))
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        text.parse()
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Period, String> {
        text.parse()
    }
}

impl ServiceArgs {
    /// These settings, and those of a file where they leave gaps.
    pub fn or(self, file: ServiceArgs) -> ServiceArgs {
        fn list<T>(given: Vec<T>, file: Vec<T>) -> Vec<T> {
            if given.is_empty() { file } else { given }
        }
        ServiceArgs {
            listen: self.listen.or(file.listen),
            tokens: self.tokens.or(file.tokens),
            follow: list(self.follow, file.follow),
            exec: list(self.exec, file.exec),
            vectors: self.vectors.or(file.vectors),
            publish_every: self.publish_every.or(file.publish_every),
            checkpoint_every: self.checkpoint_every.or(file.checkpoint_every),
            snapshot_every: self.snapshot_every.or(file.snapshot_every),
            keep_recent: self.keep_recent.or(file.keep_recent),
            keep_days: self.keep_days.or(file.keep_days),
            snapshot_words: self.snapshot_words.or(file.snapshot_words),
            watch: list(self.watch, file.watch),
            index: self.index.or(file.index),
            queue_size: self.queue_size.or(file.queue_size),
            max_body_size: self.max_body_size.or(file.max_body_size),
            max_line_size: self.max_line_size.or(file.max_line_size),
            max_requests: self.max_requests.or(file.max_requests),
            request_timeout: self.request_timeout.or(file.request_timeout),
            cors_origin: list(self.cors_origin, file.cors_origin),
            log_format: self.log_format.or(file.log_format),
        }
    }

    /// The settings of a service in this folder.
    pub fn settings(self, data: PathBuf) -> ServeSettings {
        let default = ServeSettings::default();
        let period = |given: Option<Period>, default| given.map_or(default, |period| period.0);
        let size = |given: Option<Bytes>, default| given.map_or(default, u64::from);
        ServeSettings {
            data,
            listen: self.listen.map_or(default.listen, |address| address.0),
            tokens: self.tokens,
            follow: self.follow,
            exec: self.exec,
            vectors: self.vectors.unwrap_or(default.vectors),
            publish_every: period(self.publish_every, default.publish_every),
            checkpoint_every: period(self.checkpoint_every, default.checkpoint_every),
            snapshot_every: period(self.snapshot_every, default.snapshot_every),
            keep_recent: self.keep_recent.unwrap_or(default.keep_recent),
            keep_days: self.keep_days.unwrap_or(default.keep_days),
            snapshot_words: self.snapshot_words.unwrap_or(default.snapshot_words),
            watch: self.watch,
            index: self.index.unwrap_or(default.index),
            queue_bytes: size(self.queue_size, default.queue_bytes),
            max_body_bytes: size(self.max_body_size, default.max_body_bytes),
            max_line_bytes: size(self.max_line_size, default.max_line_bytes as u64) as usize,
            max_requests: self.max_requests.unwrap_or(default.max_requests),
            request_timeout: period(self.request_timeout, default.request_timeout),
            cors_origins: self.cors_origin,
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, Parser};

    use super::*;

    #[derive(Parser)]
    struct Only {
        #[command(flatten)]
        service: ServiceArgs,
    }

    /// Each flag with its help and its default.
    fn flags() -> Vec<(clap::Arg, String, Option<String>)> {
        let command = ServiceArgs::augment_args(Command::new("serve"));
        let flags = command.get_arguments().map(|flag| {
            let help = flag.get_help().unwrap().to_string();
            match help.split_once(" [default: ") {
                Some((help, default)) => {
                    let default = default.strip_suffix(']').unwrap().to_owned();
                    (flag.clone(), help.to_owned(), Some(default))
                }
                None => (flag.clone(), help, None),
            }
        });
        flags.collect()
    }

    #[test]
    fn the_table_in_the_documentation_is_the_help() {
        let mut table = String::new();
        for (flag, help, default) in flags() {
            let value = flag.get_value_names().unwrap()[0].as_str();
            let name = flag.get_long().unwrap();
            table.push_str(&format!("| `--{name} {value}` | {help} | {} |\n", default.unwrap_or_default()));
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/service.md");
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.contains(&table), "docs/service.md should contain:\n{table}");
    }

    #[test]
    fn the_defaults_in_the_help_are_those_of_the_service() {
        let defaults = flags().into_iter().filter(|(flag, ..)| flag.get_id() != "log_format");
        let defaults = defaults.filter_map(|(flag, _, default)| Some((flag, default?)));
        let arguments =
            defaults.flat_map(|(flag, default)| [format!("--{}", flag.get_long().unwrap()), default]);
        let only = Only::parse_from(["serve".to_owned()].into_iter().chain(arguments));
        let default = ServeSettings::default();
        assert_eq!(only.service.settings(default.data.clone()), default);
    }

    #[test]
    fn every_flag_is_a_key_of_the_file() {
        for (flag, ..) in flags() {
            // A wrong type shows that the key is known.
            let error = toml::from_str::<ServiceArgs>(&format!("{} = {{}}", flag.get_id())).unwrap_err();
            assert!(!error.to_string().contains("unknown field"), "{error}");
        }
    }
}
