//! The context rows of one block that visit a worker.

use super::message::{MessageError, Reader, Writer};
use crate::error::Result;
use crate::parameters::{Block, Matrix};

/// A row of a block, and the last phase in which the batch needs it.
pub(super) type Key = [u32; 2];

/// Rows without gaps, each under a number of its own.
#[derive(Debug)]
pub(super) struct Guests {
    dimensions: usize,
    lanes_per_row: usize,
    keys: Vec<Key>,
    sums: Vec<f32>,
    /// Space for at least as many rows.
    rows: Option<Matrix>,
    capacity: usize,
}

impl Guests {
    pub fn new(dimensions: usize, lanes_per_row: usize) -> Guests {
        Guests { dimensions, lanes_per_row, keys: Vec::new(), sums: Vec::new(), rows: None, capacity: 0 }
    }

    /// Takes rows from messages instead of those of the last visit.
    pub fn receive<'a>(&mut self, messages: &mut [&mut Reader<'a>]) -> Result<()> {
        self.keys.clear();
        self.sums.clear();
        let row_bytes = self.dimensions * size_of::<f32>();
        let mut values = Vec::new();
        for message in messages {
            let keys: Vec<Key> = message.values()?;
            self.sums.extend(message.exactly::<f32>(keys.len())?);
            let bytes = message.bytes()?;
            if bytes.len() != keys.len() * row_bytes {
                return Err(MessageError::Damaged.into());
            }
            self.keys.extend(keys);
            values.push(bytes);
        }
        if self.keys.len() > self.capacity {
            self.capacity = self.keys.len() + self.keys.len() / 4;
            self.rows = Some(Matrix::new(self.capacity, self.lanes_per_row)?);
        }
        if let Some(rows) = &mut self.rows {
            let values = values.into_iter().flat_map(|bytes| bytes.chunks_exact(row_bytes));
            for (row, values) in values.enumerate() {
                let row = &mut rows.row_mut(row).as_flattened_mut()[..self.dimensions];
                bytemuck::cast_slice_mut(row).copy_from_slice(values);
            }
        }
        Ok(())
    }

    /// The rows, in the order of their numbers.
    pub fn keys(&self) -> &[Key] {
        &self.keys
    }

    /// The rows, as a block that has only them.
    pub fn block(&mut self) -> Block<'_> {
        let lanes = self.keys.len() * self.lanes_per_row;
        let rows = self.rows.as_mut().map_or(&mut [][..], |rows| &mut rows.lanes_mut()[..lanes]);
        Block { rows, accumulators: &mut self.sums, lanes_per_row: self.lanes_per_row }
    }

    /// Sends the rows on whose last phase is after this one, or else those that it ends for.
    pub fn send(&self, to: &mut Writer, goes: impl Fn(u32) -> bool) {
        let chosen: Vec<usize> = (0..self.keys.len()).filter(|&row| goes(self.keys[row][1])).collect();
        let keys: Vec<Key> = chosen.iter().map(|&row| self.keys[row]).collect();
        let sums: Vec<f32> = chosen.iter().map(|&row| self.sums[row]).collect();
        let rows = chosen.iter().map(|&row| {
            let rows = self.rows.as_ref().expect("there are rows");
            &rows.row(row).as_flattened()[..self.dimensions]
        });
        write_rows(to, self.dimensions, &keys, &sums, rows);
    }
}

/// Writes rows as [`Guests::receive`] reads them.
pub(super) fn write_rows<'a>(
    to: &mut Writer,
    dimensions: usize,
    keys: &[Key],
    sums: &[f32],
    rows: impl Iterator<Item = &'a [f32]>,
) {
    to.section(keys);
    to.section(sums);
    to.sections(keys.len() * dimensions * size_of::<f32>(), rows);
}
