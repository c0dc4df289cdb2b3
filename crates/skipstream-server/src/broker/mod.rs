//! Message brokers: their addresses, and connections to them.

pub mod kafka;
pub mod nats;
mod tls;
pub mod url;

use std::time::Duration;

/// The first and the longest pause before a broker is tried again.
pub const FIRST_PAUSE: Duration = Duration::from_millis(250);
pub const LONGEST_PAUSE: Duration = Duration::from_secs(30);

/// How long it may take to connect and find the stream or topic.
pub const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);
