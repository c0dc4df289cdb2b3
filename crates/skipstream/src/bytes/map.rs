//! A memory-mapped part of a file.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

#[derive(Debug)]
pub(crate) struct MappedFloats {
    map: Mmap,
}

impl MappedFloats {
    /// Maps these bytes of the file; `None` if they are not whole, aligned floats.
    ///
    /// Changing the file in place changes the floats, and truncating it ends the process when it accesses the missing part
    /// (SIGBUS). A file that is renamed over or deleted stays as it was for the processes that have it mapped, and this library
    /// only [replaces](super::replace()) files.
    pub fn new(file: &File, bytes: Range<u64>) -> io::Result<Option<MappedFloats>> {
        let length = usize::try_from(bytes.end - bytes.start).map_err(io::Error::other)?;
        // SAFETY: the map is read only, and its bytes are interpreted as floats, for which every bit pattern is a value; so a
        // change of the file by others can make an answer wrong but breaks nothing that the compiler relies on elsewhere.
        // Truncation is described above.
        let map = unsafe { MmapOptions::new().offset(bytes.start).len(length).map(file) }?;
        let aligned = bytemuck::try_cast_slice::<u8, f32>(&map).is_ok();
        Ok(aligned.then_some(MappedFloats { map }))
    }

    pub fn values(&self) -> &[f32] {
        bytemuck::cast_slice(&self.map)
    }
}
