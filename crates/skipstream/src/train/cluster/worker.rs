//! A worker: the rows of some blocks, and the cells that are trained with them.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Mutex;

use super::super::cell::{self, CellScratch, CellSettings, ContextBlock, TargetBlock, Trained};
use super::super::fresh::FreshRows;
use super::super::grid::scratches;
use super::super::mini_batch::Batch;
use super::super::runs::BlockPairs;
use super::super::schedule::{CellPlace, Schedule};
use super::guests::{Guests, Key, write_rows};
use super::message::{COORDINATOR, Envelope, Kind, MessageError, Reader, Session, Writer};
use super::share::Share;
use crate::config::{Config, Settings};
use crate::error::Result;
use crate::kernel::{FloatMode, Kernel, RUNS};
use crate::noise::AliasTable;
use crate::pairs::Reach;
use crate::parameters::{Block, Layout, Side};
use crate::random::Random;
use crate::vocabulary::WordId;

/// No place.
const NOWHERE: u32 = u32::MAX;

/// Holds the rows of some blocks, and trains the cells of these targets.
///
/// For each batch, its methods are called in this order: [`begin`](Worker::begin), [`lend`](Worker::lend), one
/// [`visit`](Worker::visit) per other worker, [`finish`](Worker::finish). After an error, a worker refuses everything.
#[derive(Debug)]
pub struct Worker {
    pub(crate) settings: Settings,
    pub(crate) share: Share,
    /// Which worker it is.
    pub(crate) number: usize,
    /// Its rows, block after block.
    pub(crate) target: Side,
    pub(crate) context: Side,
    /// f(w) of the words of each block, by row.
    pub(crate) frequencies: Vec<Vec<u64>>,
    session: Session,
    cells: CellSettings,
    noises: Vec<AliasTable>,
    pairs: Vec<BlockPairs>,
    scratches: Vec<CellScratch>,
    /// The contexts of another worker, by block.
    guests: Vec<Guests>,
    /// Where each row of a block is among the guests.
    places: Vec<u32>,
    batch: Batch,
    /// Rows of each of its blocks that are away.
    lent: Vec<usize>,
    results: Vec<Trained>,
    step: Step,
}

/// What a worker does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Begin,
    Lend,
    Visit(usize),
    Finish,
    /// Nothing: it failed.
    Failed,
}

/// Where the negatives of a cell come from.
enum Negatives<'a> {
    Drawn(&'a AliasTable, Random),
    Given(std::slice::Iter<'a, u32>),
}

impl Negatives<'_> {
    fn draw(&mut self) -> Option<u32> {
        match self {
            Negatives::Drawn(noise, random) => noise.draw(random),
            Negatives::Given(list) => list.next().copied(),
        }
    }
}

impl Worker {
    /// Worker `number` of `workers`, with empty rows. All of a training have the same settings and session.
    pub fn new(config: Config, number: usize, workers: usize, session: Session) -> Result<Worker> {
        let settings = config.check()?;
        let share = Share::new(&settings, workers)?;
        let layout = Layout::new(&settings);
        let own = share.of(number).len();
        let rows = own * layout.rows_per_block;
        Ok(Worker {
            share,
            number,
            target: Side::of_rows(rows, &settings)?,
            context: Side::of_rows(rows, &settings)?,
            frequencies: vec![Vec::new(); own],
            session,
            cells: CellSettings::new(&settings, Kernel::best()),
            noises: vec![AliasTable::default(); own],
            pairs: (0..own).map(|_| BlockPairs::default()).collect(),
            scratches: scratches(&settings, own),
            guests: (0..share.largest())
                .map(|_| Guests::new(layout.dimensions, layout.lanes_per_row))
                .collect(),
            places: if workers > 1 { vec![NOWHERE; layout.rows_per_block] } else { Vec::new() },
            batch: Batch::default(),
            lent: vec![0; own],
            results: vec![Trained::default(); own * layout.blocks],
            step: Step::Begin,
            settings,
        })
    }

    /// The rows that each block has space for.
    pub(crate) fn rows_per_block(&self) -> usize {
        self.cells.layout.rows_per_block
    }

    /// The blocks whose rows it has.
    pub(crate) fn blocks(&self) -> Range<usize> {
        self.share.of(self.number)
    }

    /// Begins a batch: prepares its rows, and finds its pairs. Returns a message for each worker: the contexts needed of it.
    /// That for itself is empty.
    ///
    /// `batch` and `own` are the messages of the coordinator.
    pub fn begin(&mut self, batch: &[u8], own: &[u8]) -> Result<Vec<Vec<u8>>> {
        self.step(Step::Begin)?;
        self.receive(batch, own)?;
        self.prepare();
        let needs = (0..self.share.workers).map(|home| self.needs(home)).collect();
        self.step = Step::Lend;
        Ok(needs)
    }

    /// Trains the first part of the cells with its own contexts, and lends the rows that others need. `needs` are the
    /// messages of the other workers, in order. Returns a message for each worker; that for itself is empty.
    pub fn lend(&mut self, needs: &[&[u8]]) -> Result<Vec<Vec<u8>>> {
        self.step(Step::Lend)?;
        let own = self.blocks();
        self.train_own(|target| 0..own.end - target);
        let needs = self.by_sender(needs, Kind::Needs)?;
        let lent = self.lend_rows(needs)?;
        self.step = if self.share.workers > 1 { Step::Visit(1) } else { Step::Finish };
        Ok(lent)
    }

    /// Trains its targets with the contexts of the next worker. `lent` comes from their home, and `passed` from the worker
    /// that they visited before; there is none in the first phase. Returns the message for the worker that they visit next,
    /// and the one for their home.
    pub fn visit(&mut self, lent: &[u8], passed: Option<&[u8]>) -> Result<[Vec<u8>; 2]> {
        let Step::Visit(phase) = self.step else { return Err(MessageError::Order.into()) };
        self.step(Step::Visit(phase))?;
        let (number, workers) = (self.number, self.share.workers);
        let home = self.share.host(number, phase);
        let mut lent = Reader::new(lent, self.from(Kind::Lend, home))?;
        let before = (number + 1) % workers;
        let passed = match (passed, phase) {
            (None, 1) => None,
            (Some(passed), 2..) => Some(Reader::new(passed, self.from(Kind::Pass, before))?),
            _ => return Err(MessageError::Order.into()),
        };
        self.train_guests(home, &mut lent, passed)?;
        lent.end()?;
        let after = (number + workers - 1) % workers;
        let goes_on: fn(u32, u32) -> bool = |last, now| last > now;
        let goes_home: fn(u32, u32) -> bool = |last, now| last <= now;
        let messages =
            [(Kind::Pass, after, goes_on), (Kind::Return, home, goes_home)].map(|(kind, to, goes)| {
                let mut message = Writer::new(self.to(kind, to));
                for guests in &self.guests[..self.share.of(home).len()] {
                    guests.send(&mut message, |last| goes(last, phase as u32));
                }
                message.finish()
            });
        self.step = if phase + 1 < workers { Step::Visit(phase + 1) } else { Step::Finish };
        Ok(messages)
    }

    /// Ends a batch: takes its rows back, and trains the last part of the cells with its own contexts. `returned` are the
    /// messages of the other workers, in order. Returns the message for the coordinator.
    pub fn finish(&mut self, returned: &[&[u8]]) -> Result<Vec<u8>> {
        self.step(Step::Finish)?;
        let returned = self.by_sender(returned, Kind::Return)?;
        self.take_back(returned)?;
        let (own, blocks) = (self.blocks(), self.share.blocks);
        self.train_own(|target| blocks - (target - own.start)..blocks);
        let mut message = Writer::new(self.to(Kind::Results, COORDINATOR));
        message.section(&self.results.iter().map(|cell| cell.pairs).collect::<Vec<_>>());
        message.section(&self.results.iter().map(|cell| cell.loss).collect::<Vec<_>>());
        self.step = Step::Begin;
        Ok(message.finish())
    }

    /// Takes the next step, if it is this one. Until it is done, the worker counts as failed.
    fn step(&mut self, step: Step) -> Result<()> {
        match std::mem::replace(&mut self.step, Step::Failed) {
            next if next == step => Ok(()),
            Step::Failed => Err(MessageError::Failed.into()),
            _ => Err(MessageError::Order.into()),
        }
    }

    fn from(&self, kind: Kind, from: usize) -> Envelope {
        Envelope { session: self.session, batch: self.batch.number, kind, from, to: self.number }
    }

    fn to(&self, kind: Kind, to: usize) -> Envelope {
        Envelope { session: self.session, batch: self.batch.number, kind, from: self.number, to }
    }

    /// The messages of the other workers, in order, by their senders.
    fn by_sender<'a>(&self, messages: &[&'a [u8]], kind: Kind) -> Result<BTreeMap<usize, Reader<'a>>> {
        if messages.len() + 1 != self.share.workers {
            return Err(MessageError::Order.into());
        }
        let senders = self.share.others(self.number).zip(messages);
        senders.map(|(from, bytes)| Ok((from, Reader::new(bytes, self.from(kind, from))?))).collect()
    }

    /// Reads the messages of the coordinator.
    fn receive(&mut self, shared: &[u8], own: &[u8]) -> Result<()> {
        self.batch.number = Reader::batch(shared)?;
        let mut shared =
            Reader::new(shared, Envelope { to: COORDINATOR, ..self.from(Kind::Batch, COORDINATOR) })?;
        let [slots, learning_rate, fading, fades] = shared.exactly::<u64>(4)?[..] else {
            return Err(MessageError::Damaged.into());
        };
        let slots = usize::try_from(slots).ok().filter(|&slots| slots <= self.settings.max_vocabulary());
        let slots = slots.ok_or(MessageError::Damaged)?;
        self.batch.learning_rate = f32::from_bits(learning_rate as u32);
        self.batch.fading = (fades != 0).then_some(f32::from_bits(fading as u32));
        let words: Vec<u32> = shared.values()?;
        let reaches: Vec<[u16; 2]> = shared.exactly(words.len())?;
        shared.end()?;
        let fits = |(position, &[left, right]): (usize, &[u16; 2])| {
            usize::from(left) <= position && usize::from(right) < words.len() - position
        };
        if !words.iter().all(|&word| (word as usize) < slots) || !reaches.iter().enumerate().all(fits) {
            return Err(MessageError::Damaged.into());
        }
        self.batch.words.clear();
        self.batch.words.extend(words.into_iter().map(WordId::from_saved));
        self.batch.reaches.clear();
        self.batch.reaches.extend(reaches.into_iter().map(|[left, right]| Reach { left, right }));

        let mut own = Reader::new(own, self.from(Kind::Own, COORDINATOR))?;
        let fresh: Vec<u32> = own.values()?;
        let births: Vec<u64> = own.exactly(fresh.len())?;
        let changed: Vec<u32> = own.values()?;
        let frequencies: Vec<u64> = own.exactly(changed.len())?;
        own.end()?;
        let blocks = self.blocks();
        for (block, frequencies) in blocks.clone().zip(&mut self.frequencies) {
            frequencies.resize(self.share.rows(block, slots), 0);
        }
        let layout = self.cells.layout;
        let is_own =
            |&slot: &u32| (slot as usize) < slots && blocks.contains(&layout.block(WordId::from_saved(slot)));
        if !fresh.iter().chain(&changed).all(is_own) {
            return Err(MessageError::Damaged.into());
        }
        for (slot, frequency) in changed.into_iter().zip(frequencies) {
            let id = WordId::from_saved(slot);
            self.frequencies[layout.block(id) - blocks.start][layout.row(id)] = frequency;
        }
        let fresh = fresh.into_iter().map(WordId::from_saved).zip(births);
        self.batch.fresh.clear();
        self.batch.fresh.extend(fresh.map(|(id, birth)| FreshRows::at_random(id, birth)));
        Ok(())
    }

    /// Resets new rows, fades sums, builds the noise and collects the pairs of its blocks.
    fn prepare(&mut self) {
        let own = self.blocks();
        let settings = &self.cells.of_batch(&self.batch);
        let layout = settings.layout;
        let blocks: Vec<_> = (self.target.blocks(layout).zip(&mut self.pairs))
            .zip(self.context.blocks(layout).zip(&mut self.noises))
            .map(|((rows, pairs), (context_rows, noise))| {
                Mutex::new((TargetBlock { rows, pairs }, ContextBlock { rows: context_rows, noise }))
            })
            .collect();
        let (batch, frequencies) = (&self.batch, &self.frequencies);
        // The first round of the schedule, as on one machine.
        let schedule = Schedule::part(layout.blocks, own.clone().map(|block| (block, 0..1)));
        on_threads(&mut self.scratches, |_| {
            schedule.work(|place| {
                let index = place.target - own.start;
                let (targets, contexts) = &mut *blocks[index].try_lock().expect(FREE);
                let frequencies = frequencies[index].iter().copied();
                cell::prepare(place.target, batch, frequencies, None, settings, targets, contexts);
            });
        });
    }

    /// The message that says which contexts of another worker are needed: the number of groups of each cell, by which the
    /// home draws their negatives, and the distinct contexts of the pairs.
    fn needs(&mut self, home: usize) -> Vec<u8> {
        if home == self.number {
            return Vec::new();
        }
        let mut message = Writer::new(self.to(Kind::Needs, home));
        for block in self.share.of(home) {
            let groups: Vec<u32> = self.pairs.iter().map(|pairs| pairs.runs(block).groups() as u32).collect();
            message.section(&groups);
            let mut rows = Vec::new();
            for &row in self.pairs.iter().flat_map(|pairs| pairs.runs(block).contexts()) {
                let place = &mut self.places[row as usize];
                if *place == NOWHERE {
                    *place = 0;
                    rows.push(row);
                }
            }
            rows.iter().for_each(|&row| self.places[row as usize] = NOWHERE);
            message.section(&rows);
        }
        message.finish()
    }

    /// Draws the negatives of the other workers' cells, and sends each row that they need to the worker that needs it first.
    fn lend_rows(&mut self, mut needs: BTreeMap<usize, Reader<'_>>) -> Result<Vec<Vec<u8>>> {
        let (share, number, layout) = (self.share, self.number, self.cells.layout);
        let (own, dimensions) = (self.blocks(), layout.dimensions);
        let mut messages: Vec<Writer> =
            (0..share.workers).map(|to| Writer::new(self.to(Kind::Lend, to))).collect();
        // A cell has at most all pairs of the batch, each in a run of its own.
        let pairs = self.batch.reaches.iter().map(|reach| usize::from(reach.left) + usize::from(reach.right));
        let most_groups = pairs.sum::<usize>().div_ceil(RUNS);
        for (index, block) in own.enumerate() {
            let n_rows = self.frequencies[index].len();
            // The first and the last phase in which each row is needed.
            let mut phases = vec![[0u32; 2]; n_rows];
            let mut lent = 0;
            for phase in 1..share.workers {
                // The contexts visit the workers in this order.
                let visitor = share.host(number, share.workers - phase);
                let reader = needs.get_mut(&visitor).ok_or(MessageError::Order)?;
                let targets = share.of(visitor);
                let groups: Vec<u32> = reader.exactly(targets.len())?;
                if groups.iter().any(|&groups| groups as usize > most_groups) {
                    return Err(MessageError::Damaged.into());
                }
                let positives: Vec<u32> = reader.values()?;
                let mut negatives = Vec::new();
                for (target, &groups) in targets.zip(&groups) {
                    let round = (block + share.blocks - target) % share.blocks;
                    let place = CellPlace { target, round };
                    let mut random = cell::random(self.cells.seed, self.batch.number, place, share.blocks);
                    let n_negatives = groups as usize * self.cells.shared_negatives;
                    let draw = || self.noises[index].draw(&mut random);
                    negatives.extend(std::iter::from_fn(draw).take(n_negatives));
                }
                let mut first_needed = Vec::new();
                for &row in positives.iter().chain(&negatives) {
                    let phases = phases.get_mut(row as usize).ok_or(MessageError::Damaged)?;
                    if phases[0] == 0 {
                        phases[0] = phase as u32;
                        first_needed.push(row);
                    }
                    phases[1] = phase as u32;
                }
                lent += first_needed.len();
                messages[visitor].section(&negatives);
            }
            // The last phases are known now.
            let mut by_phase: Vec<Vec<Key>> = vec![Vec::new(); share.workers];
            for (row, [first, last]) in (0..).zip(phases) {
                if first > 0 {
                    by_phase[first as usize].push([row, last]);
                }
            }
            let start = index * layout.rows_per_block;
            let sums = self.context.sums();
            for (phase, keys) in by_phase.iter().enumerate().skip(1) {
                let message = &mut messages[share.host(number, share.workers - phase)];
                let sums: Vec<f32> = keys.iter().map(|key| sums[start + key[0] as usize]).collect();
                let rows = keys
                    .iter()
                    .map(|key| &self.context.rows.row(start + key[0] as usize).as_flattened()[..dimensions]);
                write_rows(message, dimensions, keys, &sums, rows);
            }
            self.lent[index] = lent;
        }
        needs.into_values().try_for_each(Reader::end)?;
        let messages = messages.into_iter().map(Writer::finish).enumerate();
        Ok(messages.map(|(to, message)| if to == number { Vec::new() } else { message }).collect())
    }

    /// Trains the cells of its targets with the contexts of another worker, which `lent` and `passed` have.
    fn train_guests<'a>(
        &mut self,
        home: usize,
        lent: &mut Reader<'a>,
        mut passed: Option<Reader<'a>>,
    ) -> Result<()> {
        let (own, theirs) = (self.blocks(), self.share.of(home));
        let mut negatives = Vec::new();
        for (guests, block) in self.guests.iter_mut().zip(theirs.clone()) {
            let mut drawn: Vec<u32> = lent.values()?;
            match &mut passed {
                Some(passed) => guests.receive(&mut [lent, passed])?,
                None => guests.receive(&mut [lent])?,
            }
            self.places.fill(NOWHERE);
            for (place, &[row, _]) in (0..).zip(guests.keys()) {
                *self.places.get_mut(row as usize).ok_or(MessageError::Damaged)? = place;
            }
            // From here on, contexts and negatives are numbers of guests.
            let places = &self.places;
            let mut is_complete = true;
            let mut replace = |row: &mut u32| {
                *row = places.get(*row as usize).copied().unwrap_or(NOWHERE);
                is_complete &= *row != NOWHERE;
            };
            for pairs in &mut self.pairs {
                pairs.contexts_mut(block).iter_mut().for_each(&mut replace);
            }
            drawn.iter_mut().for_each(&mut replace);
            let n_drawn: Vec<usize> = (self.pairs.iter())
                .map(|pairs| pairs.runs(block).groups() * self.cells.shared_negatives)
                .collect();
            // Without noise there are no negatives.
            if !is_complete || !drawn.is_empty() && drawn.len() != n_drawn.iter().sum::<usize>() {
                return Err(MessageError::Damaged.into());
            }
            negatives.push((drawn, n_drawn));
        }
        self.places.fill(NOWHERE);
        passed.map_or(Ok(()), Reader::end)?;

        let blocks = self.share.blocks;
        let rounds = |target: usize| {
            let first = (theirs.start + blocks - target) % blocks;
            first..first + theirs.len()
        };
        let contexts =
            self.guests[..theirs.len()].iter_mut().map(|guests| Mutex::new(guests.block())).collect();
        let given = |place: CellPlace| {
            let (drawn, n_drawn) = &negatives[place.context(blocks) - theirs.start];
            let target = place.target - own.start;
            let start = n_drawn[..target].iter().sum::<usize>();
            let given = drawn.get(start..start + n_drawn[target]).unwrap_or_default();
            Negatives::Given(given.iter())
        };
        let schedule = Schedule::part(blocks, own.clone().map(|target| (target, rounds(target))));
        let settings = self.cells.of_batch(&self.batch);
        let targets = self.target.blocks(settings.layout).zip(&mut self.pairs);
        let targets = targets.map(|(rows, pairs)| Mutex::new(TargetBlock { rows, pairs })).collect();
        let cells = Cells { own: own.clone(), contexts_start: theirs.start, settings, targets, contexts };
        cells.train(&schedule, given, &mut self.scratches, &mut self.results);
        Ok(())
    }

    /// Trains these rounds of its targets, whose contexts are its own.
    fn train_own(&mut self, rounds: impl Fn(usize) -> Range<usize>) {
        let own = self.blocks();
        let settings = self.cells.of_batch(&self.batch);
        let blocks = settings.layout.blocks;
        let schedule = Schedule::part(blocks, own.clone().map(|target| (target, rounds(target))));
        let targets = self.target.blocks(settings.layout).zip(&mut self.pairs);
        let targets = targets.map(|(rows, pairs)| Mutex::new(TargetBlock { rows, pairs })).collect();
        let contexts = self.context.blocks(settings.layout).map(Mutex::new).collect();
        let (noises, number) = (&self.noises, self.batch.number);
        let drawn = |place: CellPlace| {
            let random = cell::random(settings.seed, number, place, blocks);
            Negatives::Drawn(&noises[place.context(blocks) - own.start], random)
        };
        let cells = Cells { contexts_start: own.start, own: own.clone(), settings, targets, contexts };
        cells.train(&schedule, drawn, &mut self.scratches, &mut self.results);
    }

    /// Puts the rows that were away into their places.
    fn take_back(&mut self, mut returned: BTreeMap<usize, Reader<'_>>) -> Result<()> {
        let layout = self.cells.layout;
        let dimensions = layout.dimensions;
        for (index, lent) in self.lent.iter_mut().enumerate() {
            let start = index * layout.rows_per_block;
            for message in returned.values_mut() {
                let keys: Vec<Key> = message.values()?;
                let sums: Vec<f32> = message.exactly(keys.len())?;
                let values = message.bytes()?;
                if values.len() != keys.len() * dimensions * size_of::<f32>() {
                    return Err(MessageError::Damaged.into());
                }
                let values = values.chunks_exact(dimensions * size_of::<f32>());
                for ((&[row, _], sum), values) in keys.iter().zip(sums).zip(values) {
                    let row = row as usize;
                    if row >= self.frequencies[index].len() {
                        return Err(MessageError::Damaged.into());
                    }
                    let to = &mut self.context.rows.row_mut(start + row).as_flattened_mut()[..dimensions];
                    bytemuck::cast_slice_mut(to).copy_from_slice(values);
                    self.context.sums_mut()[start + row] = sum;
                }
                *lent = lent.checked_sub(keys.len()).ok_or(MessageError::Damaged)?;
            }
            if *lent > 0 {
                return Err(MessageError::Damaged.into());
            }
        }
        returned.into_values().try_for_each(Reader::end)
    }
}

const FREE: &str = "the schedule gives a block to one cell at a time";

/// The blocks of a phase.
struct Cells<'a> {
    own: Range<usize>,
    contexts_start: usize,
    settings: CellSettings,
    targets: Vec<Mutex<TargetBlock<'a>>>,
    contexts: Vec<Mutex<Block<'a>>>,
}

impl Cells<'_> {
    /// Trains the cells of a schedule. `negatives` has those of each cell.
    fn train<'n>(
        &self,
        schedule: &Schedule,
        negatives: impl Fn(CellPlace) -> Negatives<'n> + Sync,
        scratches: &mut [CellScratch],
        results: &mut [Trained],
    ) {
        let blocks = self.settings.layout.blocks;
        let first = self.own.start * blocks;
        let results = Mutex::new(results);
        on_threads(scratches, |scratch| {
            schedule.work(|place| {
                let mut targets = self.targets[place.target - self.own.start].try_lock().expect(FREE);
                let context = place.context(blocks);
                let mut contexts = self.contexts[context - self.contexts_start].try_lock().expect(FREE);
                let mut negatives = negatives(place);
                let draw = || negatives.draw();
                let trained =
                    cell::train(context, &self.settings, &mut targets, &mut contexts, draw, scratch);
                results.lock().expect("nothing panics with this lock")[place.number(blocks) - first] =
                    trained;
            });
        });
    }
}

/// Does the same on each thread, this one included.
fn on_threads(scratches: &mut [CellScratch], work: impl Fn(&mut CellScratch) + Sync) {
    let _mode = FloatMode::standard();
    let work = &work;
    std::thread::scope(|scope| {
        let (own, others) = scratches.split_first_mut().expect("this thread has one");
        for scratch in others {
            // If the system has no more threads, fewer do the same work.
            drop(std::thread::Builder::new().spawn_scoped(scope, || work(scratch)));
        }
        work(own);
    });
}
