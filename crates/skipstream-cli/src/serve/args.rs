//! What can be typed after `serve`.

use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use skipstream::Vectors;
use skipstream::units::Bytes;
use skipstream_server::ServeSettings;
use skipstream_server::settings::Index;

use crate::args::one_of;
use crate::settings::SettingArgs;

/// What was typed after `serve`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream serve\n  \
    skipstream serve --data news --listen 127.0.0.1:8321 --dimensions 200 --lowercase\n  \
    skipstream serve --data posts --follow posts.log --exec 'tail -F other.log'\n  \
    skipstream serve --data shared --listen 0.0.0.0:8321 --tokens tokens.txt\n\n\
    And then, elsewhere:\n  \
    curl -T corpus.txt http://127.0.0.1:8321/v1/text\n  \
    curl http://127.0.0.1:8321/v1/words/berlin/neighbors\n\n\
    The page is at http://127.0.0.1:8321/, the description of all requests at /docs.\n\n\
    Every option can also be given by the environment, as SKIPSTREAM_ and its name (SKIPSTREAM_MAX_VOCABULARY=500000), or in \
    the file of --settings: those of the model as they are, those of the service in a table [serve]. A flag stands above the \
    environment, and both stand above the file.")]
pub struct ServeArgs {
    /// The folder of the service: text that is not learned yet, the model, kept snapshots; made where there is none
    #[arg(long, value_name = "DIR", default_value = "skipstream-data")]
    pub data: PathBuf,
    /// A TOML file with settings, named like the flags with `_` for `-`
    #[arg(long = "settings", value_name = "FILE.toml")]
    pub settings_file: Option<PathBuf>,

    #[command(flatten)]
    pub service: ServiceArgs,

    #[command(flatten)]
    pub settings: SettingArgs,
}

/// The settings of the service that were typed or stand in a file; the others are as by default.
#[derive(Clone, Debug, Default, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "The service")]
pub struct ServiceArgs {
    /// Where to listen; anything but this machine itself needs --tokens [default: 127.0.0.1:8321]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub listen: Option<Address>,
    /// A file with a line `read TOKEN`, `write TOKEN` or `admin TOKEN` for each who may ask, send text, or manage
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// Learn this file too as it grows, as `tail -F` does; may be given several times
    #[arg(long, value_name = "FILE")]
    pub follow: Vec<PathBuf>,
    /// Learn what this command prints, too, and start it again when it ends; may be given several times
    #[arg(long, value_name = "COMMAND")]
    pub exec: Vec<String>,
    /// Which vectors are shown: of words as centers, as contexts, or the sum [default: sum]
    #[arg(long, value_name = "WHICH", value_parser = one_of::<Vectors>(&["target", "context", "sum"]))]
    pub vectors: Option<Vectors>,
    /// While there is new text, show it after so long [default: 2s]
    #[arg(long, value_name = "TIME")]
    pub publish_every: Option<Period>,
    /// Save the model so often [default: 60s]
    #[arg(long, value_name = "TIME")]
    pub checkpoint_every: Option<Period>,
    /// Keep a snapshot of the vectors so often, to see what changed [default: 1h]
    #[arg(long, value_name = "TIME")]
    pub snapshot_every: Option<Period>,
    /// So many of the newest snapshots stay [default: 48]
    #[arg(long, value_name = "N")]
    pub keep_recent: Option<usize>,
    /// Of those before them, one a day stays, for so many days [default: 90]
    #[arg(long, value_name = "N")]
    pub keep_days: Option<usize>,
    /// A kept snapshot has so many words at the most, the most frequent ones [default: 30000]
    #[arg(long, value_name = "N")]
    pub snapshot_words: Option<usize>,
    /// Tell when this word moves; may be given several times
    #[arg(long, value_name = "WORD")]
    pub watch: Vec<String>,
    /// How neighbours are found: all words are compared, or a graph is searched that may miss some [default: exact]
    #[arg(long, value_name = "NAME", value_parser = one_of::<Index>(&["exact", "hnsw"]))]
    pub index: Option<Index>,
    /// Text that may wait to be learned; who sends more is asked to come back later [default: 256Mi]
    #[arg(long, value_name = "SIZE")]
    pub queue_size: Option<Bytes>,
    /// A request may be so long, after it was decompressed [default: 1Gi]
    #[arg(long, value_name = "SIZE")]
    pub max_body_size: Option<Bytes>,
    /// A line may be so long [default: 1Mi]
    #[arg(long, value_name = "SIZE")]
    pub max_line_size: Option<Bytes>,
    /// So many requests are answered at the same time; more are turned away [default: 512]
    #[arg(long, value_name = "N")]
    pub max_requests: Option<usize>,
    /// A request may take so long, and text that is sent may pause so long [default: 30s]
    #[arg(long, value_name = "TIME")]
    pub request_timeout: Option<Period>,
    /// Let pages of this origin (https://example.org) ask; may be given several times
    #[arg(long, value_name = "ORIGIN")]
    pub cors_origin: Vec<String>,
    /// How to tell on standard error what happens [default: text at a terminal, json elsewhere]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

/// How to tell what happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// Lines of JSON.
    Json,
}

/// Where to listen, as it is typed: `127.0.0.1:8321`, `localhost:8321`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Address(pub SocketAddr);

impl FromStr for Address {
    type Err = String;

    fn from_str(text: &str) -> Result<Address, String> {
        let address = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
        address.map(Address).ok_or_else(|| {
            format!("`{text}` is not an address of this machine with a port, such as 127.0.0.1:8321")
        })
    }
}

impl TryFrom<String> for Address {
    type Error = String;

    fn try_from(text: String) -> Result<Address, String> {
        text.parse()
    }
}

impl From<Address> for String {
    fn from(address: Address) -> String {
        address.0.to_string()
    }
}

/// A time, as it is typed: `2s`, `5m`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Period(pub Duration);

impl FromStr for Period {
    type Err = String;

    fn from_str(text: &str) -> Result<Period, String> {
        humantime::parse_duration(text)
            .map(Period)
            .map_err(|error| format!("`{text}` is not a time such as 2s or 5m: {error}"))
    }
}

impl TryFrom<String> for Period {
    type Error = String;

    fn try_from(text: String) -> Result<Period, String> {
        text.parse()
    }
}

impl From<Period> for String {
    fn from(period: Period) -> String {
        humantime::format_duration(period.0).to_string()
    }
}

impl ServiceArgs {
    /// What was typed, on top of what a file says.
    pub fn above(self, file: ServiceArgs) -> ServiceArgs {
        fn list<T>(typed: Vec<T>, file: Vec<T>) -> Vec<T> {
            if typed.is_empty() { file } else { typed }
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
        let period = |asked: Option<Period>, default| asked.map_or(default, |period| period.0);
        let size = |asked: Option<Bytes>, default| asked.map_or(default, u64::from);
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
