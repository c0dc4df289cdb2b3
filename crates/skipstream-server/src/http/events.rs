//! Server-sent events.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use axum::Extension;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::Sse;
use axum::response::sse::{self, KeepAlive};
use futures_util::{Stream, stream};
use serde_json::json;
use tokio::time::{self, Interval, MissedTickBehavior};

use super::ApiError;
use super::access::Access;
use super::lanes::Work;
use super::operations::Progress;
use crate::auth::Role;
use crate::events::{EventId, Listener, MAX_LISTENERS, MAX_LISTENERS_PER_ADDRESS, Received};
use crate::service::Service;

/// Interval between `progress` events.
const PROGRESS_EVERY: Duration = Duration::from_secs(1);

/// Interval between keep-alive comments, which stop proxies from closing an idle connection.
const KEEP_ALIVE_EVERY: Duration = Duration::from_secs(15);

/// Delay before a client reconnects.
const RETRY_AFTER: Duration = Duration::from_secs(2);

/// Listen to events
///
/// Server-sent events. The data of each is a JSON object:
///
/// | event | when | data |
/// |---|---|---|
/// | `progress` | every second | the changing part of `/v1/stats` |
/// | `published` | a new version was published | `seq`, `time`, `vocabulary`, `words` |
/// | `arrived` | words reached the default minimum count | `words` (at most 50), `n`, `returned` (how many had left before) |
/// | `evicted` | such words left the vocabulary | `words` (at most 50), `n` |
/// | `kept` | a snapshot was saved | as in `/v1/snapshots` |
/// | `rolled_back` | the service returned to a snapshot | as in `/v1/rollback` |
/// | `drift` | a watched word moved more than chance explains | `since`, and the word as in `/v1/movers` |
/// | `problem` | something failed and will be retried | `message` |
/// | `missed` | events were skipped | `n`, or null if unknown |
///
/// A client that reconnects with `Last-Event-ID` first receives the events it missed, as far as they are still available.
/// `progress` and `missed` have no id. At most 256 clients can listen at the same time, 64 of them from one address.
#[utoipa::path(
    get, path = "/v1/events", tag = "change",
    params(("last-event-id" = Option<String>, Header, description = "The last event that was received")),
    responses(
        (status = 200, description = "Events until the service stops", body = String, content_type = "text/event-stream"),
        (status = 503, description = "Too many listeners"),
    )
)]
pub async fn listen(
    State(service): State<Arc<Service>>,
    Extension(access): Extension<Arc<Access>>,
    work: Work,
    headers: HeaderMap,
) -> Result<Sse<impl Stream<Item = Result<sse::Event, Infallible>>>, ApiError> {
    // An invalid id is ignored.
    let after = headers.get("last-event-id").and_then(|id| id.to_str().ok()?.parse::<EventId>().ok());
    let Some(listener) = service.events.listen(after, work.client) else {
        let message = format!(
            "there are already {MAX_LISTENERS} listeners, or {MAX_LISTENERS_PER_ADDRESS} from this address, which is the limit"
        );
        return Err(ApiError::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message).retry_after(5));
    };
    let mut ticks = time::interval(PROGRESS_EVERY);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let start = sse::Event::default().retry(RETRY_AFTER).comment("skipstream");
    let greeting = stream::iter([Ok(start)]);
    let events = stream::unfold(Client { service, access, headers, listener, ticks }, Client::next);
    let events = stream::StreamExt::chain(greeting, events);
    Ok(Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE_EVERY)))
}

struct Client {
    service: Arc<Service>,
    access: Arc<Access>,
    /// With the token, which may be revoked in the meantime.
    headers: HeaderMap,
    listener: Listener,
    ticks: Interval,
}

impl Client {
    /// The next event; `None` when the service stops or the token is revoked.
    async fn next(mut self) -> Option<(Result<sse::Event, Infallible>, Client)> {
        let event = tokio::select! {
            // Events take precedence over progress.
            biased;
            received = self.listener.next() => match received? {
                Received::Event(event) => {
                    sse::Event::default().id(event.id.to_string()).event(event.name).data(&*event.data)
                }
                Received::Missed(n) => sse::Event::default().event("missed").data(json!({ "n": n }).to_string()),
            },
            _ = self.ticks.tick() => {
                let data = serde_json::to_string(&Progress::now(&self.service)).unwrap_or_default();
                sse::Event::default().event("progress").data(data)
            }
        };
        self.access.check_token(&self.headers, Role::Read).is_ok().then_some((Ok(event), self))
    }
}
