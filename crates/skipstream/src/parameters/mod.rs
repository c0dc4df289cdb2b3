//! The numbers that are learned: a target row and a context row for each word, and AdaGrad's state.
//!
//! Rows belong to blocks by id, so that threads can own disjoint blocks; the rows of a block are contiguous. A row is
//! padded with zeros to whole [`Lanes`] and 64-byte aligned (misaligned rows take 1.2–1.6 times as long).
//!
//! Invariant: a row is found by [`WordId`], or within a block by the row number of the layout.

mod matrix;

use std::ops::Range;

use crate::config::{AdaGrad, Settings, Strategy};
use crate::error::Result;
use crate::random::{Purpose, Random};
use crate::vocabulary::WordId;

pub(crate) use matrix::Matrix;
pub use matrix::{LANES, Lanes};

/// The position of a word's rows: block id mod `blocks`, row id / `blocks`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub dimensions: usize,
    pub lanes_per_row: usize,
    /// A power of two.
    pub blocks: usize,
    pub rows_per_block: usize,
}

impl Layout {
    pub fn new(settings: &Settings) -> Layout {
        let blocks = match settings.strategy() {
            Strategy::MiniBatch(options) => options.blocks,
            _ => 1,
        };
        Layout {
            dimensions: settings.dimensions(),
            lanes_per_row: settings.dimensions().div_ceil(LANES),
            blocks,
            rows_per_block: settings.max_vocabulary().div_ceil(blocks),
        }
    }

    /// The block of a word.
    #[inline]
    pub fn block(&self, id: WordId) -> usize {
        id.index() & (self.blocks - 1)
    }

    /// The row of a word within its block.
    #[inline]
    pub fn row(&self, id: WordId) -> usize {
        id.index() >> self.blocks.trailing_zeros()
    }

    #[inline]
    pub fn row_in_matrix(&self, id: WordId) -> usize {
        self.block(id) * self.rows_per_block + self.row(id)
    }

    fn rows(&self) -> usize {
        self.blocks * self.rows_per_block
    }
}

/// All rows.
#[derive(Debug)]
pub struct Parameters {
    layout: Layout,
    /// Decides on the first values of target rows.
    pub(crate) seed: u64,
    /// The rows of words as targets, t of the paper.
    pub(crate) target: Side,
    /// The rows of words as contexts, c of the paper.
    pub(crate) context: Side,
}

/// The rows of one role, and what AdaGrad remembers of them.
#[derive(Debug)]
pub(crate) struct Side {
    pub rows: Matrix,
    pub accumulators: Accumulators,
}

/// Sums of squared gradients.
#[derive(Debug)]
pub(crate) enum Accumulators {
    /// One for each row: the mean over its dimensions.
    Row(Vec<f32>),
    /// One for each dimension of each row.
    Dimension(Matrix),
    /// None: the rate does not depend on the row.
    None,
}

/// A row to be changed, and what AdaGrad remembers of it.
#[derive(Debug)]
pub(crate) struct RowMut<'a> {
    pub values: &'a mut [Lanes],
    pub state: State<'a>,
}

/// What AdaGrad remembers of a row.
#[derive(Debug)]
pub(crate) enum State<'a> {
    /// A sum for each dimension.
    Dimension(&'a mut [Lanes]),
    /// A sum for the row.
    Row(&'a mut f32),
    /// Nothing: the rate is the same for all rows.
    None,
}

/// A part of a [`Side`] that one thread owns for a while.
#[derive(Debug)]
pub(crate) struct Block<'a> {
    pub rows: &'a mut [Lanes],
    pub accumulators: &'a mut [f32],
    pub lanes_per_row: usize,
}

impl Parameters {
    pub(crate) fn new(settings: &Settings) -> Result<Parameters> {
        let layout = Layout::new(settings);
        Ok(Parameters {
            layout,
            seed: settings.seed(),
            target: Side::of_rows(layout.rows(), settings)?,
            context: Side::of_rows(layout.rows(), settings)?,
        })
    }

    /// Parameters without rows, for a coordinator whose workers have them.
    pub(crate) fn without_rows(settings: &Settings) -> Result<Parameters> {
        let side = || Side::of_rows(0, settings);
        Ok(Parameters {
            layout: Layout::new(settings),
            seed: settings.seed(),
            target: side()?,
            context: side()?,
        })
    }

    /// Bytes that all rows take when every slot is used.
    pub(crate) fn max_bytes(settings: &Settings) -> u64 {
        let layout = Layout::new(settings);
        let rows = layout.rows() as u64;
        let row = (layout.lanes_per_row * size_of::<Lanes>()) as u64;
        let accumulators = match settings.strategy().adagrad() {
            Some(AdaGrad::Row) => size_of::<f32>() as u64,
            Some(AdaGrad::Dimension) => row,
            None => 0,
        };
        2 * rows * (row + accumulators)
    }

    pub(crate) fn layout(&self) -> Layout {
        self.layout
    }

    /// Takes over the rows of the first `slots` words. Both must be of the same settings.
    pub(crate) fn copy_from(&mut self, other: &Parameters, slots: usize) {
        assert_eq!(self.layout, other.layout, "parameters of other settings cannot be taken over");
        let layout = self.layout;
        let used = slots.div_ceil(layout.blocks).min(layout.rows_per_block);
        for block in 0..layout.blocks {
            let first = block * layout.rows_per_block;
            self.target.copy_rows(&other.target, first..first + used);
            self.context.copy_rows(&other.context, first..first + used);
        }
    }

    /// Copies the rows of a word, with AdaGrad's state, to another id.
    pub(crate) fn copy_row(&mut self, from: WordId, to: WordId) {
        let [from, to] = [from, to].map(|id| self.layout.row_in_matrix(id));
        self.target.copy_row(from, to);
        self.context.copy_row(from, to);
    }

    /// The target row and the context row of a word.
    pub(crate) fn rows_mut(&mut self, id: WordId) -> [RowMut<'_>; 2] {
        let row = self.layout.row_in_matrix(id);
        [self.target.row_mut(row), self.context.row_mut(row)]
    }

    /// The word's vector as a target.
    pub fn target(&self, id: WordId) -> &[f32] {
        self.row(&self.target.rows, id)
    }

    /// The word's vector as a context.
    pub fn context(&self, id: WordId) -> &[f32] {
        self.row(&self.context.rows, id)
    }

    fn row<'a>(&self, matrix: &'a Matrix, id: WordId) -> &'a [f32] {
        &matrix.row(self.layout.row_in_matrix(id)).as_flattened()[..self.layout.dimensions]
    }
}

impl RowMut<'_> {
    /// Forgets the word that had the row: values are zero, AdaGrad's sums as at first.
    pub fn clear(&mut self, dimensions: usize) {
        self.values.fill([0.0; LANES]);
        match &mut self.state {
            State::Row(sum) => **sum = first_square(dimensions),
            State::Dimension(sums) => sums.fill([0.0; LANES]),
            State::None => {}
        }
    }
}

/// The first value of a row's sum. With 0, the first gradient moves a row by the whole rate, however small it is: at 100
/// dimensions, 3·10⁻⁴ gains 1 point of WS353 and of SimLex. At 400 dimensions even 2·10⁻⁵ loses 2 points of analogies, so
/// the value falls fast with the dimensions. (Sums by dimension start at 0, as in the paper.)
pub(crate) fn first_square(dimensions: usize) -> f32 {
    let excess = (dimensions as f64 / 100.0).max(1.0);
    (3e-4 / excess.powi(4)) as f32
}

/// The first values of a target row: uniform in ±0.5 / dimensions. Contexts start at zero.
pub(crate) fn fill_new_target(row: &mut [f32], seed: u64, birth: u64) {
    let mut random = Random::for_purpose(seed, Purpose::Row, [birth, 0]);
    let scale = 1.0 / row.len() as f64;
    for value in row {
        *value = ((random.uniform() - 0.5) * scale) as f32;
    }
}

impl Side {
    /// As many rows.
    pub fn of_rows(rows: usize, settings: &Settings) -> Result<Side> {
        let layout = Layout::new(settings);
        Ok(Side {
            rows: Matrix::new(rows, layout.lanes_per_row)?,
            accumulators: match settings.strategy().adagrad() {
                Some(AdaGrad::Row) => Accumulators::Row(vec![0.0; rows]),
                Some(AdaGrad::Dimension) => Accumulators::Dimension(Matrix::new(rows, layout.lanes_per_row)?),
                None => Accumulators::None,
            },
        })
    }

    /// A row and its state.
    #[inline]
    pub fn row_mut(&mut self, row: usize) -> RowMut<'_> {
        let state = match &mut self.accumulators {
            Accumulators::Row(sums) => State::Row(&mut sums[row]),
            Accumulators::Dimension(sums) => State::Dimension(sums.row_mut(row)),
            Accumulators::None => State::None,
        };
        RowMut { values: self.rows.row_mut(row), state }
    }

    /// AdaGrad's sums; rates must be by row.
    pub fn sums(&self) -> &[f32] {
        match &self.accumulators {
            Accumulators::Row(sums) => sums,
            _ => unreachable!("the settings allow workers only with rates by row"),
        }
    }

    pub fn sums_mut(&mut self) -> &mut [f32] {
        match &mut self.accumulators {
            Accumulators::Row(sums) => sums,
            _ => unreachable!("the settings allow workers only with rates by row"),
        }
    }

    fn copy_row(&mut self, from: usize, to: usize) {
        self.rows.copy_row(from, to);
        match &mut self.accumulators {
            Accumulators::Row(sums) => sums[to] = sums[from],
            Accumulators::Dimension(sums) => sums.copy_row(from, to),
            Accumulators::None => {}
        }
    }

    fn copy_rows(&mut self, other: &Side, rows: Range<usize>) {
        self.rows.copy_rows(&other.rows, rows.clone());
        match (&mut self.accumulators, &other.accumulators) {
            (Accumulators::Row(to), Accumulators::Row(from)) => to[rows.clone()].copy_from_slice(&from[rows]),
            (Accumulators::Dimension(to), Accumulators::Dimension(from)) => to.copy_rows(from, rows),
            (Accumulators::None, Accumulators::None) => {}
            _ => unreachable!("the settings decide on the accumulators, and they are the same"),
        }
    }

    /// The blocks, one for each thread that asks; rates must be by row.
    pub fn blocks(&mut self, layout: Layout) -> impl Iterator<Item = Block<'_>> {
        let Layout { lanes_per_row, rows_per_block, .. } = layout;
        let Accumulators::Row(accumulators) = &mut self.accumulators else {
            unreachable!("the settings allow blocks only with rates by row");
        };
        self.rows
            .lanes_mut()
            .chunks_mut(rows_per_block * lanes_per_row)
            .zip(accumulators.chunks_mut(rows_per_block))
            .map(move |(rows, accumulators)| Block { rows, accumulators, lanes_per_row })
    }
}

impl Block<'_> {
    /// Multiplies AdaGrad's sums of the first rows by `left`, down to what a new row has: as the gradients of old text are
    /// forgotten, steps grow again.
    pub fn fade(&mut self, rows: usize, left: f32, dimensions: usize) {
        let least = first_square(dimensions);
        self.accumulators[..rows].iter_mut().for_each(|sum| *sum = (*sum * left).max(least));
    }

    #[inline]
    pub fn row(&self, row: usize) -> &[Lanes] {
        &self.rows[row * self.lanes_per_row..][..self.lanes_per_row]
    }

    #[inline]
    pub fn row_mut(&mut self, row: usize) -> RowMut<'_> {
        RowMut {
            values: &mut self.rows[row * self.lanes_per_row..][..self.lanes_per_row],
            state: State::Row(&mut self.accumulators[row]),
        }
    }
}
