//! A memory-mapped part of a file.

use std::fs::File;
use std::io;
use std::marker::PhantomData;
use std::ops::Range;

use bytemuck::Pod;
use memmap2::{Mmap, MmapOptions};

/// Numbers in a file.
#[derive(Debug)]
pub(crate) struct Mapped<T> {
    map: Mmap,
    numbers: PhantomData<T>,
}

impl<T: Pod> Mapped<T> {
    /// Maps these bytes of the file; `None` if they are not whole, aligned numbers.
    ///
    /// Changing the file in place changes the numbers, and truncating it ends the process when it accesses the missing part
    /// (SIGBUS). A file that is renamed over or deleted stays as it was for the processes that have it mapped, and this library
    /// only [replaces](super::replace()) files.
    pub fn new(file: &File, bytes: Range<u64>) -> io::Result<Option<Mapped<T>>> {
        let length = usize::try_from(bytes.end - bytes.start).map_err(io::Error::other)?;
        // SAFETY: the map is read only, and its bytes are interpreted as numbers, for which every bit pattern is a value; so a
        // change of the file by others can make an answer wrong but breaks nothing that the compiler relies on elsewhere.
        // Truncation is described above.
        let map = unsafe { MmapOptions::new().offset(bytes.start).len(length).map(file) }?;
        let aligned = bytemuck::try_cast_slice::<u8, T>(&map).is_ok();
        Ok(aligned.then_some(Mapped { map, numbers: PhantomData }))
    }

    pub fn values(&self) -> &[T] {
        bytemuck::cast_slice(&self.map)
    }
}
