//! The compared methods.

use crate::peers::contender::Program::{self, Fasttext, Gensim, Skipstream, Word2vec};
use crate::peers::contender::{FAST_RATE, FASTTEXT_RATE, RATE, Variant};

/// A method of learning vectors.
pub struct Method {
    /// The name in rows and tables.
    pub name: &'static str,
    pub program: Program,
    pub rate: &'static str,
    pub passes: u32,
    bound: Bound,
}

/// The vocabulary bound.
enum Bound {
    None,
    /// A share of the words above the minimum count.
    Frequent(f64),
    /// All words.
    Distinct,
}

/// All methods, in the order of tables and figures.
pub const METHODS: [Method; 16] = [
    ours("incremental", Variant::Incremental, Bound::Frequent(1.0)),
    ours("incremental, all words", Variant::Incremental, Bound::Distinct),
    ours("incremental, 60 % vocabulary", Variant::Incremental, Bound::Frequent(0.6)),
    ours("incremental, 40 % vocabulary", Variant::Incremental, Bound::Frequent(0.4)),
    ours("mini-batch", Variant::NoReplays, Bound::Frequent(1.0)),
    // The text ends here, so the remaining words must be replayed.
    ours("mini-batch with replay", Variant::Finish, Bound::Frequent(1.0)),
    ours("batch", Variant::Batch, Bound::Frequent(1.0)),
    ours("word2vec (ours)", Variant::Word2vec, Bound::Frequent(1.0)),
    peer("word2vec.c, 1 pass", Word2vec, RATE, 1),
    peer("word2vec.c, 1 pass at 0.1", Word2vec, FAST_RATE, 1),
    peer("word2vec.c, 5 passes", Word2vec, RATE, 5),
    peer("gensim, 1 pass", Gensim, RATE, 1),
    peer("gensim, 1 pass at 0.1", Gensim, FAST_RATE, 1),
    peer("gensim, 5 passes", Gensim, RATE, 5),
    peer("fastText, 1 pass", Fasttext, FASTTEXT_RATE, 1),
    peer("fastText, 5 passes", Fasttext, FASTTEXT_RATE, 5),
];

const fn ours(name: &'static str, variant: Variant, bound: Bound) -> Method {
    Method { name, program: Skipstream(variant), rate: RATE, passes: 1, bound }
}

const fn peer(name: &'static str, program: Program, rate: &'static str, passes: u32) -> Method {
    Method { name, program, rate, passes, bound: Bound::None }
}

impl Method {
    /// The vocabulary bound, for a text with `n_distinct` words, of which `n_frequent` are above the minimum count.
    pub fn max_vocabulary(&self, n_distinct: u32, n_frequent: u32) -> Option<u32> {
        match self.bound {
            Bound::None => None,
            Bound::Frequent(share) => Some((share * f64::from(n_frequent)).round() as u32),
            Bound::Distinct => Some(n_distinct),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_ours_have_a_bound_and_it_can_be_lowered() {
        let bound = |name: &str| {
            let method = METHODS.iter().find(|method| method.name == name).unwrap();
            method.max_vocabulary(5000, 1000)
        };
        assert_eq!(bound("incremental"), Some(1000));
        assert_eq!(bound("incremental, all words"), Some(5000));
        assert_eq!(bound("incremental, 60 % vocabulary"), Some(600));
        assert_eq!(bound("incremental, 40 % vocabulary"), Some(400));
        assert_eq!(bound("gensim, 1 pass"), None);
    }
}
