//! Answers to analogy questions, all of them in one pass over the vectors.
//!
//! Both rules need only the cosines between the three words of a question and every word of the
//! vocabulary, and the questions of a set share few words (Google's 19,544 have about 900). So
//! the cosines of these *cues* with a block of words are computed once, as a small matrix product,
//! and each question then reads three rows of it.

use std::ops::Range;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use super::evaluator::Progress;
use super::lexicon::Lexicon;
use crate::embeddings::{EPSILON, Embeddings};
use crate::kernel::{Kernel, Work};

/// The words that are scored side by side.
const LANES: usize = 16;

/// The words of a block: one cue's cosines with them take 1 KiB.
const BLOCK: usize = 16 * LANES;

/// The cues that are multiplied side by side: their sums fit into the registers.
const TILE: usize = 4;

/// Progress is told after so many blocks.
const BLOCKS_A_REPORT: usize = 16;

/// The rows a, b and c of `a is to b as c is to ?`: each the one that stands for its word.
pub(super) type Question = [usize; 3];

/// The rows that the two rules answer, the words a, b and c excluded; nothing if there is no other word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) add: Option<usize>,
    pub(super) multiply: Option<usize>,
}

/// Answers every question. The answers depend neither on the number of threads nor on the machine's instructions.
pub(super) fn predict(
    embeddings: &Embeddings,
    lexicon: &Lexicon,
    questions: &[Question],
    threads: usize,
    progress: Progress<'_>,
) -> Vec<Answer> {
    let cues = Cues::new(embeddings, questions);
    let n_blocks = embeddings.len().div_ceil(BLOCK);
    let rows_per_thread = n_blocks.div_ceil(threads).max(1) * BLOCK;
    let blocks_done = AtomicUsize::new(0);
    let report = || {
        let done = blocks_done.fetch_add(1, Ordering::Relaxed) + 1;
        if done.is_multiple_of(BLOCKS_A_REPORT) {
            progress(done as f64 / n_blocks as f64);
        }
    };
    let parts: Vec<Vec<Leaders>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..embeddings.len())
            .step_by(rows_per_thread)
            .map(|start| {
                let rows = start..embeddings.len().min(start + rows_per_thread);
                let search = Search { embeddings, lexicon, cues: &cues, questions, rows, report: &report };
                scope.spawn(move || Kernel::best().run(search))
            })
            .collect();
        workers.into_iter().map(|worker| worker.join().expect("the search does not panic")).collect()
    });
    let mut leaders = vec![Leaders::default(); questions.len()];
    for part in parts {
        for (leader, other) in leaders.iter_mut().zip(part) {
            leader.add.challenge(other.add);
            leader.multiply.challenge(other.multiply);
        }
    }
    leaders.into_iter().map(Leaders::answer).collect()
}

/// The distinct words of the questions.
struct Cues {
    /// Their vectors at length 1, one after the other; zeros behind them fill the last tile.
    vectors: Vec<f32>,
    /// For each question, which cues its words are.
    places: Vec<[usize; 3]>,
}

impl Cues {
    fn new(embeddings: &Embeddings, questions: &[Question]) -> Cues {
        let mut rows: Vec<usize> = questions.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut vectors = Vec::with_capacity(rows.len().next_multiple_of(TILE) * embeddings.dimensions());
        for &row in &rows {
            vectors.extend(embeddings.unit_vector(row));
        }
        vectors.resize(rows.len().next_multiple_of(TILE) * embeddings.dimensions(), 0.0);
        let place = |row| rows.partition_point(|&other| other < row);
        let places = questions.iter().map(|question| question.map(place)).collect();
        Cues { vectors, places }
    }
}

/// The search for the best of the given rows for each question.
struct Search<'a, Report> {
    embeddings: &'a Embeddings,
    lexicon: &'a Lexicon,
    cues: &'a Cues,
    questions: &'a [Question],
    rows: Range<usize>,
    /// Called after every block.
    report: &'a Report,
}

impl<Report: Fn()> Work for Search<'_, Report> {
    type Result = Vec<Leaders>;

    #[inline(always)]
    fn run(self) -> Vec<Leaders> {
        let Search { embeddings, lexicon, cues, questions, rows, report } = self;
        let dimensions = embeddings.dimensions();
        let mut leaders = vec![Leaders::default(); questions.len()];
        let mut panels = vec![[0.0; LANES]; BLOCK / LANES * dimensions];
        let mut cosines = vec![[0.0; BLOCK]; cues.vectors.len() / dimensions];
        for start in rows.clone().step_by(BLOCK) {
            let block = start..rows.end.min(start + BLOCK);
            fill(&mut panels, embeddings, block.clone());
            multiply(&cues.vectors, &panels, dimensions, &mut cosines);
            for ((leaders, question), places) in leaders.iter_mut().zip(questions).zip(&cues.places) {
                let cosines = places.map(|place| &cosines[place]);
                if leaders.may_improve(cosines) {
                    leaders.improve(&block, cosines, |row| !question.contains(&lexicon.word_of(row)));
                }
            }
            report();
        }
        leaders
    }
}

/// Lays out a block for `multiply`, in panels of as many words as there are lanes: for each dimension, its value of
/// every word. Where the block has fewer words, values of the block before remain; `improve` takes none of them.
#[inline(always)]
fn fill(panels: &mut [[f32; LANES]], embeddings: &Embeddings, block: Range<usize>) {
    for (place, row) in block.enumerate() {
        let panel = panels.chunks_exact_mut(embeddings.dimensions()).nth(place / LANES);
        for (lanes, value) in panel.into_iter().flatten().zip(embeddings.unit_vector(row)) {
            lanes[place % LANES] = value;
        }
    }
}

/// The cosines of every cue with every word of the block. A sum is added up in the order of dimensions.
#[inline(always)]
fn multiply(cues: &[f32], panels: &[[f32; LANES]], dimensions: usize, cosines: &mut [[f32; BLOCK]]) {
    for (number, panel) in panels.chunks_exact(dimensions).enumerate() {
        let tiles = cues.chunks_exact(TILE * dimensions).zip(cosines.chunks_exact_mut(TILE));
        for (tile, cosines) in tiles {
            let mut sums = [[0.0; LANES]; TILE];
            for (dimension, lanes) in panel.iter().enumerate() {
                for (sums, cue) in sums.iter_mut().zip(tile.chunks_exact(dimensions)) {
                    let value = cue[dimension];
                    for lane in 0..LANES {
                        sums[lane] += value * lanes[lane];
                    }
                }
            }
            for (cosines, sums) in cosines.iter_mut().zip(sums) {
                cosines.as_chunks_mut::<LANES>().0[number] = sums;
            }
        }
    }
}

/// The score of 3CosAdd.
#[inline(always)]
fn add_score(a: f32, b: f32, c: f32) -> f32 {
    b - a + c
}

/// The score of 3CosMul, (b' c') / (a' + epsilon) with x' = (x + 1) / 2, times the constant 2.
#[inline(always)]
fn multiply_score(a: f32, b: f32, c: f32) -> f32 {
    (b + 1.0) * (c + 1.0) / (a + 1.0 + 2.0 * EPSILON)
}

/// The best answers of a question so far, by either rule.
#[derive(Clone, Copy, Default)]
struct Leaders {
    add: Leader,
    multiply: Leader,
}

impl Leaders {
    fn answer(self) -> Answer {
        Answer { add: self.add.row, multiply: self.multiply.row }
    }

    /// Whether a block may have a higher score by either rule. Most have not; to see it without asking which row it
    /// would be, and without a division, is work for vector instructions.
    #[inline(always)]
    fn may_improve(&self, [a, b, c]: [&[f32; BLOCK]; 3]) -> bool {
        // (b' c') / a' > best, multiplied by a' > 0. A little less is asked for than the best: rounding must not hide
        // a score that is higher.
        let bar = self.multiply.score - self.multiply.score.abs() * 1e-5;
        let mut above = [false; LANES];
        let (a_chunks, b_chunks, c_chunks) =
            (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0, c.as_chunks::<LANES>().0);
        for ((a, b), c) in a_chunks.iter().zip(b_chunks).zip(c_chunks) {
            for lane in 0..LANES {
                let (a, b, c) = (a[lane], b[lane], c[lane]);
                above[lane] |= add_score(a, b, c) > self.add.score;
                above[lane] |= (b + 1.0) * (c + 1.0) > bar * (a + 1.0 + 2.0 * EPSILON);
            }
        }
        above.contains(&true)
    }

    /// Takes the rows of a block with a higher score, of those that may be an answer.
    fn improve(
        &mut self,
        block: &Range<usize>,
        [a, b, c]: [&[f32; BLOCK]; 3],
        may_answer: impl Fn(usize) -> bool,
    ) {
        for (row, ((&a, &b), &c)) in block.clone().zip(a.iter().zip(b).zip(c)) {
            let add = Leader { score: add_score(a, b, c), row: Some(row) };
            let multiply = Leader { score: multiply_score(a, b, c), row: Some(row) };
            let is_higher = add.score > self.add.score || multiply.score > self.multiply.score;
            if is_higher && may_answer(row) {
                self.add.challenge(add);
                self.multiply.challenge(multiply);
            }
        }
    }
}

/// The row with the highest score so far; of equal ones the first.
#[derive(Clone, Copy)]
struct Leader {
    score: f32,
    row: Option<usize>,
}

impl Default for Leader {
    fn default() -> Leader {
        Leader { score: f32::NEG_INFINITY, row: None }
    }
}

impl Leader {
    /// Takes the other's row if it has a higher score. The other must come later.
    fn challenge(&mut self, other: Leader) {
        if other.score > self.score {
            *self = other;
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::lexicon::Case;
    use super::*;

    /// The two rules as Levy and Goldberg write them, word by word.
    fn naive(embeddings: &Embeddings, question: &Question) -> Answer {
        let cosine = |left: usize, right: usize| -> f32 {
            let pairs = embeddings.unit_vector(left).into_iter().zip(embeddings.unit_vector(right));
            pairs.map(|(l, r)| l * r).sum()
        };
        let best = |score: &dyn Fn(f32, f32, f32) -> f32| {
            let mut leader = Leader::default();
            for row in (0..embeddings.len()).filter(|row| !question.contains(row)) {
                let [a, b, c] = question.map(|cue| cosine(cue, row));
                leader.challenge(Leader { score: score(a, b, c), row: Some(row) });
            }
            leader.row
        };
        let shifted = |cosine: f32| (cosine + 1.0) / 2.0;
        Answer {
            add: best(&|a, b, c| b - a + c),
            multiply: best(&|a, b, c| shifted(b) * shifted(c) / (shifted(a) + EPSILON)),
        }
    }

    /// Answers with every row a word of its own.
    fn answers(embeddings: &Embeddings, questions: &[Question], threads: usize) -> Vec<Answer> {
        predict(embeddings, &Lexicon::Exact(Case::Keep), questions, threads, &|_| ())
    }

    /// Vectors without any order, the same ones at every call.
    fn embeddings(n_words: usize, dimensions: usize) -> Embeddings {
        let mut state = 1u64;
        let values = (0..n_words * dimensions).map(|_| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 40) as f32 / (1u64 << 24) as f32 - 0.5
        });
        let vectors = values.collect();
        let words = (0..n_words).map(|row| (row.to_string(), (n_words - row) as u64));
        Embeddings::new(dimensions, words, vectors).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn answers_are_those_of_the_rules_word_by_word(
            n_words in prop_oneof![1usize..20, 250usize..260, 500usize..800],
            dimensions in 8usize..40,
            picks in proptest::collection::vec(any::<[prop::sample::Index; 3]>(), 0..20),
            threads in 1usize..5,
        ) {
            let embeddings = embeddings(n_words, dimensions);
            let questions: Vec<Question> =
                picks.iter().map(|pick| pick.map(|index| index.index(n_words))).collect();
            let expected: Vec<Answer> =
                questions.iter().map(|question| naive(&embeddings, question)).collect();
            prop_assert_eq!(answers(&embeddings, &questions, threads), expected);
        }
    }

    #[test]
    fn equal_scores_go_to_the_first_row_for_any_number_of_threads() {
        let words = (0..1000u64).map(|row| (row.to_string(), 1000 - row));
        let embeddings = Embeddings::new(1, words, vec![1.0; 1000]).unwrap();
        let expected = vec![Answer { add: Some(1), multiply: Some(1) }];
        for threads in [1, 2, 3, 100] {
            assert_eq!(answers(&embeddings, &[[0, 2, 3]], threads), expected);
        }
    }

    #[test]
    fn no_word_but_the_question_is_no_answer() {
        let none = Answer { add: None, multiply: None };
        assert_eq!(answers(&embeddings(2, 3), &[[0, 1, 0]], 2), [none]);
    }

    #[test]
    fn zero_vectors_are_neither_near_nor_nan() {
        let words = [("a", 5), ("b", 4), ("c", 3), ("zero", 2), ("d", 1)];
        let vectors = vec![1.0, 0.0, 1.0, 1.0, 1.0, -0.1, 0.0, 0.0, 0.9, 0.8];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let expected = Answer { add: Some(4), multiply: Some(4) };
        assert_eq!(answers(&embeddings, &[[0, 1, 2]], 1), [expected]);
        let zeros = answers(&embeddings, &[[3, 3, 3]], 1);
        assert_eq!(zeros, [Answer { add: Some(0), multiply: Some(0) }]);
    }

    #[test]
    fn every_instruction_set_gives_the_same_answers() {
        let embeddings = embeddings(700, 37);
        let questions: Vec<Question> = (0..50).map(|n| [n, 2 * n + 1, 3 * n + 2]).collect();
        let (lexicon, cues) = (Lexicon::Exact(Case::Keep), Cues::new(&embeddings, &questions));
        let leaders = |kernel: Kernel| -> Vec<_> {
            let rows = 0..embeddings.len();
            let (embeddings, lexicon, cues, questions) = (&embeddings, &lexicon, &cues, &questions[..]);
            let found = kernel.run(Search { embeddings, lexicon, cues, questions, rows, report: &|| () });
            let bits = |leader: Leader| (leader.row, leader.score.to_bits());
            found.into_iter().map(|leaders| (bits(leaders.add), bits(leaders.multiply))).collect()
        };
        let kernels = Kernel::available();
        for &kernel in &kernels {
            assert_eq!(leaders(kernel), leaders(kernels[0]), "{}", kernel.name());
        }
    }

    #[test]
    fn progress_grows_to_the_whole() {
        let seen = std::sync::Mutex::new(Vec::new());
        let embeddings = embeddings(BLOCK * BLOCKS_A_REPORT * 2, 1);
        let progress = |share| seen.lock().unwrap().push(share);
        predict(&embeddings, &Lexicon::Exact(Case::Keep), &[[0, 1, 2]], 1, &progress);
        assert_eq!(seen.into_inner().unwrap(), [0.5, 1.0]);
    }
}
