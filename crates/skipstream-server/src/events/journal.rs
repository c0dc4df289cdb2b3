//! The last events, and those who read them.

use std::collections::VecDeque;
use std::fmt;
use std::str::FromStr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use jiff::Timestamp;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};

use super::event::Event;

/// Events that are kept for who lost the connection. With fifty words in each that is about a megabyte.
const MAX_KEPT: usize = 1_000;

/// Those who may listen at the same time.
const MAX_LISTENERS: usize = 256;

/// Tells everybody who listens, and remembers the last events.
#[derive(Debug)]
pub struct Events {
    journal: Mutex<Journal>,
    news: watch::Sender<News>,
    /// Numbers start anew with every start of the service, and this tells the starts apart.
    start: i64,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Journal {
    told: VecDeque<Told>,
    /// The number of the next event.
    next: u64,
}

#[derive(Clone, Copy, Debug)]
struct News {
    /// The number of the next event.
    next: u64,
    closed: bool,
}

/// The name of an event, for who wants to go on behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventId {
    start: i64,
    number: u64,
}

/// An event as it goes over the wire.
#[derive(Clone, Debug)]
pub struct Told {
    /// Its identity.
    pub id: EventId,
    /// Its kind.
    pub name: &'static str,
    /// JSON.
    pub data: Arc<str>,
}

/// What a listener hears.
#[derive(Clone, Debug)]
pub enum Heard {
    /// An event.
    Told(Told),
    /// So many events went by unheard; nothing where nobody knows how many, since the service was started anew.
    Missed(Option<u64>),
}

/// Somebody who listens.
#[derive(Debug)]
pub struct Listener {
    /// The number of the next event to be heard.
    next: u64,
    /// The last event that was heard was told by an earlier run of the service.
    is_of_earlier_run: bool,
    news: watch::Receiver<News>,
    _place: OwnedSemaphorePermit,
}

impl Default for Events {
    fn default() -> Events {
        Events {
            journal: Mutex::default(),
            news: watch::Sender::new(News { next: 0, closed: false }),
            start: Timestamp::now().as_millisecond(),
            places: Arc::new(Semaphore::new(MAX_LISTENERS)),
        }
    }
}

impl Events {
    /// Tells.
    pub fn tell(&self, event: Event) {
        let name = event.name();
        let data = match serde_json::to_string(&event) {
            Ok(data) => data.into(),
            Err(error) => return tracing::error!(%error, name, "an event that cannot be told"),
        };
        let mut journal = self.journal();
        let id = EventId { start: self.start, number: journal.next };
        if journal.told.len() == MAX_KEPT {
            journal.told.pop_front();
        }
        journal.told.push_back(Told { id, name, data });
        journal.next += 1;
        let next = journal.next;
        drop(journal);
        self.news.send_if_modified(|news| {
            let is_newer = next > news.next;
            news.next = next.max(news.next);
            is_newer
        });
    }

    /// Listens: to what happens behind an event, as far as it is remembered, or to what happens from now on. Nobody is
    /// taken when too many listen already.
    pub fn listen(&self, behind: Option<EventId>) -> Option<Listener> {
        let place = self.places.clone().try_acquire_owned().ok()?;
        let now = self.journal().next;
        let is_of_earlier_run = behind.is_some_and(|id| id.start != self.start);
        let next = match behind {
            // A number that was never given was not given by us.
            Some(id) if !is_of_earlier_run => id.number.saturating_add(1).min(now),
            _ => now,
        };
        Some(Listener { next, is_of_earlier_run, news: self.news.subscribe(), _place: place })
    }

    /// Ends all listening, as the service ends.
    pub fn close(&self) {
        self.news.send_modify(|news| news.closed = true);
    }

    /// Comes back when [`Events::close`] was called.
    pub async fn closed(&self) {
        // The sender lives as long as `self`.
        let _ = self.news.subscribe().wait_for(|news| news.closed).await;
    }

    fn journal(&self) -> MutexGuard<'_, Journal> {
        self.journal.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Listener {
    /// What happens next; nothing when the service ends. Who drops the future misses nothing.
    pub async fn next(&mut self, events: &Events) -> Option<Heard> {
        if std::mem::take(&mut self.is_of_earlier_run) {
            return Some(Heard::Missed(None));
        }
        loop {
            if let Some(heard) = self.read(events) {
                return Some(heard);
            }
            let next = self.next;
            let news = *self.news.wait_for(|news| news.closed || news.next > next).await.ok()?;
            if news.closed {
                return None;
            }
        }
    }

    /// What is in the journal already.
    fn read(&mut self, events: &Events) -> Option<Heard> {
        let journal = events.journal();
        let oldest = journal.next - journal.told.len() as u64;
        if self.next < oldest {
            let missed = oldest - self.next;
            self.next = oldest;
            return Some(Heard::Missed(Some(missed)));
        }
        let told = journal.told.get((self.next - oldest) as usize)?;
        self.next += 1;
        Some(Heard::Told(told.clone()))
    }
}

impl fmt::Display for EventId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}-{}", self.start, self.number)
    }
}

/// As [`Display`](fmt::Display) writes it.
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

    fn problem(number: usize) -> Event {
        Event::Problem { message: number.to_string() }
    }

    async fn hear(listener: &mut Listener, events: &Events) -> String {
        match listener.next(events).await.unwrap() {
            Heard::Told(told) => told.data.to_string(),
            Heard::Missed(missed) => format!("missed {missed:?}"),
        }
    }

    fn said(number: usize) -> String {
        format!("{{\"message\":\"{number}\"}}")
    }

    #[tokio::test]
    async fn who_listens_hears_what_happens_from_then_on() {
        let events = Events::default();
        events.tell(problem(0));
        let mut listener = events.listen(None).unwrap();
        events.tell(problem(1));
        events.tell(problem(2));
        assert_eq!(hear(&mut listener, &events).await, said(1));
        assert_eq!(hear(&mut listener, &events).await, said(2));
        let (heard, ()) = tokio::join!(hear(&mut listener, &events), async { events.tell(problem(3)) });
        assert_eq!(heard, said(3));
    }

    #[tokio::test]
    async fn who_comes_back_hears_what_was_missed() {
        let events = Events::default();
        let mut listener = events.listen(None).unwrap();
        (0..3).for_each(|number| events.tell(problem(number)));
        let Some(Heard::Told(first)) = listener.next(&events).await else { panic!("an event was told") };
        let id: EventId = first.id.to_string().parse().unwrap();
        let mut again = events.listen(Some(id)).unwrap();
        assert_eq!(hear(&mut again, &events).await, said(1));
        assert_eq!(hear(&mut again, &events).await, said(2));
    }

    #[tokio::test]
    async fn a_slow_listener_is_told_how_much_went_by() {
        let events = Events::default();
        let mut listener = events.listen(None).unwrap();
        (0..MAX_KEPT + 5).for_each(|number| events.tell(problem(number)));
        assert_eq!(hear(&mut listener, &events).await, "missed Some(5)");
        assert_eq!(hear(&mut listener, &events).await, said(5));
    }

    #[tokio::test]
    async fn an_event_of_an_earlier_run_is_told_apart() {
        let events = Events::default();
        events.tell(problem(0));
        let mut listener = events.listen(Some("12-5".parse().unwrap())).unwrap();
        events.tell(problem(1));
        assert_eq!(hear(&mut listener, &events).await, "missed None");
        assert_eq!(hear(&mut listener, &events).await, said(1));
    }

    #[tokio::test]
    async fn a_number_that_was_never_given_is_no_trap() {
        let events = Events::default();
        let id = EventId { start: events.start, number: u64::MAX };
        let mut listener = events.listen(Some(id)).unwrap();
        events.tell(problem(0));
        assert_eq!(hear(&mut listener, &events).await, said(0));
    }

    #[tokio::test]
    async fn listening_ends_with_the_service() {
        let events = Events::default();
        let mut listener = events.listen(None).unwrap();
        events.tell(problem(0));
        events.close();
        events.closed().await;
        assert_eq!(hear(&mut listener, &events).await, said(0));
        assert!(listener.next(&events).await.is_none());
    }

    #[test]
    fn only_so_many_may_listen() {
        let events = Events::default();
        let listeners: Vec<Listener> = (0..MAX_LISTENERS).map(|_| events.listen(None).unwrap()).collect();
        assert!(events.listen(None).is_none());
        drop(listeners);
        assert!(events.listen(None).is_some());
    }

    #[test]
    fn what_is_not_an_identity_is_none() {
        for text in ["", "-", "1", "a-1", "1-a", "1-99999999999999999999"] {
            assert!(text.parse::<EventId>().is_err(), "{text}");
        }
    }
}
