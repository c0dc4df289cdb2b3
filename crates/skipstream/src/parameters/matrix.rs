//! Rows of floats in their own memory mapping.

use std::ops::Range;

use memmap2::{MmapMut, MmapOptions};

use crate::error::{Error, Result};

/// Floats that are processed together. All kernels are defined in terms of it, whatever the width of the machine.
pub const LANES: usize = 16;

/// [`LANES`] floats.
pub type Lanes = [f32; LANES];

/// Rows of lanes, zero at first. All of the memory is mapped, but only rows that are touched take any; huge pages, if the
/// system has them, are 11 % faster.
#[derive(Debug)]
pub(crate) struct Matrix {
    map: MmapMut,
    lanes_per_row: usize,
}

impl Matrix {
    pub fn new(rows: usize, lanes_per_row: usize) -> Result<Matrix> {
        let bytes = rows * lanes_per_row * size_of::<Lanes>();
        let map = MmapOptions::new()
            .len(bytes)
            .map_anon()
            .map_err(|_| Error::out_of_memory(format!("{rows} rows"), bytes))?;
        #[cfg(target_os = "linux")]
        // A hint: without huge pages everything works too.
        let _ = map.advise(memmap2::Advice::HugePage);
        Ok(Matrix { map, lanes_per_row })
    }

    pub fn lanes(&self) -> &[Lanes] {
        bytemuck::cast_slice(&self.map)
    }

    pub fn lanes_mut(&mut self) -> &mut [Lanes] {
        bytemuck::cast_slice_mut(&mut self.map)
    }

    /// Takes over some rows of another matrix of the same shape.
    pub fn copy_rows(&mut self, other: &Matrix, rows: Range<usize>) {
        let lanes = rows.start * self.lanes_per_row..rows.end * self.lanes_per_row;
        self.lanes_mut()[lanes.clone()].copy_from_slice(&other.lanes()[lanes]);
    }

    pub fn copy_row(&mut self, from: usize, to: usize) {
        let lanes = self.lanes_per_row;
        self.lanes_mut().copy_within(from * lanes..(from + 1) * lanes, to * lanes);
    }

    #[inline]
    pub fn row(&self, row: usize) -> &[Lanes] {
        &self.lanes()[row * self.lanes_per_row..][..self.lanes_per_row]
    }

    #[inline]
    pub fn row_mut(&mut self, row: usize) -> &mut [Lanes] {
        let lanes_per_row = self.lanes_per_row;
        &mut self.lanes_mut()[row * lanes_per_row..][..lanes_per_row]
    }
}
