//! The numbers that are learned: a target row and a context row for each word, and AdaGrad's state.
//!
//! Rows are dealt to blocks by id, so that threads can own disjoint blocks; the rows of a block lie
//! together. A row is padded to whole [`Lanes`], 64-byte aligned (misaligned rows cost 1.2–1.6 times the time);
//! the padding is always zero.
//!
//! Invariant: a row is asked for by [`WordId`], or within a block by the row that the layout gave.

mod matrix;

use std::ops::Range;

use crate::config::{AdaGrad, Settings, Strategy};
use crate::error::Result;
use crate::random::{Purpose, Random};
use crate::vocabulary::{Recycle, WordId};

pub(crate) use matrix::Matrix;
pub use matrix::{LANES, Lanes};

/// Where a word's rows are: in block id mod `blocks`, behind one another.
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
    seed: u64,
    /// The rows of words as centers, t of the paper.
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
            target: Side::new(layout, settings)?,
            context: Side::new(layout, settings)?,
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

    /// The word's vector as a center.
    pub fn target(&self, id: WordId) -> &[f32] {
        self.row(&self.target.rows, id)
    }

    /// The word's vector as a center, to be set.
    pub(crate) fn target_mut(&mut self, id: WordId) -> &mut [f32] {
        let row = self.layout.row_in_matrix(id);
        &mut self.target.rows.row_mut(row).as_flattened_mut()[..self.layout.dimensions]
    }

    /// The word's vector as a context.
    pub fn context(&self, id: WordId) -> &[f32] {
        self.row(&self.context.rows, id)
    }

    fn row<'a>(&self, matrix: &'a Matrix, id: WordId) -> &'a [f32] {
        &matrix.row(self.layout.row_in_matrix(id)).as_flattened()[..self.layout.dimensions]
    }
}

/// Where the sum of a row starts. From 0, the first gradient, however small, moves a row by the whole rate: at 100
/// dimensions, 3·10⁻⁴ brings 1 point of WS353 and of SimLex. At 400 dimensions already 2·10⁻⁵ costs 2 points of
/// analogies, so it goes down fast with the dimensions. (By dimension the sums start at 0, as in the paper.)
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

impl Recycle for Parameters {
    fn recycle(&mut self, id: WordId, birth: u64) {
        let row = self.layout.row_in_matrix(id);
        let dimensions = self.layout.dimensions;
        let target = self.target.rows.row_mut(row).as_flattened_mut();
        fill_new_target(&mut target[..dimensions], self.seed, birth);
        self.context.rows.row_mut(row).fill([0.0; LANES]);
        self.target.accumulators.reset(row, dimensions);
        self.context.accumulators.reset(row, dimensions);
    }
}

impl Side {
    fn new(layout: Layout, settings: &Settings) -> Result<Side> {
        let rows = layout.rows();
        Ok(Side {
            rows: Matrix::new(rows, layout.lanes_per_row)?,
            accumulators: match settings.strategy().adagrad() {
                Some(AdaGrad::Row) => Accumulators::Row(vec![0.0; rows]),
                Some(AdaGrad::Dimension) => Accumulators::Dimension(Matrix::new(rows, layout.lanes_per_row)?),
                None => Accumulators::None,
            },
        })
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

impl Accumulators {
    fn reset(&mut self, row: usize, dimensions: usize) {
        match self {
            Accumulators::Row(values) => values[row] = first_square(dimensions),
            Accumulators::Dimension(matrix) => matrix.row_mut(row).fill([0.0; LANES]),
            Accumulators::None => {}
        }
    }
}

impl Block<'_> {
    #[inline]
    pub fn row(&self, row: usize) -> &[Lanes] {
        &self.rows[row * self.lanes_per_row..][..self.lanes_per_row]
    }

    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [Lanes] {
        &mut self.rows[row * self.lanes_per_row..][..self.lanes_per_row]
    }
}
