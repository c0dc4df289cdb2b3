//! What the service is asked to be.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use skipstream::Vectors;

/// Requests with text that are taken at the same time, at the most.
pub(crate) const MAX_TEXTS: usize = 128;

/// Vectors that are downloaded at the same time: each is a file on the disk until it is sent.
pub(crate) const MAX_DOWNLOADS: usize = 4;

/// Bytes that a question in JSON may have: a thousand vectors of three hundred values fit.
pub(crate) const MAX_JSON_BYTES: usize = 4 << 20;

/// Questions that are longer than this take turns.
pub(crate) const SHORT_JSON_BYTES: usize = 64 << 10;

/// So many of the longer ones are read at the same time.
pub(crate) const LONG_JSONS: usize = 8;

/// How the service runs. What its model is like is [`skipstream::Config`].
#[derive(Clone, Debug, PartialEq)]
pub struct ServeSettings {
    /// The folder of the service: log, model, kept snapshots.
    pub data: PathBuf,
    /// Where to listen. Anything but loopback needs `tokens`.
    pub listen: SocketAddr,
    /// A file of bearer tokens with their roles.
    pub tokens: Option<PathBuf>,
    /// Files that are followed as they grow.
    pub follow: Vec<PathBuf>,
    /// Commands whose output is learned.
    pub exec: Vec<String>,
    /// Which vectors are published.
    pub vectors: Vectors,
    /// How old what is published may be while there is new text.
    pub publish_every: Duration,
    /// The model is saved so often.
    pub checkpoint_every: Duration,
    /// What is published is kept so often.
    pub snapshot_every: Duration,
    /// So many of the newest kept snapshots stay as they are.
    pub keep_recent: usize,
    /// Of those before them, one a day stays, for so many days.
    pub keep_days: usize,
    /// A kept snapshot has so many words at the most, the most frequent ones.
    pub snapshot_words: usize,
    /// Words whose movements are told.
    pub watch: Vec<String>,
    /// How neighbours are found.
    pub index: Index,
    /// Bytes of text that may wait to be learned.
    pub queue_bytes: u64,
    /// Bytes that a request may have, after it was decompressed.
    pub max_body_bytes: u64,
    /// Bytes that a line may have.
    pub max_line_bytes: usize,
    /// Requests that are answered at the same time; others are turned away.
    pub max_requests: usize,
    /// A request may take so long; a body may pause so long.
    pub request_timeout: Duration,
    /// Origins of other pages that may ask.
    pub cors_origins: Vec<String>,
}

/// How neighbours are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Index {
    /// All vectors are compared.
    #[default]
    Exact,
    /// A graph is searched, which may miss some: for large vocabularies.
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
