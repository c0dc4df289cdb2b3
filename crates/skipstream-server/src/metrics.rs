//! Prometheus metrics.

use std::fmt;
use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use axum::http::Method;
use jiff::Timestamp;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::{ConstCounter, Counter};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::service::Service;
use crate::sink_status::SinkState;
use crate::source_status::SourceState;

/// Counters since the service started. Gauges are read when the metrics are requested.
#[derive(Debug)]
pub struct Metrics {
    started: Instant,
    requests: Family<Request, Counter>,
    durations: Family<Route, Histogram>,
    /// Requests that a person waits for, and their nanoseconds.
    queries: AtomicU64,
    query_nanoseconds: AtomicU64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Request {
    method: &'static str,
    route: String,
    status: u32,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Route {
    route: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Thread {
    thread: String,
}

/// The work in a lane.
#[derive(Clone, Copy, Debug)]
pub struct WorkCount {
    pub lane: &'static str,
    pub running: usize,
    /// How much stopped early, because its client disconnected or its timeout passed.
    pub cancelled: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Lane {
    lane: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct Source {
    source: String,
}

/// Requests that were answered. The sums wrap, and differences of them do not notice: the requests of all clients may take
/// thousands of seconds each second, so that 64 bits of nanoseconds are full after months.
#[derive(Clone, Copy, Debug, Default)]
pub struct Queries {
    n: u64,
    nanoseconds: u64,
}

impl Queries {
    /// The number of requests since an earlier time, and their total time.
    pub fn since(&self, earlier: &Queries) -> (u64, Duration) {
        let nanoseconds = self.nanoseconds.wrapping_sub(earlier.nanoseconds);
        (self.n.wrapping_sub(earlier.n), Duration::from_nanos(nanoseconds))
    }
}

/// Routes that take as long as the client or the text does.
const LONG_ROUTES: [&str; 3] = ["/v1/text", "/v1/text/{seq}/wait", "/v1/events"];

/// Buckets of the duration histogram in seconds.
const BOUNDS: [f64; 12] = [0.0001, 0.0003, 0.001, 0.003, 0.01, 0.02, 0.05, 0.1, 0.3, 1.0, 3.0, 10.0];

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            started: Instant::now(),
            requests: Family::default(),
            durations: Family::new_with_constructor(|| Histogram::new(BOUNDS)),
            queries: AtomicU64::default(),
            query_nanoseconds: AtomicU64::default(),
        }
    }
}

impl Metrics {
    pub fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    /// Counts a request. The route is the template, not the path.
    pub fn answered(&self, method: &Method, route: &str, status: u16, duration: Duration) {
        let request = Request { method: known(method), route: route.to_owned(), status: status.into() };
        self.requests.get_or_create(&request).inc();
        let route = Route { route: route.to_owned() };
        self.durations.get_or_create(&route).observe(duration.as_secs_f64());
        if !LONG_ROUTES.contains(&route.route.as_str()) {
            self.queries.fetch_add(1, Ordering::Relaxed);
            self.query_nanoseconds.fetch_add(duration.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    /// The requests so far, without uploads and event streams.
    pub fn queries(&self) -> Queries {
        let nanoseconds = self.query_nanoseconds.load(Ordering::Relaxed);
        Queries { n: self.queries.load(Ordering::Relaxed), nanoseconds }
    }

    pub fn text(&self, service: &Service, work: &[WorkCount]) -> Result<String, fmt::Error> {
        let mut registry = Registry::with_prefix("skipstream");
        registry.register("http_requests", "Number of requests", self.requests.clone());
        registry.register_with_unit(
            "http_request_duration",
            "Time until the response started",
            Unit::Seconds,
            self.durations.clone(),
        );
        register(&mut registry, service, self.uptime());
        register_work(&mut registry, work);
        register_sources(&mut registry, service);
        register_sink(&mut registry, service);
        let mut text = String::new();
        encode(&mut text, &registry)?;
        Ok(text)
    }
}

/// Registers what the service knows now.
fn register(registry: &mut Registry, service: &Service, uptime: Duration) {
    let (status, published) = (service.status.load(), service.published());
    let progress = status.progress.as_ref().unwrap_or(&published.progress);
    let checkpoint = status.checkpoint.map_or(0, |checkpoint| checkpoint.seq);
    for (name, help, value) in [
        ("words_learned", "Number of tokens learned", progress.tokens),
        ("evictions", "Number of words evicted from the vocabulary", progress.evictions),
        ("searches", "Number of queries answered by comparing with all words", service.search.answered()),
    ] {
        registry.register(name, help, ConstCounter::new(value));
    }
    for (name, help, value) in [
        ("words_per_second", "Training speed over the last few seconds", status.words_per_second),
        ("loss", "Mean loss per pair over the last few seconds", status.loss.unwrap_or(f64::NAN)),
        ("vocabulary", "Size of the vocabulary", progress.vocabulary as f64),
        ("queue_lines", "Lines that wait to be learned", service.log.waiting_lines() as f64),
        ("logged_seq", "The last line on disk", service.log.last() as f64),
        ("published_seq", "The last line in the current version", published.seq as f64),
        ("checkpoint_seq", "The last line in the last checkpoint", checkpoint as f64),
        ("problem", "1 if the service cannot store, learn or save", f64::from(service.problem().is_some())),
    ] {
        registry.register(name, help, ConstGauge::new(value));
    }
    let threads = Family::<Thread, Gauge>::default();
    for (thread, runs) in service.lifecycle.list_threads() {
        threads.get_or_create(&Thread { thread }).set(runs.into());
    }
    registry.register("thread_up", "1 if a long-lived thread runs, 0 if it has ended", threads);
    let age = Timestamp::now().duration_since(published.time).as_secs_f64().max(0.0);
    let mut gauge = |name: &str, help: &str, unit, value| {
        registry.register_with_unit(name, help, unit, ConstGauge::new(value));
    };
    gauge("snapshot_age", "Time since the current version was published", Unit::Seconds, age);
    gauge("uptime", "Time since the service started", Unit::Seconds, uptime.as_secs_f64());
    gauge("queue", "Text that waits to be learned", Unit::Bytes, service.log.waiting_bytes() as f64);
    gauge("queue_limit", "Capacity of the queue", Unit::Bytes, service.settings.queue_size as f64);
    if let Some(bytes) = resident_bytes() {
        gauge("resident_memory", "Resident memory of the process", Unit::Bytes, bytes as f64);
    }
}

fn register_work(registry: &mut Registry, work: &[WorkCount]) {
    let (running, cancelled) = (Family::<Lane, Gauge>::default(), Family::<Lane, Counter>::default());
    for count in work {
        let lane = Lane { lane: count.lane };
        running.get_or_create(&lane).set(count.running as i64);
        cancelled.get_or_create(&lane).inc_by(count.cancelled);
    }
    registry.register("work", "Requests that are being worked on in a lane", running);
    registry.register(
        "work_cancelled",
        "Requests whose work stopped early, because nobody waited",
        cancelled,
    );
}

fn register_sources(registry: &mut Registry, service: &Service) {
    let sources = service.sources.list();
    if sources.is_empty() {
        return;
    }
    let (up, lag) = (Family::<Source, Gauge>::default(), Family::<Source, Gauge>::default());
    let counters = [(); 3].map(|()| Family::<Source, Counter>::default());
    for status in sources {
        let source = Source { source: status.url };
        up.get_or_create(&source).set((status.state == SourceState::Reading).into());
        if let Some(messages) = status.lag {
            lag.get_or_create(&source).set(messages as i64);
        }
        for (counter, value) in counters.iter().zip([status.messages, status.invalid, status.lost]) {
            counter.get_or_create(&source).inc_by(value);
        }
    }
    let [messages, invalid, lost] = counters;
    registry.register("source_up", "1 if a broker is being read, 0 if it is away or has lost messages", up);
    registry.register("source_lag_messages", "Messages of a broker that are not logged yet", lag);
    registry.register("source_messages", "Messages of a broker that were logged", messages);
    registry.register("source_invalid_messages", "Messages of a broker that were skipped", invalid);
    registry.register("source_lost_messages", "Messages that a broker deleted before they were read", lost);
}

fn register_sink(registry: &mut Registry, service: &Service) {
    let Some(status) = service.sink.status() else { return };
    let (up, waiting) = (Gauge::<i64>::default(), Gauge::<i64>::default());
    let (sent, dropped) = (Counter::<u64>::default(), Counter::<u64>::default());
    up.set((status.state == SinkState::Sending).into());
    waiting.set(status.waiting as i64);
    sent.inc_by(status.messages);
    dropped.inc_by(status.dropped);
    registry.register("sink_up", "1 if events are sent to a broker, 0 if it is away", up);
    registry.register("sink_waiting_messages", "Events that the broker does not have yet", waiting);
    registry.register("sink_messages", "Messages that were sent to the broker", sent);
    registry.register("sink_dropped_messages", "Events that were dropped because too many waited", dropped);
}

/// The method, if known: otherwise clients could create any number of labels.
fn known(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::HEAD => "HEAD",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::DELETE => "DELETE",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}

/// Resident memory in bytes, if the system reports it.
pub fn resident_bytes() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kibibytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kibibytes * 1024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_total_time_of_requests_may_wrap() {
        let metrics = Metrics { query_nanoseconds: AtomicU64::new(u64::MAX - 10), ..Metrics::default() };
        let before = metrics.queries();
        for _ in 0..3 {
            metrics.answered(&Method::GET, "/v1/words", 200, Duration::from_secs(1));
        }
        assert_eq!(metrics.queries().since(&before), (3, Duration::from_secs(3)));
    }
}
