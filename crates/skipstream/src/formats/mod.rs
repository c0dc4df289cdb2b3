//! Vectors from and to the files of other programs.
//!
//! Invariant: readers believe nothing a file says about itself. Memory grows with the bytes that
//! were read, never with a number in a header.

mod initial;
pub(crate) mod lines;
pub mod word2vec;
