//! Settings of the service: the one description that the flags of `serve`, the table `[serve]` of the settings file and
//! docs/operations/configure.md follow.

use std::net::{IpAddr, Ipv4Addr, SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize};
use skipstream::embeddings::SubwordOptions;
use skipstream::{Bytes, Vectors};

/// Limit on concurrent uploads.
pub(crate) const MAX_TEXTS: usize = 128;

/// Limit on concurrent downloads.
pub(crate) const MAX_DOWNLOADS: usize = 8;

/// Downloads read at most this many published versions, so that they keep few in memory. With one, downloads that overlap
/// would keep reading an old one indefinitely.
pub(crate) const DOWNLOADED_VERSIONS: usize = 2;

/// How many heavy requests are worked on at a time. Each may read a published version of its own.
pub(crate) const HEAVY_REQUESTS: usize = 2;

/// Limit on a JSON request body in bytes: a thousand vectors of 300 dimensions fit.
pub(crate) const MAX_JSON_BYTES: usize = 4 << 20;

/// The memory that a JSON body needs per byte: itself, and at worst three times as much for the parsed values.
pub(crate) const MEMORY_PER_JSON_BYTE: usize = 4;

/// JSON bodies and answers above this size in bytes share [`LONG_BYTES`].
pub(crate) const SHORT_BYTES: usize = 64 << 10;

/// Memory in bytes for all long JSON bodies and answers.
pub(crate) const LONG_BYTES: usize = 128 << 20;

/// Memory in bytes for each broker that is read: a few megabytes are requested at a time, and grow when they are decompressed. (A
/// broker that allows larger messages needs more.)
pub(crate) const SOURCE_BYTES: u64 = 32 << 20;

/// Settings of the service. Those of the model are [`skipstream::Config`].
#[derive(Clone, Debug, PartialEq, Args, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
#[command(next_help_heading = "Service settings")]
pub struct ServeSettings {
    /// Data folder: log, model and snapshots.
    #[arg(skip)]
    #[serde(skip)]
    pub data: PathBuf,
    /// Whether the settings that make words of the text were chosen: then nothing is said about prose.
    #[arg(skip)]
    #[serde(skip)]
    pub text_is_chosen: bool,
    /// Address to listen on; anything but loopback requires --tokens [default: 127.0.0.1:8321]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = address)]
    #[serde(deserialize_with = "address_in_file")]
    pub listen: SocketAddr,
    /// Token file: each line is `read`, `write` or `admin`, and a token
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing)]
    pub tokens: Option<PathBuf>,
    /// Follow this file and learn its lines, like `tail -F`; can be repeated
    #[arg(long, value_name = "FILE")]
    #[serde(skip_serializing)]
    pub follow: Vec<PathBuf>,
    /// Run this command and learn its output, and restart it when it exits; can be repeated
    #[arg(long, value_name = "COMMAND")]
    #[serde(skip_serializing)]
    pub exec: Vec<String>,
    /// Learn the messages of NATS JetStream or Kafka: nats://HOST/STREAM, kafka://HOST/TOPIC; can be repeated
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing)]
    pub source: Vec<String>,
    /// Send events and the vectors of watched words to NATS JetStream or Kafka: nats://HOST/SUBJECT, kafka://HOST/TOPIC
    #[arg(long, value_name = "URL")]
    #[serde(skip_serializing)]
    pub publish: Option<String>,
    /// Vectors to publish.
    #[arg(long, value_name = "WHICH", value_parser = vectors(), help = format!(
        "Vectors to publish: target, context, their sum, or both joined, twice as long [default: {}]", Vectors::DEFAULT
    ))]
    pub vectors: Vectors,
    /// Rows of the table that estimates unknown words from their n-grams, for queries with subwords=true; 0 for none [default: 0]
    #[arg(long, value_name = "N")]
    pub subword_buckets: usize,
    /// Publish new vectors at this interval [default: 2s]
    #[arg(long, value_name = "TIME", value_parser = period)]
    #[serde(with = "period_in_file")]
    pub publish_every: Duration,
    /// How often to write a checkpoint [default: 60s]
    #[arg(long, value_name = "TIME", value_parser = period)]
    #[serde(with = "period_in_file")]
    pub checkpoint_every: Duration,
    /// How often to save a snapshot, to see what changed [default: 1h]
    #[arg(long, value_name = "TIME", value_parser = period)]
    #[serde(with = "period_in_file")]
    pub snapshot_every: Duration,
    /// Number of recent snapshots to keep [default: 48]
    #[arg(long, value_name = "N")]
    pub keep_recent: usize,
    /// Days to keep one older snapshot per day [default: 90]
    #[arg(long, value_name = "N")]
    pub keep_days: usize,
    /// Maximum number of words in a snapshot, most frequent first [default: 30000]
    #[arg(long, value_name = "N")]
    pub snapshot_words: usize,
    /// Send an event when this word moves; can be repeated
    #[arg(long, value_name = "WORD")]
    pub watch: Vec<String>,
    /// Neighbor search: exact, or hnsw, a graph that may miss some neighbors [default: exact]
    #[arg(long, value_name = "NAME")]
    pub index: Index,
    /// Start although acknowledged lines up to this one are lost; the refusal to start names the number
    #[arg(long, value_name = "LINE")]
    pub accept_loss: Option<u64>,
    /// Capacity of the queue of text to learn; when it is full, uploads get status 429 [default: 256Mi]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[serde(with = "size_in_file")]
    pub queue_size: u64,
    /// Maximum decompressed request size [default: 1Gi]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[serde(with = "size_in_file")]
    pub max_body_size: u64,
    /// Maximum length of a line [default: 1Mi]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    #[serde(with = "size_in_file")]
    pub max_line_size: u64,
    /// Maximum number of concurrent requests in each lane; more get status 503 [default: 512]
    #[arg(long, value_name = "N")]
    pub max_requests: usize,
    /// Maximum number of open connections; at the limit, the longest idle one is closed for a new one [default: 1024]
    #[arg(long, value_name = "N")]
    pub max_connections: usize,
    /// Maximum number of open connections per client address [default: 256]
    #[arg(long, value_name = "N")]
    pub max_connections_per_address: usize,
    /// Request timeout; an upload may be idle for 120 times as long [default: 30s]
    #[arg(long, value_name = "TIME", value_parser = period)]
    #[serde(with = "period_in_file")]
    pub request_timeout: Duration,
    /// After SIGTERM, answer queries for this long without being ready, so that load balancers notice [default: 5s]
    #[arg(long, value_name = "TIME", value_parser = period)]
    #[serde(with = "period_in_file")]
    pub drain_time: Duration,
    /// Origins of other web pages that may use the service.
    #[arg(
        long,
        value_name = "ORIGIN",
        help = "Allow web pages of this origin (https://example.org); can be repeated"
    )]
    pub cors_origin: Vec<String>,
    /// Log format [default: text at a terminal, json otherwise]
    #[arg(long, value_name = "FORMAT")]
    pub log_format: Option<LogFormat>,
}

impl ServeSettings {
    /// Refuses limits of 0, with which no request would ever be answered.
    pub(crate) fn check(&self) -> crate::error::Result<()> {
        let limits = [
            ("queue_size", self.queue_size),
            ("max_body_size", self.max_body_size),
            ("max_line_size", self.max_line_size),
            ("max_requests", self.max_requests as u64),
            ("max_connections", self.max_connections as u64),
            ("max_connections_per_address", self.max_connections_per_address as u64),
            ("request_timeout", self.request_timeout.as_nanos().min(1) as u64),
        ];
        if let Some(options) = self.subwords() {
            options.check()?;
        }
        match limits.iter().find(|(_, limit)| *limit == 0) {
            Some((name, _)) => {
                Err(crate::error::Error::Setting(format!("{name} is 0; it must be more than 0")))
            }
            None => Ok(()),
        }
    }

    /// The table that estimates unknown words, if there is one.
    pub(crate) fn subwords(&self) -> Option<SubwordOptions> {
        let options = SubwordOptions { buckets: self.subword_buckets, ..SubwordOptions::default() };
        (self.subword_buckets > 0).then_some(options)
    }

    /// The name and meaning of each setting.
    pub(crate) fn help() -> Vec<(String, String)> {
        let command = ServeSettings::augment_args_for_update(clap::Command::new("serve"));
        let help = |flag: &clap::Arg| {
            let help = flag.get_help().map(ToString::to_string).unwrap_or_default();
            let help = help.split_once(" [default: ").map_or(help.as_str(), |(help, _)| help).to_owned();
            (flag.get_id().to_string(), help)
        };
        command.get_arguments().map(help).collect()
    }
}

/// How neighbors are searched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// Compare with every word.
    Exact,
    /// Search a graph, which may miss some neighbors: for large vocabularies.
    Hnsw,
}

/// Format of the log on standard error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogFormat {
    /// Text for people.
    Text,
    /// JSON lines for programs.
    Json,
}

impl Default for ServeSettings {
    fn default() -> ServeSettings {
        ServeSettings {
            data: PathBuf::from("skipstream-data"),
            text_is_chosen: false,
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8321),
            tokens: None,
            follow: Vec::new(),
            exec: Vec::new(),
            source: Vec::new(),
            publish: None,
            vectors: Vectors::default(),
            subword_buckets: 0,
            publish_every: Duration::from_secs(2),
            checkpoint_every: Duration::from_secs(60),
            snapshot_every: Duration::from_secs(3600),
            keep_recent: 48,
            keep_days: 90,
            snapshot_words: 30_000,
            watch: Vec::new(),
            index: Index::Exact,
            accept_loss: None,
            queue_size: 256 << 20,
            max_body_size: 1 << 30,
            max_line_size: 1 << 20,
            max_requests: 512,
            max_connections: 1_024,
            max_connections_per_address: 256,
            request_timeout: Duration::from_secs(30),
            drain_time: Duration::from_secs(5),
            cors_origin: Vec::new(),
            log_format: None,
        }
    }
}

/// An address to listen on: `127.0.0.1:8321`, `localhost:8321`.
fn address(text: &str) -> Result<SocketAddr, String> {
    let address = text.to_socket_addrs().ok().and_then(|mut addresses| addresses.next());
    address.ok_or_else(|| {
        format!("invalid address `{text}`; expected an address and port such as 127.0.0.1:8321")
    })
}

fn address_in_file<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SocketAddr, D::Error> {
    address(&String::deserialize(deserializer)?).map_err(D::Error::custom)
}

/// A duration: `2s`, `5m`.
fn period(text: &str) -> Result<Duration, String> {
    humantime::parse_duration(text)
        .map_err(|error| format!("invalid duration `{text}`; expected one such as 2s or 5m: {error}"))
}

/// In files and in JSON.
mod period_in_file {
    use serde::{Serialize, Serializer};

    use super::*;

    pub fn serialize<S: Serializer>(period: &Duration, serializer: S) -> Result<S::Ok, S::Error> {
        humantime::format_duration(*period).to_string().serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Duration, D::Error> {
        period(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

/// A size in bytes: `256Mi`.
fn size(text: &str) -> Result<u64, String> {
    text.parse().map(|Bytes(bytes)| bytes)
}

/// In files and in JSON.
mod size_in_file {
    use serde::{Serialize, Serializer};

    use super::*;

    pub fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        let units = [(30, "Gi"), (20, "Mi"), (10, "Ki"), (0, "")];
        let unit = units.into_iter().find(|(bits, _)| bytes.is_multiple_of(1 << bits));
        let (bits, unit) = unit.unwrap_or_default();
        format!("{}{unit}", bytes >> bits).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
        Bytes::deserialize(deserializer).map(|Bytes(bytes)| bytes)
    }
}

fn vectors() -> impl TypedValueParser<Value = Vectors> {
    PossibleValuesParser::new(Vectors::NAMES).try_map(|name| serde_json::from_value::<Vectors>(name.into()))
}

#[cfg(test)]
mod tests {
    use clap::{Command, FromArgMatches};

    use super::*;

    /// Each flag with its help and its default.
    fn flags() -> Vec<(clap::Arg, String, Option<String>)> {
        let command = ServeSettings::augment_args_for_update(Command::new("serve"));
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
    fn limits_of_zero_are_refused() {
        assert!(ServeSettings::default().check().is_ok());
        let none = ServeSettings { max_requests: 0, ..ServeSettings::default() };
        assert_eq!(none.check().unwrap_err().to_string(), "max_requests is 0; it must be more than 0");
        let none = ServeSettings { request_timeout: Duration::ZERO, ..ServeSettings::default() };
        assert_eq!(none.check().unwrap_err().to_string(), "request_timeout is 0; it must be more than 0");
    }

    #[test]
    fn the_table_in_the_documentation_is_the_help() {
        let mut table = String::new();
        for (flag, help, default) in flags() {
            let value = flag.get_value_names().unwrap()[0].as_str();
            let name = flag.get_long().unwrap();
            table.push_str(&format!("| `--{name} {value}` | {help} | {} |\n", default.unwrap_or_default()));
        }
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/operations/configure.md");
        let page = std::fs::read_to_string(path).unwrap();
        assert!(page.contains(&table), "docs/operations/configure.md should contain:\n{table}");
    }

    #[test]
    fn the_defaults_in_the_help_are_those_of_the_service() {
        let defaults = flags().into_iter().filter(|(flag, ..)| flag.get_id() != "log_format");
        let defaults = defaults.filter_map(|(flag, _, default)| Some((flag, default?)));
        let arguments =
            defaults.flat_map(|(flag, default)| [format!("--{}", flag.get_long().unwrap()), default]);
        let command = ServeSettings::augment_args_for_update(Command::new("serve"));
        let matches = command.get_matches_from(["serve".to_owned()].into_iter().chain(arguments));
        let mut settings = ServeSettings::default();
        settings.update_from_arg_matches(&matches).unwrap();
        assert_eq!(settings, ServeSettings::default());
    }

    #[test]
    fn every_flag_is_a_key_of_the_file() {
        for (flag, ..) in flags() {
            // A wrong type shows that the key is known.
            let file = serde_json::json!({ flag.get_id().as_str(): {} });
            let error = serde_json::from_value::<ServeSettings>(file).unwrap_err();
            assert!(!error.to_string().contains("unknown field"), "{error}");
        }
    }
}
