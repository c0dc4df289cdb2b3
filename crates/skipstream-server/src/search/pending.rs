//! Queries that wait for the next pass.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use skipstream::embeddings::Query;
use tokio::sync::oneshot;

use super::Hit;
use crate::error::{Error, Result};
use crate::published::Published;
use crate::turns::Turns;

/// The maximum number of queries in a pass. With more, those that arrive next wait longer than sharing saves.
const QUERIES_PER_PASS: usize = 8;

/// At high rates, how long the first query waits for others to share its pass.
///
/// At 200 queries per second a pass then has four, and searching takes 0.21 of a core instead of 0.54 (see
/// [`SearchQueue`](super::SearchQueue) for the time of a pass).
const HOLD: Duration = Duration::from_millis(20);

/// The rate is high if this many queries arrived within a second: then at least one more is expected while one is held.
const FAST: usize = 64;

/// The maximum number of queries that a client may have in the queue: some seconds of work on a hundred thousand words.
pub(super) const MAX_WAITING: usize = 4_096;

/// Queries of one request, or those that are answered in one pass, about one published version.
#[derive(Debug)]
pub(super) struct Group {
    pub published: Arc<Published>,
    pub waiting: VecDeque<Waiting>,
}

/// A query, and where to send the answer.
#[derive(Debug)]
pub(super) struct Waiting {
    pub query: Query<'static>,
    pub reply: oneshot::Sender<Vec<Hit>>,
}

/// The waiting queries of all requests.
#[derive(Debug, Default)]
pub(super) struct Pending {
    line: Mutex<Line>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct Line {
    groups: Turns<Group>,
    /// The number of queries of all groups.
    waiting: usize,
    /// When the next pass starts, unless it is full before; `None` while no query waits.
    starts: Option<Instant>,
    /// The arrival times of the last queries, at most [`FAST`] of them.
    arrivals: VecDeque<Instant>,
    closed: bool,
}

impl Pending {
    /// Accepts all queries of a group, or none of them. Returns false if the queue is closed.
    pub fn push(&self, client: IpAddr, group: Group) -> Result<bool> {
        if group.waiting.is_empty() {
            return Ok(true);
        }
        let mut line = self.lock();
        if line.closed {
            return Ok(false);
        }
        let own = line.groups.iter().filter(|(other, _)| *other == client);
        let waiting: usize = own.map(|(_, group)| group.waiting.len()).sum();
        if waiting + group.waiting.len() > MAX_WAITING {
            return Err(Error::Busy { waiting, limit: MAX_WAITING });
        }
        line.push(client, group, Instant::now());
        self.changed.notify_one();
        Ok(true)
    }

    /// Waits for the next pass; `None` after the queue was closed.
    pub fn next(&self) -> Option<Group> {
        let mut line = self.lock();
        loop {
            if line.closed {
                return None;
            }
            let now = Instant::now();
            line = match line.starts {
                None => self.changed.wait(line).unwrap_or_else(PoisonError::into_inner),
                Some(starts) if now < starts && line.waiting < QUERIES_PER_PASS => {
                    let waited = self.changed.wait_timeout(line, starts - now);
                    waited.unwrap_or_else(PoisonError::into_inner).0
                }
                Some(_) => match line.take(now) {
                    Some(pass) => return Some(pass),
                    None => line,
                },
            };
        }
    }

    /// Rejects all queries from now on, and those that wait.
    pub fn close(&self) {
        let mut line = self.lock();
        line.closed = true;
        line.groups = Turns::default();
        line.waiting = 0;
        self.changed.notify_all();
    }

    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// A thread that panics with the lock does so between two changes.
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn push(&mut self, client: IpAddr, group: Group, now: Instant) {
        self.waiting += group.waiting.len();
        for _ in 0..group.waiting.len().min(FAST) {
            if self.arrivals.len() == FAST {
                self.arrivals.pop_front();
            }
            self.arrivals.push_back(now);
        }
        let hold = if self.is_fast(now) { HOLD } else { Duration::ZERO };
        self.starts.get_or_insert(now + hold);
        self.groups.push(client, group);
    }

    fn is_fast(&self, now: Instant) -> bool {
        let first = self.arrivals.front().filter(|_| self.arrivals.len() == FAST);
        first.is_some_and(|&first| now - first < Duration::from_secs(1))
    }

    /// The queries of the next pass, one of each client in turn and of its groups in turn, so that a request with a thousand
    /// does not delay a request with one. A pass reads one published version, that of the first group. `None` if no query waits any more.
    fn take(&mut self, now: Instant) -> Option<Group> {
        let mut pass: Option<Group> = None;
        // Consecutive groups that remain and had nothing for this pass.
        let mut passed_over = 0;
        while passed_over < self.groups.iter().count() {
            let Some((client, mut group)) = self.groups.pop() else { break };
            let published = pass.as_ref().map_or(&group.published, |pass| &pass.published);
            let fits = Arc::ptr_eq(published, &group.published);
            match if fits { self.next_of(&mut group) } else { None } {
                Some(waiting) => {
                    passed_over = 0;
                    let new = || Group { published: group.published.clone(), waiting: VecDeque::new() };
                    pass.get_or_insert_with(new).waiting.push_back(waiting);
                }
                None => passed_over += usize::from(!group.waiting.is_empty()),
            }
            if !group.waiting.is_empty() {
                self.groups.push(client, group);
            }
            if pass.as_ref().is_some_and(|pass| pass.waiting.len() == QUERIES_PER_PASS) {
                break;
            }
        }
        // The remaining groups have waited long enough.
        self.starts = (!self.groups.is_empty()).then_some(now);
        pass
    }

    /// The next query of a group that was not cancelled.
    fn next_of(&mut self, group: &mut Group) -> Option<Waiting> {
        loop {
            let waiting = group.waiting.pop_front()?;
            self.waiting -= 1;
            if !waiting.reply.is_closed() {
                return Some(waiting);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::published;
    use crate::turns::testing::client;

    type Replies = Vec<oneshot::Receiver<Vec<Hit>>>;

    fn group(published: &Arc<Published>, n_queries: usize) -> (Group, Replies) {
        let mut group = Group { published: published.clone(), waiting: VecDeque::new() };
        let mut replies = Vec::new();
        for number in 0..n_queries {
            let (reply, replied) = oneshot::channel();
            // The number of neighbors identifies the query.
            group.waiting.push_back(Waiting { query: Query::neighbors(0, number), reply });
            replies.push(replied);
        }
        (group, replies)
    }

    fn names(pass: &Group) -> Vec<usize> {
        pass.waiting.iter().map(|waiting| waiting.query.n).collect()
    }

    #[test]
    fn a_lone_query_starts_at_once_and_fast_ones_are_held() {
        let published = published(3, 2);
        let mut line = Line::default();
        let start = Instant::now();
        line.push(client(1), group(&published, 1).0, start);
        assert_eq!(line.starts, Some(start));
        line.take(start);
        assert_eq!(line.starts, None);
        for number in 1..FAST as u32 {
            let now = start + number * Duration::from_millis(10);
            line.push(client(1), group(&published, 1).0, now);
            let hold = if number as usize == FAST - 1 { HOLD } else { Duration::ZERO };
            assert_eq!(line.starts, Some(now + hold));
            line.take(now);
        }
        let later = start + Duration::from_secs(5);
        line.push(client(1), group(&published, 1).0, later);
        assert_eq!(line.starts, Some(later));
    }

    #[test]
    fn the_groups_take_turns() {
        let published = published(3, 2);
        let (many, _many_wait) = group(&published, 20);
        let (few, _few_wait) = group(&published, 2);
        let mut line = Line::default();
        let now = Instant::now();
        line.push(client(1), many, now);
        line.push(client(1), few, now);
        assert_eq!(names(&line.take(now).unwrap()), [0, 0, 1, 1, 2, 3, 4, 5]);
        assert_eq!((line.waiting, line.starts), (14, Some(now)));
        assert_eq!(names(&line.take(now).unwrap()), [6, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(line.take(now).unwrap().waiting.len(), 6);
        assert_eq!((line.waiting, line.starts), (0, None));
        assert!(line.take(now).is_none());
    }

    #[test]
    fn the_clients_take_turns() {
        let published = published(3, 2);
        let mut line = Line::default();
        let now = Instant::now();
        // Ten requests of one client, and one of another.
        let _wait: Vec<Replies> = (0..11)
            .map(|number| {
                let (group, replies) = group(&published, 2);
                line.push(client(if number == 10 { 2 } else { 1 }), group, now);
                replies
            })
            .collect();
        assert_eq!(names(&line.take(now).unwrap()), [0, 0, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_pass_has_queries_of_one_version_only() {
        let [old, new] = [published(3, 2), published(3, 2)];
        let mut line = Line::default();
        let now = Instant::now();
        let groups = [&old, &new, &old].map(|published| group(published, 1));
        let _wait = groups.map(|(group, replies)| {
            line.push(client(1), group, now);
            replies
        });
        let pass = line.take(now).unwrap();
        assert!(Arc::ptr_eq(&pass.published, &old) && pass.waiting.len() == 2);
        let pass = line.take(now).unwrap();
        assert!(Arc::ptr_eq(&pass.published, &new) && pass.waiting.len() == 1);
    }

    #[test]
    fn cancelled_queries_cost_nothing() {
        let published = published(3, 2);
        let (gone, replies) = group(&published, 5);
        drop(replies);
        let (here, _wait) = group(&published, 1);
        let mut line = Line::default();
        let now = Instant::now();
        line.push(client(1), gone, now);
        line.push(client(1), here, now);
        assert_eq!(line.take(now).unwrap().waiting.len(), 1);
        assert_eq!((line.waiting, line.groups.is_empty()), (0, true));
    }

    #[test]
    fn a_full_queue_and_a_closed_one_reject() {
        let published = published(3, 2);
        let pending = Pending::default();
        let (four, _wait) = group(&published, 4);
        pending.push(client(1), four).unwrap();
        let message = pending.push(client(1), group(&published, MAX_WAITING).0).unwrap_err().to_string();
        assert_eq!(message, "4 queries are waiting; the limit is 4096");
        assert_eq!(pending.waiting(), 4);
        pending.close();
        assert!(!pending.push(client(1), group(&published, 1).0).unwrap());
        assert!(pending.next().is_none());
    }
}
