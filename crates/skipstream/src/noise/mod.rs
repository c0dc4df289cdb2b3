//! Counts → noise words, drawn with probability q(w) ∝ count(w) ^ exponent (section 3.2.2 of the paper).
//!
//! Two samplers, each exact where it is used:
//! - [`AdaptiveTable`]: the paper's reservoir, which follows the stream word by word (`incremental`).
//!   [`PlainTable`] is its definition, Algorithm 3 to the letter, and too slow for anything but tests.
//! - [`AliasTable`]: made anew from the counts, in O(1) a draw (`mini-batch`, once for each block and batch;
//!   `batch` and `word2vec`, once). An adaptive table for every block was the alternative: it costs 12 ns
//!   a token and megabytes of state; making the alias tables costs 1 ns a token and no state.
//!
//! Invariant: noise knows words only by their slots and counts.

mod adaptive;
mod alias;
mod plain;

pub use adaptive::AdaptiveTable;
pub(crate) use adaptive::SavedTable;
pub use alias::AliasTable;
pub use plain::PlainTable;

/// count ^ exponent.
///
/// The usual exponents go without `powf`: faster, and the same bits on every machine.
#[inline]
pub fn weight(count: u64, exponent: f64) -> f64 {
    let count = count as f64;
    if exponent == 0.75 {
        let root = count.sqrt();
        root * root.sqrt()
    } else if exponent == 1.0 {
        count
    } else if count == 0.0 {
        0.0
    } else {
        count.powf(exponent)
    }
}

/// F of the paper: what the `count`-th occurrence of a word adds to its weight.
#[inline]
fn increment(count: u64, exponent: f64) -> f64 {
    weight(count, exponent) - weight(count - 1, exponent)
}

#[cfg(test)]
mod tests;
