//! Questions that wait for the next pass.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use skipstream::embeddings::{Found, QUESTIONS_IN_A_PASS};
use tokio::sync::oneshot;

use super::desk::Question;
use crate::error::{Error, Result};
use crate::published::Published;

/// When questions come fast, the first waits so long for others to share its pass.
///
/// At 200 questions a second that makes four of a pass, and takes 0.21 of a core in place of 0.54 (see
/// [`Desk`](super::Desk) for what a pass takes).
const HOLD: Duration = Duration::from_millis(20);

/// Questions come fast when so many came within a second: then at least one other is expected while one is held.
const FAST: usize = 64;

/// Questions that were asked together, of the same vectors.
#[derive(Debug)]
pub(super) struct Group {
    published: Arc<Published>,
    waiting: VecDeque<Waiting>,
}

/// A question, and whom to tell.
#[derive(Debug)]
pub(super) struct Waiting {
    pub question: Question,
    pub reply: oneshot::Sender<Vec<Found>>,
}

/// Questions that are answered together.
#[derive(Debug)]
pub(super) struct Pass {
    pub published: Arc<Published>,
    pub waiting: Vec<Waiting>,
}

/// The questions that wait, of all who ask.
#[derive(Debug)]
pub(super) struct Queue {
    line: Mutex<Line>,
    changed: Condvar,
    max_waiting: usize,
}

#[derive(Debug, Default)]
struct Line {
    groups: VecDeque<Group>,
    /// The questions of all groups.
    waiting: usize,
    /// The next pass starts then, or when it is full; none while nobody waits.
    starts: Option<Instant>,
    /// When the last questions came, at most [`FAST`] of them.
    arrivals: VecDeque<Instant>,
    closed: bool,
}

impl Group {
    pub fn new(published: Arc<Published>) -> Group {
        Group { published, waiting: VecDeque::new() }
    }

    pub fn push(&mut self, waiting: Waiting) {
        self.waiting.push_back(waiting);
    }
}

impl Queue {
    pub fn new(max_waiting: usize) -> Queue {
        Queue { line: Mutex::default(), changed: Condvar::new(), max_waiting }
    }

    /// Takes all questions of a group, or none of them.
    pub fn push(&self, group: Group) -> Result<()> {
        if group.waiting.is_empty() {
            return Ok(());
        }
        let mut line = self.lock();
        if line.closed {
            return Err(Error::Stopping);
        }
        if line.waiting + group.waiting.len() > self.max_waiting {
            return Err(Error::Busy { waiting: line.waiting, limit: self.max_waiting });
        }
        line.push(group, Instant::now());
        self.changed.notify_one();
        Ok(())
    }

    /// The questions of the next pass, when it is time for them; none when the queue was closed.
    pub fn next(&self) -> Option<Pass> {
        let mut line = self.lock();
        loop {
            if line.closed {
                return None;
            }
            let now = Instant::now();
            line = match line.starts {
                None => self.changed.wait(line).unwrap_or_else(PoisonError::into_inner),
                Some(starts) if now < starts && line.waiting < QUESTIONS_IN_A_PASS => {
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

    /// Refuses all questions from now on, and those that wait.
    pub fn close(&self) {
        let mut line = self.lock();
        line.closed = true;
        line.groups.clear();
        line.waiting = 0;
        self.changed.notify_all();
    }

    pub fn waiting(&self) -> usize {
        self.lock().waiting
    }

    /// Whoever panicked with the lock in hand did so between two changes.
    fn lock(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Line {
    fn push(&mut self, group: Group, now: Instant) {
        self.waiting += group.waiting.len();
        for _ in 0..group.waiting.len().min(FAST) {
            if self.arrivals.len() == FAST {
                self.arrivals.pop_front();
            }
            self.arrivals.push_back(now);
        }
        let hold = if self.is_fast(now) { HOLD } else { Duration::ZERO };
        self.starts.get_or_insert(now + hold);
        self.groups.push_back(group);
    }

    fn is_fast(&self, now: Instant) -> bool {
        let first = self.arrivals.front().filter(|_| self.arrivals.len() == FAST);
        first.is_some_and(|&first| now - first < Duration::from_secs(1))
    }

    /// As many questions as a pass can answer, one of each group in turn: who asks a thousand does not hold up who asks
    /// one. A pass goes over the vectors of one publication, that of the first group; none if nobody waits any more.
    fn take(&mut self, now: Instant) -> Option<Pass> {
        let mut pass: Option<Pass> = None;
        // Groups in a row that stay and had nothing for this pass.
        let mut passed_over = 0;
        while passed_over < self.groups.len() {
            let Some(mut group) = self.groups.pop_front() else { break };
            let published = pass.as_ref().map_or(&group.published, |pass| &pass.published);
            let fits = Arc::ptr_eq(published, &group.published);
            match if fits { self.next_of(&mut group) } else { None } {
                Some(waiting) => {
                    passed_over = 0;
                    let new = || Pass { published: group.published.clone(), waiting: Vec::new() };
                    pass.get_or_insert_with(new).waiting.push(waiting);
                }
                None => passed_over += usize::from(!group.waiting.is_empty()),
            }
            if !group.waiting.is_empty() {
                self.groups.push_back(group);
            }
            if pass.as_ref().is_some_and(|pass| pass.waiting.len() == QUESTIONS_IN_A_PASS) {
                break;
            }
        }
        // Who could not come along has waited long enough.
        self.starts = (!self.groups.is_empty()).then_some(now);
        pass
    }

    /// The next question of a group that somebody still waits for.
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

    type Replies = Vec<oneshot::Receiver<Vec<Found>>>;

    fn group(published: &Arc<Published>, n_questions: usize) -> (Group, Replies) {
        let mut group = Group::new(published.clone());
        let mut replies = Vec::new();
        for number in 0..n_questions {
            let (reply, replied) = oneshot::channel();
            // The number of neighbours serves as a name.
            group.push(Waiting { question: Question::about_row(published, 0, number), reply });
            replies.push(replied);
        }
        (group, replies)
    }

    fn names(pass: &Pass) -> Vec<usize> {
        pass.waiting.iter().map(|waiting| waiting.question.n).collect()
    }

    #[test]
    fn a_lone_question_starts_at_once_and_fast_ones_are_held() {
        let published = published(3, 2);
        let mut line = Line::default();
        let start = Instant::now();
        line.push(group(&published, 1).0, start);
        assert_eq!(line.starts, Some(start));
        line.take(start);
        assert_eq!(line.starts, None);
        for number in 1..FAST as u32 {
            let now = start + number * Duration::from_millis(10);
            line.push(group(&published, 1).0, now);
            let hold = if number as usize == FAST - 1 { HOLD } else { Duration::ZERO };
            assert_eq!(line.starts, Some(now + hold));
            line.take(now);
        }
        let later = start + Duration::from_secs(5);
        line.push(group(&published, 1).0, later);
        assert_eq!(line.starts, Some(later));
    }

    #[test]
    fn the_groups_take_turns() {
        let published = published(3, 2);
        let (many, _many_wait) = group(&published, 20);
        let (few, _few_wait) = group(&published, 2);
        let mut line = Line::default();
        let now = Instant::now();
        line.push(many, now);
        line.push(few, now);
        assert_eq!(names(&line.take(now).unwrap()), [0, 0, 1, 1, 2, 3, 4, 5]);
        assert_eq!((line.waiting, line.starts), (14, Some(now)));
        assert_eq!(names(&line.take(now).unwrap()), [6, 7, 8, 9, 10, 11, 12, 13]);
        assert_eq!(line.take(now).unwrap().waiting.len(), 6);
        assert_eq!((line.waiting, line.starts), (0, None));
        assert!(line.take(now).is_none());
    }

    #[test]
    fn a_pass_has_questions_about_the_same_vectors_only() {
        let [old, new] = [published(3, 2), published(3, 2)];
        let mut line = Line::default();
        let now = Instant::now();
        let groups = [&old, &new, &old].map(|published| group(published, 1));
        let _wait = groups.map(|(group, replies)| {
            line.push(group, now);
            replies
        });
        let pass = line.take(now).unwrap();
        assert!(Arc::ptr_eq(&pass.published, &old) && pass.waiting.len() == 2);
        let pass = line.take(now).unwrap();
        assert!(Arc::ptr_eq(&pass.published, &new) && pass.waiting.len() == 1);
    }

    #[test]
    fn questions_of_who_went_away_cost_nothing() {
        let published = published(3, 2);
        let (gone, replies) = group(&published, 5);
        drop(replies);
        let (here, _wait) = group(&published, 1);
        let mut line = Line::default();
        let now = Instant::now();
        line.push(gone, now);
        line.push(here, now);
        assert_eq!(line.take(now).unwrap().waiting.len(), 1);
        assert_eq!((line.waiting, line.groups.len()), (0, 0));
    }

    #[test]
    fn a_full_queue_and_a_closed_one_refuse() {
        let published = published(3, 2);
        let queue = Queue::new(5);
        let (four, _wait) = group(&published, 4);
        queue.push(four).unwrap();
        let message = queue.push(group(&published, 2).0).unwrap_err().to_string();
        assert_eq!(message, "4 queries are waiting; the limit is 5");
        assert_eq!(queue.waiting(), 4);
        queue.close();
        assert!(matches!(queue.push(group(&published, 1).0), Err(Error::Stopping)));
        assert!(queue.next().is_none());
    }
}
