//! Followed files and the messages of brokers, as one stream.

use std::thread;
use std::time::{Duration, Instant};

use skipstream::corpus::{Follow, Ledger, Read, Sentence, Source, TextReport};
use skipstream::{Result, Trainer};
#[cfg(feature = "brokers")]
pub use skipstream_server::Messages;

#[cfg(not(feature = "brokers"))]
pub use super::absent::Messages;
use super::args::TrainArgs;

/// The number of sentences read from the files, or from a broker, before the others have their turn.
const TURN_SENTENCES: usize = 1_000;

/// How long a read waits for messages before it reports that there is nothing now. They arrive in parts, and what is there is
/// learned even if it does not fill a batch.
const PATIENCE: Duration = Duration::from_millis(50);
const LOOK_EVERY: Duration = Duration::from_millis(2);

pub struct Followed {
    pub files: Follow,
    pub messages: Vec<Messages>,
    /// Whose turn it is: the files come first.
    turn: usize,
    /// The number of sentences in this turn.
    given: usize,
}

impl Followed {
    /// Starts to read the brokers, where the ledger says.
    pub fn start(files: Follow, args: &TrainArgs, trainer: &Trainer) -> anyhow::Result<Followed> {
        Messages::check(&args.source)?;
        let nothing = Ledger::default();
        let ledger = if args.again { &nothing } else { trainer.ledger() };
        let mut messages = Vec::new();
        for url in &args.source {
            messages.push(Messages::start(url, ledger, trainer.settings().text())?);
        }
        Ok(Followed { files, messages, turn: 0, given: 0 })
    }

    pub fn record_positions(&mut self, ledger: &mut Ledger) -> Result<()> {
        self.messages.iter_mut().for_each(|messages| messages.record_position(ledger));
        self.files.record_positions(ledger)
    }

    pub fn report(&self) -> TextReport {
        self.messages.iter().fold(self.files.report(), |sum, messages| sum + messages.report())
    }

    /// Reads the next sentence, if there is one now.
    fn read_now(&mut self, sentence: &mut Sentence) -> Result<Read> {
        if self.given == TURN_SENTENCES {
            self.next_turn();
        }
        let mut nothing = Read::End;
        for _ in 0..=self.messages.len() {
            let read = match self.turn.checked_sub(1) {
                None => self.files.read(sentence)?,
                Some(number) => self.messages[number].read(sentence)?,
            };
            match read {
                Read::Sentence => {
                    self.given += 1;
                    return Ok(Read::Sentence);
                }
                Read::Pending => nothing = Read::Pending,
                Read::End => {}
            }
            self.next_turn();
        }
        Ok(nothing)
    }

    fn next_turn(&mut self) {
        self.turn = (self.turn + 1) % (1 + self.messages.len());
        self.given = 0;
    }
}

impl Source for Followed {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let mut since = None;
        loop {
            let read = self.read_now(sentence)?;
            let waited = since.get_or_insert_with(Instant::now).elapsed();
            if read != Read::Pending || self.messages.is_empty() || waited >= PATIENCE {
                return Ok(read);
            }
            thread::sleep(LOOK_EVERY);
        }
    }
}
