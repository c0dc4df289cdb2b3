//! Vectors from and to the files of other programs.
//!
//! [`load()`] recognizes a [`Format`] by its content; [`save()`] writes the formats that can be written.
//!
//! Invariant: readers trust nothing that a file states about itself. Memory grows with the bytes that were read, never
//! with a number in a header.

// What the formats share.
mod lines;

mod error;
mod input;
mod rows;
mod tsv;

// One format each.
mod finalfusion;
mod floret;
mod npy;
#[cfg(feature = "parquet")]
mod parquet;
mod projector;
mod word2vec;
mod yskip;

// Any format.
mod format;
mod load;
mod recognize;
mod save;

#[cfg(test)]
mod testing;

pub use error::{Defect, FilePlace, FormatError};
pub use floret::{save_floret, write_floret};
pub use format::Format;
pub use load::{LoadOptions, load, load_with};
pub use npy::npy_header;
pub use recognize::recognize;
pub use rows::{MAX_DIMENSIONS, MAX_WORD_BYTES};
pub use save::{quantized, save, save_word2vec, write, write_file};
pub use word2vec::{FirstLine, SaveOptions, read_counts, save_counts};
