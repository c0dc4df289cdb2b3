//! Counts → noise words, drawn with probability q(w) ∝ count(w) ^ exponent (section 3.2.2 of the paper).
//!
//! Two samplers, both exact:
//! - [`AdaptiveTable`]: the paper's reservoir, which follows the stream word by word (`incremental`).
//!   `tests/plain.rs` is its definition, Algorithm 3 word for word.
//! - [`AliasTable`]: built from the counts, then O(1) per draw (`mini-batch`: for each block and batch; `batch` and
//!   `word2vec`: once). An adaptive table for every block would cost 12 ns per token and megabytes of state; building the
//!   alias tables costs 1 ns per token and no state.
//!
//! Invariant: this module knows words only by their slots and counts.

mod adaptive;
mod alias;

pub use adaptive::AdaptiveTable;
pub(crate) use adaptive::SavedTable;
pub use alias::AliasTable;

/// count ^ exponent.
///
/// The usual exponents do without `powf`: this is faster, and gives the same bits on every machine.
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
