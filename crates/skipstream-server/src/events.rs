//! Events: what happens, for clients that listen.
//!
//! The last events are kept in a numbered history, so that a client that lost its connection can catch up. Each listener
//! reads from its own position: nobody waits for anybody, and a slow listener learns how many events it missed.

use std::collections::VecDeque;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;
use tokio::sync::watch;

use crate::forgotten::Forgotten;
use crate::lifecycle::Lifecycle;
use crate::places::{self, Place, Places};

/// Length of the history. With fifty words per event that is about a megabyte.
const MAX_EVENTS: usize = 1_000;

/// Limit on concurrent listeners.
pub(crate) const MAX_LISTENERS: usize = 256;

/// Limit on concurrent listeners of one address.
pub(crate) const MAX_LISTENERS_PER_ADDRESS: usize = 64;

/// Sends events to all listeners and keeps the last ones.
#[derive(Debug)]
pub struct Events {
    history: watch::Sender<History>,
    /// When the service started, in microseconds. Event numbers start at 0 each time.
    start: i64,
    listeners: Arc<Places>,
    lifecycle: Lifecycle,
}

#[derive(Debug, Default)]
struct History {
    events: VecDeque<Event>,
    /// The number of the next event.
    next: u64,
}

/// Identifies an event, so that a client can resume after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    start: i64,
    number: u64,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub id: EventId,
    pub name: &'static str,
    pub time: Timestamp,
    /// JSON.
    pub data: Arc<str>,
}

/// What a listener receives.
#[derive(Clone, Debug)]
pub enum Received {
    Event(Event),
    /// The number of missed events; `None` if unknown, because the service was restarted.
    Missed(Option<u64>),
}

#[derive(Debug)]
pub struct Listener {
    /// The number of the next event to receive.
    next: u64,
    /// The client's last event is from before a restart.
    is_from_earlier_start: bool,
    history: watch::Receiver<History>,
    lifecycle: Lifecycle,
    _place: Place,
}

impl Events {
    pub fn new(lifecycle: &Lifecycle) -> Events {
        Events {
            history: watch::Sender::default(),
            start: Timestamp::now().as_microsecond(),
            // A listener never gives way: it has nothing to do but wait.
            listeners: Places::new(places::Limits {
                total: MAX_LISTENERS,
                per_address: MAX_LISTENERS_PER_ADDRESS,
                spare: 0,
                idle: Duration::MAX,
            }),
            lifecycle: lifecycle.clone(),
        }
    }

    pub fn send(&self, name: &'static str, data: &impl Serialize) {
        let data: Arc<str> = match serde_json::to_string(data) {
            Ok(data) => data.into(),
            Err(error) => return tracing::error!(%error, name, "cannot serialize an event"),
        };
        self.history.send_modify(|history| {
            if history.events.len() == MAX_EVENTS {
                history.events.pop_front();
            }
            let id = EventId { start: self.start, number: history.next };
            history.events.push_back(Event { id, name, time: Timestamp::now(), data });
            history.next += 1;
        });
    }

    /// Drops the events that name one of the words, and those before them.
    pub fn forget(&self, forgotten: &Forgotten) {
        self.history.send_modify(|history| {
            if let Some(last) = history.events.iter().rposition(|event| forgotten.is_in(&event.data)) {
                history.events.drain(..=last);
            }
        });
    }

    /// Listens to events after a given one, as far as the history goes back, or from now on. `None` if there are too many
    /// listeners, or too many of this address.
    pub fn listen(&self, after: Option<EventId>, address: IpAddr) -> Option<Listener> {
        let place = self.listeners.take(address)?;
        let now = self.history.borrow().next;
        let is_from_earlier_start = after.is_some_and(|id| id.start != self.start);
        let next = match after {
            // A client may send any number.
            Some(id) if !is_from_earlier_start => id.number.saturating_add(1).min(now),
            _ => now,
        };
        let (history, lifecycle) = (self.history.subscribe(), self.lifecycle.clone());
        Some(Listener { next, is_from_earlier_start, history, lifecycle, _place: place })
    }
}

impl Listener {
    /// The next event; `None` when the service stops. Cancel safe.
    pub async fn next(&mut self) -> Option<Received> {
        self.wait().await;
        self.try_next()
    }

    /// Waits for an event, or until the service stops.
    pub async fn wait(&mut self) {
        let next = self.next;
        tokio::select! {
            biased;
            _ = self.history.wait_for(|history| self.is_from_earlier_start || history.next > next) => {}
            () = self.lifecycle.stopping() => {}
        }
    }

    /// The number of the next event.
    #[cfg(feature = "brokers")]
    pub fn position(&self) -> u64 {
        self.next
    }

    /// Receives events from an earlier position again.
    #[cfg(feature = "brokers")]
    pub fn return_to(&mut self, position: u64) {
        self.next = self.next.min(position);
    }

    /// The next event, if there is one already.
    pub fn try_next(&mut self) -> Option<Received> {
        if std::mem::take(&mut self.is_from_earlier_start) {
            return Some(Received::Missed(None));
        }
        let (history, next) = (self.history.borrow(), self.next);
        let oldest = history.next - history.events.len() as u64;
        if next < oldest {
            self.next = oldest;
            return Some(Received::Missed(Some(oldest - next)));
        }
        let event = history.events.get((next - oldest) as usize)?.clone();
        self.next += 1;
        Some(Received::Event(event))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.start, self.number)
    }
}

impl FromStr for EventId {
    type Err = ();

    fn from_str(text: &str) -> Result<EventId, ()> {
        let (start, number) = text.rsplit_once('-').ok_or(())?;
        Ok(EventId { start: start.parse().map_err(drop)?, number: number.parse().map_err(drop)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::turns::testing::client;

    async fn receive(listener: &mut Listener) -> String {
        match listener.next().await.unwrap() {
            Received::Event(event) => event.data.to_string(),
            Received::Missed(missed) => format!("missed {missed:?}"),
        }
    }

    fn sent(number: usize) -> String {
        number.to_string()
    }

    #[tokio::test]
    async fn a_listener_receives_new_events() {
        let events = Events::new(&Lifecycle::default());
        events.send("problem", &0);
        let mut listener = events.listen(None, client(1)).unwrap();
        events.send("problem", &1);
        events.send("problem", &2);
        assert_eq!(receive(&mut listener).await, sent(1));
        assert_eq!(receive(&mut listener).await, sent(2));
        let (received, ()) = tokio::join!(receive(&mut listener), async { events.send("problem", &3) });
        assert_eq!(received, sent(3));
    }

    #[tokio::test]
    async fn a_client_that_reconnects_catches_up() {
        let events = Events::new(&Lifecycle::default());
        let mut listener = events.listen(None, client(1)).unwrap();
        (0..3).for_each(|number| events.send("problem", &number));
        let Some(Received::Event(first)) = listener.next().await else { panic!("an event was sent") };
        let id: EventId = first.id.to_string().parse().unwrap();
        let mut again = events.listen(Some(id), client(1)).unwrap();
        assert_eq!(receive(&mut again).await, sent(1));
        assert_eq!(receive(&mut again).await, sent(2));
    }

    #[tokio::test]
    async fn a_slow_listener_learns_how_many_it_missed() {
        let events = Events::new(&Lifecycle::default());
        let mut listener = events.listen(None, client(1)).unwrap();
        (0..MAX_EVENTS + 5).for_each(|number| events.send("problem", &number));
        assert_eq!(receive(&mut listener).await, "missed Some(5)");
        assert_eq!(receive(&mut listener).await, sent(5));
    }

    #[tokio::test]
    async fn an_event_from_before_a_restart_is_recognized() {
        let events = Events::new(&Lifecycle::default());
        events.send("problem", &0);
        let mut listener = events.listen(Some("12-5".parse().unwrap()), client(1)).unwrap();
        events.send("problem", &1);
        assert_eq!(receive(&mut listener).await, "missed None");
        assert_eq!(receive(&mut listener).await, sent(1));
    }

    #[tokio::test]
    async fn an_unknown_number_is_harmless() {
        let events = Events::new(&Lifecycle::default());
        let id = EventId { start: events.start, number: u64::MAX };
        let mut listener = events.listen(Some(id), client(1)).unwrap();
        events.send("problem", &0);
        assert_eq!(receive(&mut listener).await, sent(0));
    }

    #[tokio::test]
    async fn listening_ends_with_the_service() {
        let events = Events::new(&Lifecycle::default());
        let mut listener = events.listen(None, client(1)).unwrap();
        events.send("problem", &0);
        events.lifecycle.stop();
        assert_eq!(receive(&mut listener).await, sent(0));
        assert!(listener.next().await.is_none());
    }

    #[test]
    fn the_number_of_listeners_is_limited() {
        let events = Events::new(&Lifecycle::default());
        let addresses = (MAX_LISTENERS / MAX_LISTENERS_PER_ADDRESS) as u8;
        let of = |number| (0..MAX_LISTENERS_PER_ADDRESS).map(move |_| client(number));
        let listeners: Vec<Listener> =
            (0..addresses).flat_map(of).map(|client| events.listen(None, client).unwrap()).collect();
        assert!(events.listen(None, client(addresses)).is_none());
        drop(listeners);
        assert!(events.listen(None, client(addresses)).is_some());
    }

    #[test]
    fn an_invalid_id_is_an_error() {
        for text in ["", "-", "1", "a-1", "1-a", "1-99999999999999999999"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
