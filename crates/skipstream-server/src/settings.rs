//! Settings of the service.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use skipstream::Vectors;

/// Limit on concurrent uploads.
pub(crate) const MAX_TEXTS: usize = 128;

/// Limit on concurrent downloads: each is a file on disk until it is sent.
pub(crate) const MAX_DOWNLOADS: usize = 4;

/// Limit on a JSON request body in bytes: a thousand vectors of 300 dimensions fit.
pub(crate) const MAX_JSON_BYTES: usize = 4 << 20;

/// JSON bodies above this size in bytes take turns.
pub(crate) const SHORT_JSON_BYTES: usize = 64 << 10;

/// Limit on concurrent JSON bodies above [`SHORT_JSON_BYTES`].
pub(crate) const LONG_JSONS: usize = 8;

/// Settings of the service. Those of the model are [`skipstream::Config`].
#[derive(Clone, Debug, PartialEq)]
pub struct ServeSettings {
    /// Data folder: log, model and snapshots.
    pub data: PathBuf,
    /// Address to listen on. Anything but loopback requires `tokens`.
    pub listen: SocketAddr,
    /// File of bearer tokens and their roles.
    pub tokens: Option<PathBuf>,
    /// Files to follow.
    pub follow: Vec<PathBuf>,
    /// Commands whose output is learned.
    pub exec: Vec<String>,
    /// Which vectors to publish.
    pub vectors: Vectors,
    /// Interval at which new vectors are published.
    pub publish_every: Duration,
    /// Interval between checkpoints.
    pub checkpoint_every: Duration,
    /// Interval between snapshots.
    pub snapshot_every: Duration,
    /// Number of recent snapshots to keep.
    pub keep_recent: usize,
    /// Days to keep one older snapshot per day.
    pub keep_days: usize,
    /// Maximum number of words in a snapshot.
    pub snapshot_words: usize,
    /// Watched words.
    pub watch: Vec<String>,
    /// How neighbors are searched.
    pub index: Index,
    /// Capacity of the queue in bytes.
    pub queue_bytes: u64,
    /// Maximum size of a request body in bytes, after decompression.
    pub max_body_bytes: u64,
    /// Maximum length of a line in bytes.
    pub max_line_bytes: usize,
    /// Maximum number of concurrent requests.
    pub max_requests: usize,
    /// Timeout of a request.
    pub request_timeout: Duration,
    /// Origins of other web pages that may use the service.
    pub cors_origins: Vec<String>,
}

/// How neighbors are searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// Compare with every word.
    #[default]
    Exact,
    /// Search a graph, which may miss some neighbors: for large vocabularies.
    Hnsw,
}

impl Default for ServeSettings {
    fn default() -> ServeSettings {
        ServeSettings {
            data: PathBuf::from("skipstream-data"),
            listen: SocketAddr::new(IpAddr::V4(Ipv4Addr::LOCALHOST), 8321),
            tokens: None,
            follow: Vec::new(),
            exec: Vec::new(),
            vectors: Vectors::Sum,
            publish_every: Duration::from_secs(2),
            checkpoint_every: Duration::from_secs(60),
            snapshot_every: Duration::from_secs(3600),
            keep_recent: 48,
            keep_days: 90,
            snapshot_words: 30_000,
            watch: Vec::new(),
            index: Index::Exact,
            queue_bytes: 256 << 20,
            max_body_bytes: 1 << 30,
            max_line_bytes: 1 << 20,
            max_requests: 512,
            request_timeout: Duration::from_secs(30),
            cors_origins: Vec::new(),
        }
    }
}
