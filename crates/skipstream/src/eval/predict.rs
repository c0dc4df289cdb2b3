//! Answers to analogy questions, all of them in one pass over the vectors.
//!
//! Both rules need only the cosines between the three words of a question and every word of the
//! vocabulary, and the questions of a set share few words (Google's 19,544 have about 900). So
//! the cosines of these *cues* with a block of words are computed once, as a small matrix product,
//! and each question then reads three rows of it.

use std::ops::Range;
use std::thread;

use crate::embeddings::Embeddings;

/// The words of a block: one cue's cosines with them take 1 KiB.
const BLOCK: usize = 256;

/// The words that are scored side by side.
const LANES: usize = 16;

/// Levy and Goldberg's (2014) guard against division by zero in 3CosMul.
const EPSILON: f32 = 0.001;

/// The rows a, b and c of `a is to b as c is to ?`.
pub(super) type Question = [usize; 3];

/// The rows that the two rules answer, a, b and c excluded; nothing if there is no other word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) add: Option<usize>,
    pub(super) multiply: Option<usize>,
}

/// Answers every question. The answers do not depend on the number of threads.
pub(super) fn predict(embeddings: &Embeddings, questions: &[Question], threads: usize) -> Vec<Answer> {
    let cues = Cues::new(embeddings, questions);
    let n_blocks = embeddings.len().div_ceil(BLOCK);
    let rows_per_thread = n_blocks.div_ceil(threads).max(1) * BLOCK;
    let parts: Vec<Vec<Leaders>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..embeddings.len())
            .step_by(rows_per_thread)
            .map(|start| {
                let rows = start..embeddings.len().min(start + rows_per_thread);
                let cues = &cues;
                scope.spawn(move || search(embeddings, cues, questions, rows))
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
    /// Their vectors at length 1, one after the other.
    vectors: Vec<f32>,
    /// For each question, which cues its words are.
    places: Vec<[usize; 3]>,
}

impl Cues {
    fn new(embeddings: &Embeddings, questions: &[Question]) -> Cues {
        let mut rows: Vec<usize> = questions.iter().flatten().copied().collect();
        rows.sort_unstable();
        rows.dedup();
        let mut vectors = Vec::with_capacity(rows.len() * embeddings.dimensions());
        for &row in &rows {
            vectors.extend(embeddings.unit_vector(row));
        }
        let place = |row| rows.partition_point(|&other| other < row);
        let places = questions.iter().map(|question| question.map(place)).collect();
        Cues { vectors, places }
    }
}

/// The best of the given rows for each question.
fn search(embeddings: &Embeddings, cues: &Cues, questions: &[Question], rows: Range<usize>) -> Vec<Leaders> {
    let dimensions = embeddings.dimensions();
    let mut leaders = vec![Leaders::default(); questions.len()];
    let mut columns = vec![[0.0; BLOCK]; dimensions];
    let mut cosines = vec![[0.0; BLOCK]; cues.vectors.len() / dimensions];
    for start in rows.clone().step_by(BLOCK) {
        let block = start..rows.end.min(start + BLOCK);
        fill(&mut columns, embeddings, block.clone());
        multiply(&cues.vectors, &columns, &mut cosines);
        for ((leader, question), places) in leaders.iter_mut().zip(questions).zip(&cues.places) {
            let [a, b, c] = places.map(|place| &cosines[place]);
            let (add, multiply) = (&mut leader.add, &mut leader.multiply);
            add.improve(question, &block, [a, b, c], |a, b, c| b - a + c);
            // (b' c') / (a' + epsilon) with x' = (x + 1) / 2, times the constant 2.
            multiply.improve(question, &block, [a, b, c], |a, b, c| {
                (b + 1.0) * (c + 1.0) / (a + 1.0 + 2.0 * EPSILON)
            });
        }
    }
    leaders
}

/// Lays out a block for `multiply`: for each dimension, its value of every word. Where the block
/// has fewer words, values of the block before remain; `improve` looks at them but takes none.
fn fill(columns: &mut [[f32; BLOCK]], embeddings: &Embeddings, block: Range<usize>) {
    for (place, row) in block.enumerate() {
        for (column, value) in columns.iter_mut().zip(embeddings.unit_vector(row)) {
            column[place] = value;
        }
    }
}

/// The cosines of every cue with every word of the block.
fn multiply(cues: &[f32], columns: &[[f32; BLOCK]], cosines: &mut [[f32; BLOCK]]) {
    for (cue, cosines) in cues.chunks_exact(columns.len()).zip(cosines) {
        *cosines = [0.0; BLOCK];
        for (value, column) in cue.iter().zip(columns) {
            for (cosine, other) in cosines.iter_mut().zip(column) {
                *cosine += value * other;
            }
        }
    }
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

    /// Looks for a higher score among a block's rows.
    fn improve(
        &mut self,
        question: &Question,
        block: &Range<usize>,
        [a, b, c]: [&[f32; BLOCK]; 3],
        score: impl Fn(f32, f32, f32) -> f32,
    ) {
        // Most blocks have nothing better. Their highest score tells, and to find it without
        // asking which row has it is work for vector instructions.
        let mut highest = [f32::NEG_INFINITY; LANES];
        let (a_chunks, b_chunks, c_chunks) =
            (a.as_chunks::<LANES>().0, b.as_chunks::<LANES>().0, c.as_chunks::<LANES>().0);
        for ((a, b), c) in a_chunks.iter().zip(b_chunks).zip(c_chunks) {
            for lane in 0..LANES {
                let score = score(a[lane], b[lane], c[lane]);
                // Not `max`, which has to look out for NaN.
                highest[lane] = if score > highest[lane] { score } else { highest[lane] };
            }
        }
        if highest.iter().all(|&score| score <= self.score) {
            return;
        }
        for (place, row) in block.clone().enumerate() {
            let score = score(a[place], b[place], c[place]);
            if score > self.score && !question.contains(&row) {
                *self = Leader { score, row: Some(row) };
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
            prop_assert_eq!(predict(&embeddings, &questions, threads), expected);
        }
    }

    #[test]
    fn equal_scores_go_to_the_first_row_for_any_number_of_threads() {
        let words = (0..1000u64).map(|row| (row.to_string(), 1000 - row));
        let embeddings = Embeddings::new(1, words, vec![1.0; 1000]).unwrap();
        let expected = vec![Answer { add: Some(1), multiply: Some(1) }];
        for threads in [1, 2, 3, 100] {
            assert_eq!(predict(&embeddings, &[[0, 2, 3]], threads), expected);
        }
    }

    #[test]
    fn no_word_but_the_question_is_no_answer() {
        let none = Answer { add: None, multiply: None };
        assert_eq!(predict(&embeddings(2, 3), &[[0, 1, 0]], 2), [none]);
    }

    #[test]
    fn zero_vectors_are_neither_near_nor_nan() {
        let words = [("a", 5), ("b", 4), ("c", 3), ("zero", 2), ("d", 1)];
        let vectors = vec![1.0, 0.0, 1.0, 1.0, 1.0, -0.1, 0.0, 0.0, 0.9, 0.8];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let expected = Answer { add: Some(4), multiply: Some(4) };
        assert_eq!(predict(&embeddings, &[[0, 1, 2]], 1), [expected]);
        let zeros = predict(&embeddings, &[[3, 3, 3]], 1);
        assert_eq!(zeros, [Answer { add: Some(0), multiply: Some(0) }]);
    }
}
