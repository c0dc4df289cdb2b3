//! The coordinator: everything of a trainer but the rows.

use super::super::cell::Trained;
use super::super::mini_batch::{Batch, Batches};
use super::super::read_ahead::TrainBatch;
use super::super::{Initial, MemoryBound, Method, Observer, Progress, StopReason, Stream, Trainer};
use super::message::{COORDINATOR, Envelope, Kind, MessageError, Reader, Session, Writer};
use super::share::Share;
use crate::config::{Config, Settings};
use crate::corpus::{Ledger, Source};
use crate::error::{Error, Result};
use crate::kernel::Kernel;
use crate::parameters::{Layout, Parameters};
use crate::vocabulary::{Vocabulary, WordId};

/// The messages that begin a batch.
#[derive(Debug)]
pub struct BatchMessages {
    /// The words, for all workers.
    pub batch: Vec<u8>,
    /// What each worker alone needs.
    pub own: Vec<Vec<u8>>,
}

/// The workers, as a coordinator reaches them.
pub trait Cluster {
    /// Sends a batch to the workers, and returns while they train it.
    fn start(&mut self, messages: BatchMessages) -> Result<()>;

    /// Waits until the workers have trained the batch. Returns the message of each worker, in order.
    fn wait(&mut self) -> Result<Vec<Vec<u8>>>;
}

/// Reads, counts and samples text, and has workers train it.
///
/// It is a [`Trainer`] without the rows: vocabulary, replay buffer, phrases, ledger and totals. After an error of the
/// cluster, it must be loaded again, like the workers.
#[derive(Debug)]
pub struct Coordinator {
    /// Its parameters have no rows, and its grid is not used.
    pub(crate) trainer: Trainer,
    pub(crate) share: Share,
    session: Session,
    /// The frequencies that the workers have.
    sent: Vec<u64>,
    is_lost: bool,
}

impl Coordinator {
    /// An empty model for this many workers.
    pub fn new(config: Config, workers: usize, session: Session) -> Result<Coordinator> {
        let trainer = Trainer::of_rows(config, Kernel::best(), Parameters::without_rows)?;
        Coordinator::of(trainer, workers, session)
    }

    pub(crate) fn of(trainer: Trainer, workers: usize, session: Session) -> Result<Coordinator> {
        let share = Share::new(&trainer.settings, workers)?;
        if let Some(initial) = trainer.initial() {
            let limit = "left out with several workers";
            return Err(Error::setting("init", &initial.source.file, limit));
        }
        Ok(Coordinator { trainer, share, session, sent: Vec::new(), is_lost: false })
    }

    /// Learns from a source until it has no more text, or the observer asks for a pause; like
    /// [`Trainer::train_observed`].
    pub fn train(
        &mut self,
        source: &mut dyn Source,
        cluster: &mut dyn Cluster,
        observer: &mut dyn Observer,
    ) -> Result<StopReason> {
        let (batches, _, stream, mut workers) = self.parts(cluster)?;
        let (stopped, trained) = batches.train(&mut workers, stream, source, observer);
        self.is_lost = trained.is_err();
        trained.and(stopped)
    }

    /// Trains the text that still waits for its replay; like [`Trainer::finish_observed`].
    pub fn finish(&mut self, cluster: &mut dyn Cluster, observer: &mut dyn Observer) -> Result<StopReason> {
        let (batches, settings, stream, mut workers) = self.parts(cluster)?;
        let finished = batches.finish(&mut workers, settings, stream, observer);
        self.is_lost = finished.is_err();
        finished
    }

    fn parts<'a>(
        &'a mut self,
        cluster: &'a mut dyn Cluster,
    ) -> Result<(&'a mut Batches, &'a Settings, &'a mut Stream, OnWorkers<'a>)> {
        if self.is_lost {
            return Err(MessageError::Failed.into());
        }
        let Trainer { settings, stream, method, .. } = &mut self.trainer;
        let Method::MiniBatch(method) = method else { unreachable!("only mini-batch has workers") };
        let workers = OnWorkers {
            cluster,
            share: self.share,
            session: self.session,
            layout: stream.parameters.layout(),
            sent: &mut self.sent,
        };
        Ok((&mut method.batches, settings, stream, workers))
    }

    /// The settings.
    pub fn settings(&self) -> &Settings {
        self.trainer.settings()
    }

    /// The words, with their counts.
    pub fn vocabulary(&self) -> &Vocabulary {
        self.trainer.vocabulary()
    }

    /// The progress since the stream began.
    pub fn progress(&self) -> Progress {
        self.trainer.progress()
    }

    /// Number of tokens that wait for their replay, counted once per replay.
    pub fn waiting(&self) -> u64 {
        self.trainer.waiting()
    }

    /// Batches that were trained.
    pub fn batches(&self) -> u64 {
        let Method::MiniBatch(method) = &self.trainer.method else { return 0 };
        method.batches()
    }

    /// The sources that were learned.
    pub fn ledger(&self) -> &Ledger {
        self.trainer.ledger()
    }

    /// The sources that were learned, for the reader to update.
    pub fn ledger_mut(&mut self) -> &mut Ledger {
        self.trainer.ledger_mut()
    }

    /// The memory bound, without rows and noise, which the [workers](super::WorkerBound) have.
    pub fn memory_bound(&self) -> MemoryBound {
        MemoryBound { parameters: 0, noise: 0, ..self.trainer.memory_bound() }
    }

    /// Number of workers.
    pub fn workers(&self) -> usize {
        self.share.workers
    }
}

/// Trains batches on workers.
struct OnWorkers<'a> {
    cluster: &'a mut dyn Cluster,
    share: Share,
    session: Session,
    layout: Layout,
    sent: &'a mut Vec<u64>,
}

impl TrainBatch for OnWorkers<'_> {
    type Error = Error;

    fn train_batch(
        &mut self,
        _: &mut Parameters,
        _: Option<&Initial>,
        batch: &Batch,
        _: usize,
        meanwhile: impl FnOnce(),
    ) -> Result<Trained> {
        let messages = BatchMessages { batch: self.shared(batch), own: self.own(batch) };
        self.cluster.start(messages)?;
        meanwhile();
        let results = self.cluster.wait()?;
        self.sum(batch.number, &results)
    }
}

impl OnWorkers<'_> {
    fn envelope(&self, number: u64, kind: Kind, to: usize) -> Envelope {
        Envelope { session: self.session, batch: number, kind, from: COORDINATOR, to }
    }

    /// The message for all workers.
    fn shared(&self, batch: &Batch) -> Vec<u8> {
        let mut message = Writer::new(self.envelope(batch.number, Kind::Batch, COORDINATOR));
        let rate = |rate: f32| u64::from(rate.to_bits());
        let fading = batch.fading.map_or(0, rate);
        let fades = u64::from(batch.fading.is_some());
        message.section(&[batch.frequencies.len() as u64, rate(batch.learning_rate), fading, fades]);
        message.section(&batch.words);
        let reaches: Vec<[u16; 2]> = batch.reaches.iter().map(|reach| [reach.left, reach.right]).collect();
        message.section(&reaches);
        message.finish()
    }

    /// The message for each worker: its new words, and the frequencies that have changed.
    fn own(&mut self, batch: &Batch) -> Vec<Vec<u8>> {
        let worker_of = |id: WordId| {
            let block = self.layout.block(id);
            (0..self.share.workers).position(|worker| self.share.of(worker).contains(&block))
        };
        let workers: Vec<usize> = (0..self.share.blocks as u32)
            .map(|block| worker_of(WordId::from_saved(block)).expect("every block has a worker"))
            .collect();
        let mut fresh = vec![(Vec::new(), Vec::new()); self.share.workers];
        for word in &batch.fresh {
            let (ids, births) = &mut fresh[workers[self.layout.block(word.id)]];
            ids.push(word.id);
            births.push(word.birth);
        }
        let mut changed = vec![(Vec::new(), Vec::new()); self.share.workers];
        self.sent.resize(batch.frequencies.len(), 0);
        for ((slot, &frequency), sent) in (0u32..).zip(&batch.frequencies).zip(&mut *self.sent) {
            if *sent != frequency {
                *sent = frequency;
                let (slots, frequencies) = &mut changed[workers[slot as usize & (self.share.blocks - 1)]];
                slots.push(slot);
                frequencies.push(frequency);
            }
        }
        let messages = fresh.into_iter().zip(changed).enumerate();
        let messages = messages.map(|(worker, ((ids, births), (slots, frequencies)))| {
            let mut message = Writer::new(self.envelope(batch.number, Kind::Own, worker));
            message.section(&ids);
            message.section(&births);
            message.section(&slots);
            message.section(&frequencies);
            message.finish()
        });
        messages.collect()
    }

    /// Adds up what the cells gave.
    fn sum(&self, number: u64, results: &[Vec<u8>]) -> Result<Trained> {
        if results.len() != self.share.workers {
            return Err(MessageError::Order.into());
        }
        // Worker after worker, the cells are in the order of their numbers.
        let mut cells = Vec::with_capacity(self.share.blocks * self.share.blocks);
        for (worker, bytes) in results.iter().enumerate() {
            let envelope = self.envelope(number, Kind::Results, COORDINATOR);
            let mut message = Reader::new(bytes, Envelope { from: worker, ..envelope })?;
            let n_cells = self.share.of(worker).len() * self.share.blocks;
            let pairs: Vec<u64> = message.exactly(n_cells)?;
            let losses: Vec<f64> = message.exactly(n_cells)?;
            message.end()?;
            cells.extend(pairs.into_iter().zip(losses).map(|(pairs, loss)| Trained { pairs, loss }));
        }
        Ok(Trained::sum(&cells))
    }
}
