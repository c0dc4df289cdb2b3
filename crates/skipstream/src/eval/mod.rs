//! Evaluation: correlation with human similarity scores, accuracy on analogies, and drift between two states of a model.
//!
//! A [`TestSet`] is read from one of the usual files, and an [`Evaluator`] scores vectors on it. Questions with unknown
//! words are counted, not hidden. Every score has a confidence interval: a smaller difference between two models may be
//! chance.
//!
//! ```
//! use skipstream::Embeddings;
//! use skipstream::eval::{EvalOptions, Evaluator, Score, TestSet};
//!
//! let words = [("tea", 9), ("coffee", 8), ("stone", 7), ("rock", 6)];
//! let vectors = vec![1.0, 0.1, 1.0, 0.3, 0.1, 1.0, 0.2, 1.0];
//! let embeddings = Embeddings::new(2, words, vectors)?;
//!
//! let people = "tea,coffee,8.5\nrock,stone,9.5\nTea,rock,1.5\ntea,espresso,7\n";
//! let set = TestSet::read(people.as_bytes(), "people.csv".as_ref())?;
//! let evaluator = Evaluator::new(&embeddings, EvalOptions::default())?;
//! let Score::WordPairs(score) = evaluator.score(&set, &|_| ()) else { panic!("these are word pairs") };
//! assert_eq!((score.used, score.total), (3, 4));
//! assert_eq!(score.spearman, Some(1.0));
//! # Ok::<(), skipstream::Error>(())
//! ```
//!
//! [`Drift`] is what changed between two states of one model.

mod analogies;
mod comparison;
mod correlation;
mod drift;
mod error;
mod evaluator;
mod interval;
mod lexicon;
mod pairs;
mod test_set;

pub use analogies::{Analogies, AnalogyScore, AnalogyScores, Relation, Section, SectionScore};
pub use comparison::{Comparison, Difference};
pub use correlation::{p_value, pearson, spearman};
pub use drift::{Drift, DriftOptions, DriftWarning, FloorPoint, MovedWord, Movement, Others};
pub use error::TestSetError;
pub use evaluator::{EvalOptions, Evaluator, Score, Solved};
pub use interval::Interval;
pub use lexicon::Case;
pub use pairs::{PairScore, WordPair, WordPairs};
pub use test_set::TestSet;
