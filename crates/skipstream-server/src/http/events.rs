//! What happens, as server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Sse;
use axum::response::sse::{self, KeepAlive};
use futures_util::{Stream, stream};
use serde::Serialize;
use serde_json::json;
use tokio::time::{self, Interval, MissedTickBehavior};

use super::ApiError;
use super::access::Access;
use super::answer::SnapshotInfo;
use crate::events::{EventId, Heard, Listener};
use crate::published::Seq;
use crate::service::Service;
use crate::status::Checkpoint;

/// How learning goes is told so often.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// A sign of life is sent where nothing was said for so long, so that what lies between does not hang up.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Who lost the connection should come back after so long.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// How learning goes: the moving part of `/v1/stats`.
#[derive(Debug, Serialize)]
struct Progress {
    snapshot: SnapshotInfo,
    words_per_second: f64,
    loss: Option<f64>,
    words: u64,
    vocabulary: usize,
    evictions: u64,
    queue: Queue,
    logged: Seq,
    learned: Seq,
    checkpoint: Option<Checkpoint>,
    problem: Option<String>,
}

#[derive(Debug, Serialize)]
struct Queue {
    bytes: u64,
    limit_bytes: u64,
    lines: u64,
}

/// What happens, from now on
///
/// Server-sent events, whose data are JSON objects:
///
/// | event | when | data |
/// |---|---|---|
/// | `progress` | every second | the moving part of `/v1/stats` |
/// | `published` | new vectors are there | `seq`, `time`, `vocabulary`, `words` |
/// | `arrived`, `evicted` | words came or had to leave | `words` (at most 50), `n` |
/// | `kept` | a snapshot was kept | as in `/v1/snapshots` |
/// | `drift` | a watched word moved beyond chance | `word`, `cosine`, `surprise`, `since`, `overlap`, `neighbors_before`, `neighbors_after` |
/// | `problem` | something is tried again | `message` |
/// | `missed` | events went by unheard | `n`, or null where that is not known |
///
/// Who comes back with `Last-Event-ID` hears first what happened meanwhile, as far as it is remembered. `progress` and
/// `missed` have no identity. At most 256 may listen at the same time.
#[utoipa::path(
    get, path = "/v1/events", tag = "change",
    params(("last-event-id" = Option<String>, Header, description = "The last event that was heard")),
    responses(
        (status = 200, description = "Events until the service ends", body = String, content_type = "text/event-stream"),
        (status = 503, description = "Too many listen already"),
    ),
    security(("token" = ["read"]))
)]
pub async fn listen(
    State(service): State<Arc<Service>>,
    Extension(access): Extension<Arc<Access>>,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, ApiError> {
    // Who comes with something that is no identity of ours hears what happens from now on.
    let behind = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<EventId>().ok());
    let Some(listener) = service.events.listen(behind) else {
        let message = "too many listen already; at most 256 may";
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(5));
    };
    let mut ticks = time::interval(PROGRESS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = sse::Event::default().retry(RETRY_AFTER).comment("skipstream");
    let greeting = stream::iter([Ok(start)]);
    let events = stream::unfold(Ear { service, access, headers, listener, ticks }, Ear::next);
    let events = stream::StreamExt::chain(greeting, events);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_EVERY)))
}

/// One who listens.
struct Ear {
    service: Arc<Service>,
    access: Arc<Access>,
    /// With the token, which may be taken back while its holder listens.
    headers: HeaderMap,
    listener: Listener,
    ticks: Interval,
}

impl Ear {
    /// The next event, and the ear that goes on listening; nothing when the service ends, or the token is not valid any more.
    async fn next(mut self) -> Option<(Result<sse::Event, Infallible>, Ear)> {
        let event = tokio::select! {
            // What happened comes before how it goes.
            biased;
            heard = self.listener.next(&self.service.events) => match heard? {
                Heard::Told(told) => {
                    sse::Event::default().id(told.id.to_string()).event(told.name).data(&*told.data)
                }
                Heard::Missed(n) => sse::Event::default().event("missed").data(json!({ "n": n }).to_string()),
            },
            _ = self.ticks.tick() => {
                let data = serde_json::to_string(&Progress::of(&self.service)).unwrap_or_default();
                sse::Event::default().event("progress").data(data)
            }
        };
        self.access.may_read(&self.headers).then_some((Ok(event), self))
    }
}

impl Progress {
    fn of(service: &Service) -> Progress {
        let published = service.published();
        let status = service.status.load();
        let progress = status.progress.unwrap_or(published.progress);
        Progress {
            snapshot: (&*published).into(),
            words_per_second: status.words_per_second,
            loss: status.loss,
            words: progress.tokens,
            vocabulary: progress.vocabulary,
            evictions: progress.evictions,
            queue: Queue {
                bytes: service.log.waiting_bytes(),
                limit_bytes: service.settings.queue_bytes,
                lines: service.log.waiting_lines(),
            },
            logged: service.log.last(),
            learned: published.seq,
            checkpoint: status.checkpoint,
            problem: status.problem.clone(),
        }
    }
}
