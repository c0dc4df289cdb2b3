//! Messages → sentences of a trainer that has no service.

use std::cell::RefCell;
use std::io::{self, Cursor};
use std::path::PathBuf;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use skipstream::corpus::{
    InvalidUtf8, Ledger, Lines, Position, Read, Sentence, Source, TextOptions, TextReport,
};
use tokio::sync::mpsc::{self, error::TryRecvError};

use super::Feed;
use super::messages::MessageId;
use super::reader::{Destination, ReadLines, Reader};
use crate::broker::url::{Protocol, SourceUrl};
use crate::error::{Error, Result};
use crate::log::Chunk;
use crate::settings::{SOURCE_BYTES, ServeSettings};
use crate::source_status::{SourceState, SourceStatus, Sources};
use crate::threads;

/// The number of chunks that are read ahead of training.
const READ_AHEAD: usize = 4;

/// The messages of a broker as a source of sentences. A thread of its own reads them, a little ahead.
///
/// [`record_position`](Self::record_position) writes the position to the ledger of the model, which is saved with the model:
/// so each message is learned exactly once, whatever is killed. Messages that the broker deleted before they were read are an
/// error, unless the URL says `lost=continue`.
pub struct Messages {
    /// The name of its position.
    name: String,
    url: String,
    options: TextOptions,
    deliveries: mpsc::Receiver<Delivery>,
    status: Arc<Sources>,
    /// The problem that was last returned.
    problem: Option<String>,
    /// Where messages are read from that were not delivered yet.
    next: Option<Value>,
    /// Messages that were learned in part before, at most one in each partition: others may arrive before them.
    partial: Vec<Partial>,
    current: Option<Unpacked>,
    /// Words since the last entry in the ledger.
    words: u64,
    report: TextReport,
}

/// A position as it is in the ledger.
#[derive(Debug, Serialize, Deserialize)]
struct Saved {
    /// That of the protocol.
    position: Value,
    /// The next messages of partitions that were learned in part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    partial: Vec<Partial>,
}

/// How much of a message was learned.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct Partial {
    partition: Option<i32>,
    offset: u64,
    sentences: u64,
}

/// Lines of messages, for the trainer.
struct Delivery {
    chunk: Chunk,
    messages: Vec<(MessageId, usize)>,
    /// The position after this many of the messages.
    position_after: Box<dyn Fn(usize) -> Value + Send>,
}

/// A delivery, and how far it was read.
struct Unpacked {
    delivery: Delivery,
    /// The number of the message that is read.
    message: usize,
    /// Where it starts in the text, and in the lines.
    start: usize,
    line: usize,
    /// What is read of it.
    open: Option<OpenMessage>,
}

struct OpenMessage {
    lines: Lines<Cursor<Vec<u8>>>,
    weight: f32,
    time: Option<Timestamp>,
    /// Sentences so far, and those of them that were learned before.
    sentences: u64,
    learned: u64,
    /// Where it ends.
    end: usize,
    end_line: usize,
}

impl Messages {
    /// Bytes that a source may use.
    pub const MAX_BYTES: u64 = SOURCE_BYTES;

    /// Checks that URLs are valid and that no two of them have the same position.
    pub fn check(urls: &[String]) -> Result<()> {
        super::check(urls)
    }

    /// Starts to read where the ledger says or, if the stream is not in it, where the URL says.
    pub fn start(url: &str, ledger: &Ledger, options: &TextOptions) -> Result<Messages> {
        let source = SourceUrl::parse(url)?;
        match source.broker.protocol {
            Protocol::Nats => Messages::start_as::<super::nats::Nats>(source, ledger, options),
            Protocol::Kafka => Messages::start_as::<super::kafka::Kafka>(source, ledger, options),
        }
    }

    pub(super) fn start_as<F: Feed>(
        source: SourceUrl,
        ledger: &Ledger,
        options: &TextOptions,
    ) -> Result<Messages> {
        let (name, url) = (source.position_name(), source.to_string());
        let saved = ledger.streams.get(&name).map(|learned| serde_json::from_str::<Saved>(&learned.position));
        let saved = saved.transpose().map_err(|error| {
            Error::Setting(format!("{url}: the position in the model is corrupt: {error}"))
        })?;
        let (next, partial) = saved.map(|saved| (Some(saved.position), saved.partial)).unwrap_or_default();
        let (sender, deliveries) = mpsc::channel(READ_AHEAD);
        let status = Arc::<Sources>::default();
        status.add(url.clone());
        let delivered = Delivered {
            sender,
            position: RefCell::new(next.as_ref().map(Value::to_string)),
            status: status.clone(),
            invalid_utf8: options.invalid_utf8,
            settings: ServeSettings::default(),
        };
        let runtime = threads::runtime("source")?;
        threads::spawn("source", move || {
            runtime.block_on(Reader::new(delivered, source).run::<F>());
            runtime.shutdown_background();
        })?;
        let mut options = options.clone();
        // Invalid messages are skipped when they arrive.
        if options.invalid_utf8 == InvalidUtf8::Error {
            options.invalid_utf8 = InvalidUtf8::Skip;
        }
        Ok(Messages {
            name,
            url,
            options,
            deliveries,
            status,
            problem: None,
            next,
            partial,
            current: None,
            words: 0,
            report: TextReport::default(),
        })
    }

    /// Records in the ledger how far the messages were read. Call it only when everything that was read is learned.
    pub fn record_position(&mut self, ledger: &mut Ledger) {
        let (mut position, mut partial) = (self.next.clone(), self.partial.clone());
        if let Some(Unpacked { delivery, message, open, .. }) = &self.current {
            position = Some((delivery.position_after)(*message));
            if let (Some(open), Some((id, _))) = (open, delivery.messages.get(*message)) {
                let MessageId { partition, offset, .. } = *id;
                partial.push(Partial { partition, offset, sentences: open.sentences });
            }
        }
        let Some(position) = position else { return };
        let position = serde_json::to_value(Saved { position, partial }).unwrap_or_default().to_string();
        ledger.record_stream(&self.name, position, std::mem::take(&mut self.words));
    }

    /// What was found in the text so far.
    pub fn report(&self) -> TextReport {
        self.report.clone()
    }

    /// The URL without the login, and how many messages were skipped because they are invalid.
    pub fn invalid(&self) -> (&str, u64) {
        (&self.url, self.now().invalid)
    }

    /// A problem that is new since the last call.
    pub fn take_problem(&mut self) -> Option<String> {
        let problem = self.now().problem;
        let is_new = problem != self.problem;
        self.problem.clone_from(&problem);
        problem.filter(|_| is_new).map(|problem| format!("{}: {problem}", self.url))
    }

    fn now(&self) -> SourceStatus {
        self.status.list().swap_remove(0)
    }

    /// Takes the next delivery, if there is one now.
    fn receive(&mut self) -> skipstream::Result<bool> {
        // In this order: what was sent before it stopped is received.
        let SourceStatus { state, problem, .. } = self.now();
        match self.deliveries.try_recv() {
            Ok(delivery) => {
                self.current = Some(Unpacked { delivery, message: 0, start: 0, line: 0, open: None });
                Ok(true)
            }
            Err(TryRecvError::Empty) if state != SourceState::Stopped => Ok(false),
            Err(_) => {
                let problem = problem.unwrap_or_else(|| "the thread that reads it has crashed".to_owned());
                Err(skipstream::Error::Io {
                    path: PathBuf::from(&self.url),
                    source: io::Error::other(problem),
                })
            }
        }
    }

    /// Opens the next message of the current delivery. Returns false if there is none.
    fn open_next(&mut self) -> skipstream::Result<bool> {
        let Some(current) = &mut self.current else { return Ok(false) };
        let Unpacked { delivery, message, start, line, open } = current;
        let Some(&(id, end_line)) = delivery.messages.get(*message) else {
            self.next = Some((delivery.position_after)(*message));
            self.current = None;
            return Ok(false);
        };
        let ends = memchr::memchr_iter(b'\n', &delivery.chunk.text[*start..]);
        let length = ends.take(end_line - *line).last().map_or(0, |newline| newline + 1);
        let text = delivery.chunk.text[*start..*start + length].to_vec();
        let is_this = |partial: &Partial| (partial.partition, partial.offset) == (id.partition, id.offset);
        let learned = self.partial.iter().position(is_this).map(|found| self.partial.swap_remove(found));
        // A byte order mark counts only at the start of a stream.
        let within = Position::at(1);
        *open = Some(OpenMessage {
            lines: Lines::starting_at(Cursor::new(text), within, &self.url, &self.options)?,
            weight: delivery.chunk.line_weights.get(*line).copied().unwrap_or(1.0),
            time: delivery.chunk.times.get(*line).copied().flatten(),
            sentences: 0,
            learned: learned.map_or(0, |partial| partial.sentences),
            end: *start + length,
            end_line,
        });
        Ok(true)
    }
}

impl Source for Messages {
    fn read(&mut self, sentence: &mut Sentence) -> skipstream::Result<Read> {
        loop {
            let Some(Unpacked { message, start, line, open, .. }) = &mut self.current else {
                if self.receive()? {
                    continue;
                }
                sentence.clear();
                return Ok(Read::Pending);
            };
            let Some(opened) = open else {
                self.open_next()?;
                continue;
            };
            if !opened.lines.read(sentence)?.is_sentence() {
                self.report += opened.lines.report().clone();
                (*message, *start, *line) = (*message + 1, opened.end, opened.end_line);
                *open = None;
                continue;
            }
            opened.sentences += 1;
            if opened.sentences > opened.learned {
                sentence.set_weight(opened.weight);
                opened.time.into_iter().for_each(|time| sentence.set_time(time.as_microsecond()));
                self.words += sentence.len() as u64;
                return Ok(Read::Sentence);
            }
        }
    }
}

/// The channel to the trainer.
struct Delivered {
    sender: mpsc::Sender<Delivery>,
    /// After what was sent.
    position: RefCell<Option<String>>,
    status: Arc<Sources>,
    invalid_utf8: InvalidUtf8,
    settings: ServeSettings,
}

impl Destination for Delivered {
    fn position(&self) -> Result<Option<String>> {
        Ok(self.position.borrow().clone())
    }

    async fn store<F: Feed>(&self, read: ReadLines<F>) -> Result<()> {
        let ReadLines { chunk, messages, before, after } = read;
        let position = json(&after);
        let ids: Vec<MessageId> = messages.iter().map(|(id, _)| *id).collect();
        let position_after = Box::new(move |n: usize| {
            if n == ids.len() {
                return json(&after);
            }
            let mut position = before.clone();
            ids[..n].iter().for_each(|id| F::advance(&mut position, id));
            json(&position)
        });
        let sent = self.sender.send(Delivery { chunk, messages, position_after }).await;
        sent.map_err(|_| Error::Stopping)?;
        *self.position.borrow_mut() = Some(position.to_string());
        Ok(())
    }

    async fn stopping(&self) {
        self.sender.closed().await;
    }

    fn update(&self, change: impl FnOnce(&mut SourceStatus)) {
        self.status.update(0, change);
    }

    fn tell(&self, _: &str) {}

    fn limits(&self) -> (InvalidUtf8, &ServeSettings) {
        (self.invalid_utf8, &self.settings)
    }
}

/// A position as JSON: it consists of numbers and strings.
fn json(position: &impl Serialize) -> Value {
    serde_json::to_value(position).expect("a position has only keys that JSON has")
}
