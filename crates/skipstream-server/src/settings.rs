//! Settings of the service: the one description that the flags of `serve`, the table `[serve]` of the settings file and
//! docs/operations/configure.md follow.

use std::fmt;
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
    /// Each number, size and duration with its least and its greatest value.
    fn ranges(&self) -> [(&'static str, Amount, [Amount; 2]); 15] {
        use Amount::{Number, Size, Time};
        let number = |least, most, value: usize| (Number(value as u64), [least, most].map(Number));
        let size = |most, value| (Size(value), [1, most].map(Size));
        let time = |least, most, value| (Time(value), [Duration::from_millis(least), most].map(Time));
        let of = |name, (value, range)| (name, value, range);
        [
            of("subword_buckets", number(0, SubwordOptions::MAX_BUCKETS as u64, self.subword_buckets)),
            of("publish_every", time(1, YEAR, self.publish_every)),
            // Each one is a file, which is synced.
            of("checkpoint_every", time(10, YEAR, self.checkpoint_every)),
            of("snapshot_every", time(100, YEAR, self.snapshot_every)),
            of("keep_recent", number(0, 1_000_000, self.keep_recent)),
            of("keep_days", number(0, 36_500, self.keep_days)),
            of("snapshot_words", number(1, 100_000_000, self.snapshot_words)),
            of("queue_size", size(1 << 40, self.queue_size)),
            of("max_body_size", size(1 << 40, self.max_body_size)),
            // SQLite stores at most 10⁹ bytes as one value.
            of("max_line_size", size(512 << 20, self.max_line_size)),
            of("max_requests", number(1, 1_000_000, self.max_requests)),
            of("max_connections", number(1, 1_000_000, self.max_connections)),
            of("max_connections_per_address", number(1, 1_000_000, self.max_connections_per_address)),
            of("request_timeout", time(10, YEAR, self.request_timeout)),
            of("drain_time", time(0, DAY, self.drain_time)),
        ]
    }

    /// Refuses amounts outside their ranges. Within them, sums of the memory bound and times from now do not overflow.
    pub(crate) fn check(&self) -> crate::error::Result<()> {
        let outside = |(_, value, [least, most]): &(_, Amount, [Amount; 2])| value < least || value > most;
        match self.ranges().into_iter().find(outside) {
            Some((name, value, [least, most])) => Err(crate::error::Error::Setting(format!(
                "{name} is {value}; it must be from {least} to {most}"
            ))),
            None => Ok(()),
        }
    }

    /// The table that estimates unknown words, if there is one.
    pub(crate) fn subwords(&self) -> Option<SubwordOptions> {
        let options = SubwordOptions { buckets: self.subword_buckets, ..SubwordOptions::default() };
        (self.subword_buckets > 0).then_some(options)
    }

    /// The settings with every amount at its least or its greatest value.
    #[cfg(test)]
    pub(crate) fn at_end(end: usize) -> ServeSettings {
        let ranges = ServeSettings::default().ranges().into_iter();
        let file = ranges.map(|(name, _, range)| (name.to_owned(), range[end].to_json()));
        serde_json::from_value(file.collect::<serde_json::Map<_, _>>().into()).unwrap()
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

const DAY: Duration = Duration::from_secs(24 * 3_600);

/// As humantime counts it.
const YEAR: Duration = Duration::from_secs(31_557_600);

/// The value of a setting that has a range.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
enum Amount {
    Number(u64),
    /// In bytes.
    Size(u64),
    Time(Duration),
}

#[cfg(test)]
impl Amount {
    fn to_json(self) -> serde_json::Value {
        match self {
            Amount::Number(number) | Amount::Size(number) => number.into(),
            Amount::Time(_) => self.to_string().into(),
        }
    }
}

/// As the settings file has it.
impl fmt::Display for Amount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Amount::Number(number) => number.fmt(f),
            Amount::Size(bytes) => f.write_str(&size_text(bytes)),
            Amount::Time(time) => humantime::format_duration(time).fmt(f),
        }
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

fn size_text(bytes: u64) -> String {
    let units = [(30, "Gi"), (20, "Mi"), (10, "Ki"), (0, "")];
    let unit = units.into_iter().find(|(bits, _)| bytes > 0 && bytes.is_multiple_of(1 << bits));
    let (bits, unit) = unit.unwrap_or_default();
    format!("{}{unit}", bytes >> bits)
}

/// In files and in JSON.
mod size_in_file {
    use serde::{Serialize, Serializer};

    use super::*;

    pub fn serialize<S: Serializer>(bytes: &u64, serializer: S) -> Result<S::Ok, S::Error> {
        size_text(*bytes).serialize(serializer)
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

    /// The settings with one of them changed, as a file would.
    fn with(name: &str, amount: Amount) -> ServeSettings {
        let file = serde_json::Map::from_iter([(name.to_owned(), amount.to_json())]);
        serde_json::from_value(file.into()).unwrap()
    }

    #[test]
    fn every_amount_has_a_range_and_nothing_outside_is_accepted() {
        let ranges = ServeSettings::default().ranges();
        let amounts = flags().into_iter().filter(|(flag, ..)| {
            ["N", "SIZE", "TIME"].contains(&flag.get_value_names().unwrap()[0].as_str())
        });
        let names: Vec<String> = amounts.map(|(flag, ..)| flag.get_id().to_string()).collect();
        assert_eq!(names, ranges.map(|(name, ..)| name.to_owned()));
        for (name, _, [least, most]) in ranges {
            for amount in [least, most] {
                with(name, amount).check().unwrap();
            }
            let nanosecond = Duration::from_nanos(1);
            let (below, above) = match (least, most) {
                (Amount::Number(least), Amount::Number(most)) => {
                    (least.checked_sub(1).map(Amount::Number), Amount::Number(most + 1))
                }
                (Amount::Size(least), Amount::Size(most)) => {
                    (least.checked_sub(1).map(Amount::Size), Amount::Size(most + 1))
                }
                (Amount::Time(least), Amount::Time(most)) => {
                    (least.checked_sub(nanosecond).map(Amount::Time), Amount::Time(most + nanosecond))
                }
                _ => panic!("{name}: {least:?} and {most:?} are of two kinds"),
            };
            for amount in below.into_iter().chain([above]) {
                let refused = with(name, amount).check().unwrap_err().to_string();
                assert_eq!(refused, format!("{name} is {amount}; it must be from {least} to {most}"));
            }
        }
        let refused = with("checkpoint_every", Amount::Time(Duration::ZERO)).check().unwrap_err();
        assert_eq!(refused.to_string(), "checkpoint_every is 0s; it must be from 10ms to 1year");
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
