//! A part of a file as memory.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, MmapOptions};

/// Floats of a file that are read from disk, or from the system's cache, when they are looked at.
#[derive(Debug)]
pub(crate) struct MappedFloats {
    map: Mmap,
}

impl MappedFloats {
    /// Maps these bytes of the file, or nothing where they are not whole floats in memory.
    ///
    /// Whoever changes the file in place changes the floats, and whoever cuts it short ends the process when it looks at
    /// what is gone (SIGBUS). A file that is renamed over or deleted stays as it was for who has it mapped, and our own
    /// writers only ever [replace](super::replace) files.
    pub fn new(file: &File, bytes: Range<u64>) -> io::Result<Option<MappedFloats>> {
        let length = usize::try_from(bytes.end - bytes.start).map_err(io::Error::other)?;
        // SAFETY: the map is read only, and its bytes are taken for floats alone, for which every pattern of bits is a
        // value; so a change of the file by others can make an answer wrong but breaks nothing that the compiler
        // relies on elsewhere. What happens when the file is cut short is said above.
        let map = unsafe { MmapOptions::new().offset(bytes.start).len(length).map(file) }?;
        let aligned = bytemuck::try_cast_slice::<u8, f32>(&map).is_ok();
        Ok(aligned.then_some(MappedFloats { map }))
    }

    pub fn values(&self) -> &[f32] {
        bytemuck::cast_slice(&self.map)
    }
}
