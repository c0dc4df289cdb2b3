//! Queries that wait for the next pass.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use skipstream::embeddings::Query;
use tokio::sync::oneshot;

use super::Hit;
use crate::error::{Error, Result};
use crate::published::Published;
use crate::turns::Turns;

/// The maximum number of queries in a pass. With more, those that arrive next wait longer than sharing saves.
const QUERIES_PER_PASS: usize = 8;

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
        line.push(client, group);
        drop(line);
        self.changed.notify_one();
        Ok(true)
    }

    /// The queries of the next pass; `None` after the queue was closed. It waits only while there are none: those that
    /// arrive during a pass share the next one, so nobody ever waits for company.
    pub fn next(&self) -> Option<Group> {
        let mut line = self.lock();
        loop {
            if line.closed {
                return None;
            }
            if let Some(pass) = line.take() {
                return Some(pass);
            }
            line = self.changed.wait(line).unwrap_or_else(PoisonError::into_inner);
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
    fn push(&mut self, client: IpAddr, group: Group) {
        self.waiting += group.waiting.len();
        self.groups.push(client, group);
    }

    /// The queries of the next pass, one of each client in turn and of its groups in turn, so that a request with a thousand
    /// does not delay a request with one. A pass reads one published version, that of the first group. `None` if no query waits any more.
    fn take(&mut self) -> Option<Group> {
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
    use std::time::{Duration, Instant};

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

    /// The test is the thread that searches: a pass runs between two calls of `next`.
    #[test]
    fn a_lone_query_has_a_pass_of_its_own_and_those_that_arrive_meanwhile_share_the_next() {
        let published = published(3, 2);
        let pending = Pending::default();
        let push = |number: u8, n_queries| {
            let (group, replies) = group(&published, n_queries);
            pending.push(client(number), group).unwrap();
            replies
        };
        let started = Instant::now();
        for _ in 0..2_000 {
            let _wait = push(1, 1);
            assert_eq!(pending.next().unwrap().waiting.len(), 1);
        }
        // With a wait of even 20 ms for company, these were 40 seconds.
        assert!(started.elapsed() < Duration::from_secs(20));
        let _wait = [push(1, 1), push(2, 2), push(3, 1)];
        assert_eq!(pending.next().unwrap().waiting.len(), 4);
        let _wait = push(4, QUERIES_PER_PASS + 1);
        assert_eq!(pending.next().unwrap().waiting.len(), QUERIES_PER_PASS);
        assert_eq!(pending.next().unwrap().waiting.len(), 1);
    }

    #[test]
    fn the_groups_take_turns() {
        let published = published(3, 2);
        let (many, _many_wait) = group(&published, 20);
        let (few, _few_wait) = group(&published, 2);
        let mut line = Line::default();
        line.push(client(1), many);
        line.push(client(1), few);
        assert_eq!(names(&line.take().unwrap()), [0, 0, 1, 1, 2, 3, 4, 5]);
        assert_eq!(line.waiting, 14);
        assert_eq!(names(&line.take().unwrap()), [6, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(line.take().unwrap().waiting.len(), 6);
        assert_eq!(line.waiting, 0);
        assert!(line.take().is_none());
    }

    #[test]
    fn the_clients_take_turns() {
        let published = published(3, 2);
        let mut line = Line::default();
        // Ten requests of one client, and one of another.
        let _wait: Vec<Replies> = (0..11)
            .map(|number| {
                let (group, replies) = group(&published, 2);
                line.push(client(if number == 10 { 2 } else { 1 }), group);
                replies
            })
            .collect();
        assert_eq!(names(&line.take().unwrap()), [0, 0, 0, 1, 0, 0, 0, 0]);
    }

    #[test]
    fn a_pass_has_queries_of_one_version_only() {
        let [old, new] = [published(3, 2), published(3, 2)];
        let mut line = Line::default();
        let groups = [&old, &new, &old].map(|published| group(published, 1));
        let _wait = groups.map(|(group, replies)| {
            line.push(client(1), group);
            replies
        });
        let pass = line.take().unwrap();
        assert!(Arc::ptr_eq(&pass.published, &old) && pass.waiting.len() == 2);
        let pass = line.take().unwrap();
        assert!(Arc::ptr_eq(&pass.published, &new) && pass.waiting.len() == 1);
    }

    #[test]
    fn cancelled_queries_cost_nothing() {
        let published = published(3, 2);
        let (gone, replies) = group(&published, 5);
        drop(replies);
        let (here, _wait) = group(&published, 1);
        let mut line = Line::default();
        line.push(client(1), gone);
        line.push(client(1), here);
        assert_eq!(line.take().unwrap().waiting.len(), 1);
        assert_eq!((line.waiting, line.groups.iter().count()), (0, 0));
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
