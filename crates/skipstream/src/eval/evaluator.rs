//! Evaluates vectors on test sets.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Serialize;

use super::analogies::{Analogies, AnalogyScores, Section};
use super::comparison::Comparison;
use super::lexicon::{Case, Lexicon};
use super::pairs::{PairScore, ScoredPairs, WordPairs, cosine};
use super::test_set::TestSet;
use crate::config::available_threads;
use crate::embeddings::{Combine, EPSILON, Embeddings, Query, Subwords, Term, find_best};
use crate::{Error, Result};

/// How vectors are evaluated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvalOptions {
    /// How words of the test set are looked up.
    pub case: Case,
    /// Use only this many of the most frequent words; by default all.
    pub restrict: Option<usize>,
    /// Threads for analogies; by default one per core. The scores do not depend on it.
    pub threads: Option<usize>,
}

/// Evaluates vectors on test sets.
#[derive(Clone, Debug)]
pub struct Evaluator {
    embeddings: Embeddings,
    lexicon: Arc<Lexicon>,
    threads: usize,
}

/// The score of a test set.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Score {
    /// The correlation of cosines with human scores.
    WordPairs(PairScore),
    /// The accuracy on analogies.
    Analogies(AnalogyScores),
}

impl Score {
    /// The number of pairs or questions that were scored.
    pub fn used(&self) -> usize {
        match self {
            Score::WordPairs(score) => score.used,
            Score::Analogies(scores) => scores.total.used,
        }
    }
}

/// Which rules answered a question correctly.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Solved {
    /// 3CosAdd.
    pub add: bool,
    /// 3CosMul.
    pub multiply: bool,
}

impl Evaluator {
    /// Prepares vectors, without copying them.
    pub fn new(embeddings: &Embeddings, options: EvalOptions) -> Result<Evaluator> {
        if options.threads == Some(0) {
            return Err(Error::setting("threads", 0, "at least 1"));
        }
        let embeddings = embeddings.top(options.restrict.unwrap_or(usize::MAX));
        let lexicon = Arc::new(Lexicon::new(&embeddings, options.case));
        Ok(Evaluator { embeddings, lexicon, threads: options.threads.unwrap_or_else(available_threads) })
    }

    /// The same vectors, with [estimates](Embeddings::with_estimates) of the unknown and rare words of a test set, so that
    /// every pair is scored. An analogy needs an answer that is in the vocabulary.
    ///
    /// # Panics
    /// If the vectors of the subwords have other dimensions.
    #[must_use]
    pub fn with_estimates(&self, subwords: &Subwords, set: &TestSet) -> Evaluator {
        let words: Vec<&String> = match set {
            TestSet::WordPairs(set) => {
                set.pairs.iter().flat_map(|pair| [&pair.first, &pair.second]).collect()
            }
            TestSet::Analogies(set) => set.questions().flatten().collect(),
        };
        let plain = Evaluator { embeddings: self.embeddings.without_estimates(), ..self.clone() };
        let spellings = words.into_iter().map(|word| match plain.lexicon.row(&plain.embeddings, word) {
            Some(row) => Cow::Borrowed(plain.embeddings.word(row)),
            None => plain.lexicon.spelling(word),
        });
        let embeddings = plain.embeddings.with_estimates(subwords, spellings);
        Evaluator { embeddings, ..self.clone() }
    }

    /// Scores a test set of either kind. `progress` is called with the finished share, from 0 to 1, on any thread: analogies
    /// take a while with a large model.
    pub fn score(&self, set: &TestSet, progress: &(dyn Fn(f64) + Sync)) -> Score {
        match set {
            TestSet::WordPairs(set) => Score::WordPairs(self.word_pairs(set)),
            TestSet::Analogies(set) => Score::Analogies(self.analogies(set, progress)),
        }
    }

    /// Compares human scores with cosines.
    pub fn word_pairs(&self, set: &WordPairs) -> PairScore {
        self.scored_pairs(set, &self.rows_of_pairs(set)).score(set.pairs.len())
    }

    /// The cosine of each pair, in the order of the set; `None` if a word is unknown.
    pub fn cosines(&self, set: &WordPairs) -> Vec<Option<f64>> {
        let rows = self.rows_of_pairs(set);
        rows.iter().map(|rows| rows.map(|rows| self.cosine(rows))).collect()
    }

    /// Which rules answer each question correctly, in the order of the set; `None` if a word is unknown.
    pub fn solve(&self, set: &Analogies, progress: &(dyn Fn(f64) + Sync)) -> Vec<Option<Solved>> {
        self.solve_rows(&self.rows_of_questions(set), progress)
    }

    /// Answers every question by both rules.
    pub fn analogies(&self, set: &Analogies, progress: &(dyn Fn(f64) + Sync)) -> AnalogyScores {
        tally(set, &self.solve(set, progress))
    }

    /// Scores two models on the questions that both can answer, this one first. Each model searches its own words.
    pub fn compare(&self, other: &Evaluator, set: &TestSet, progress: &(dyn Fn(f64) + Sync)) -> Comparison {
        let halves = |start: f64| move |share: f64| progress(start + share / 2.0);
        match set {
            TestSet::WordPairs(set) => {
                let mut rows = (self.rows_of_pairs(set), other.rows_of_pairs(set));
                keep_common(&mut rows.0, &mut rows.1);
                let (first, second) = (self.scored_pairs(set, &rows.0), other.scored_pairs(set, &rows.1));
                Comparison::of_word_pairs(&first, &second, set.pairs.len())
            }
            TestSet::Analogies(set) => {
                let mut rows = (self.rows_of_questions(set), other.rows_of_questions(set));
                keep_common(&mut rows.0, &mut rows.1);
                let first = self.solve_rows(&rows.0, &halves(0.0));
                let second = other.solve_rows(&rows.1, &halves(0.5));
                Comparison::of_analogies(&first, &second, [tally(set, &first), tally(set, &second)])
            }
        }
    }

    fn rows_of_pairs(&self, set: &WordPairs) -> Vec<Option<[usize; 2]>> {
        set.pairs.iter().map(|pair| self.rows([&pair.first, &pair.second])).collect()
    }

    fn rows_of_questions(&self, set: &Analogies) -> Vec<Option<[usize; 4]>> {
        let rows = set.questions().map(|question| {
            let [a, b, c, d] = self.rows(question.each_ref())?;
            // A search finds words of the vocabulary.
            Some([a, b, c, self.embeddings.vocabulary_row(d)?])
        });
        rows.collect()
    }

    fn rows<const N: usize>(&self, words: [&String; N]) -> Option<[usize; N]> {
        let mut rows = [0; N];
        for (row, word) in rows.iter_mut().zip(words) {
            *row = self.lexicon.row(&self.embeddings, word)?;
        }
        Some(rows)
    }

    fn scored_pairs(&self, set: &WordPairs, rows: &[Option<[usize; 2]>]) -> ScoredPairs {
        let mut scored = ScoredPairs::default();
        for (pair, rows) in set.pairs.iter().zip(rows) {
            if let Some(rows) = *rows {
                scored.scores.push(pair.score);
                scored.cosines.push(self.cosine(rows));
            }
        }
        scored
    }

    /// The rows of the vocabulary that have these words, in any spelling.
    fn spellings(&self, rows: &[usize]) -> Vec<usize> {
        let rows: Vec<usize> = rows.iter().filter_map(|&row| self.embeddings.vocabulary_row(row)).collect();
        self.lexicon.spellings(&rows)
    }

    fn cosine(&self, rows: [usize; 2]) -> f64 {
        let [first, second] = rows.map(|row| self.embeddings.vector_at(row));
        cosine(&first, &second)
    }

    /// Which rules answer each question correctly; `None` for unused questions.
    fn solve_rows(
        &self,
        rows: &[Option<[usize; 4]>],
        progress: &(dyn Fn(f64) + Sync),
    ) -> Vec<Option<Solved>> {
        let questions: Vec<[usize; 4]> = rows.iter().flatten().copied().collect();
        let queries = (0..2 * questions.len()).map(|number| {
            let [a, b, c, _] = questions[number / 2];
            let add = number % 2 == 0;
            Query {
                positive: vec![Term::Row(b), Term::Row(c)],
                negative: vec![Term::Row(a)],
                combine: if add { Combine::Add } else { Combine::Multiply { epsilon: EPSILON } },
                ..Query::nearest(Term::Row(a), 1).excluding(self.spellings(&[a, b, c]))
            }
        });
        let observe = |share| {
            progress(share);
            ControlFlow::Continue(())
        };
        let best = find_best(&self.embeddings, queries, self.threads, &observe);
        let best = best.expect("nobody ends the search");
        let is_right = |number: usize| {
            let answer = best[number].first().map(|best| self.lexicon.word_of(best.row));
            answer == Some(questions[number / 2][3])
        };
        let mut numbers = (0..2 * questions.len()).step_by(2);
        let solved = |number| Solved { add: is_right(number), multiply: is_right(number + 1) };
        rows.iter().map(|rows| rows.and_then(|_| numbers.next()).map(solved)).collect()
    }
}

/// Keeps only what both know.
fn keep_common<T>(first: &mut [Option<T>], second: &mut [Option<T>]) {
    for (first, second) in first.iter_mut().zip(second) {
        if first.is_none() || second.is_none() {
            (*first, *second) = (None, None);
        }
    }
}

fn tally(set: &Analogies, solved: &[Option<Solved>]) -> AnalogyScores {
    let mut solved = solved.iter();
    let score = |section: &Section| {
        let mut score = section.unscored();
        for solved in solved.by_ref().take(section.questions.len()).flatten() {
            score.score.used += 1;
            score.score.add_correct += usize::from(solved.add);
            score.score.multiply_correct += usize::from(solved.multiply);
        }
        score
    };
    AnalogyScores::sum(set.sections.iter().map(score).collect())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::analogies::{AnalogyScore, Relation};
    use super::*;

    /// Two capitals and two comparatives that are exact parallelograms, and a word in between.
    fn embeddings() -> Embeddings {
        let words = [
            ("paris", 9),
            ("france", 8),
            ("rome", 7),
            ("italy", 6),
            ("good", 5),
            ("better", 4),
            ("bad", 3),
            ("worse", 2),
            ("odd", 1),
        ];
        let vectors = vec![
            1.0, 0.2, 0.0, 1.0, 1.2, 0.0, 1.0, 0.2, 0.4, 1.0, 1.2, 0.4, // the capitals
            0.0, -1.0, 0.2, 0.0, -1.0, 1.2, 0.4, -1.0, 0.2, 0.4, -1.0, 1.2, // the comparatives
            -1.0, 0.0, 0.0,
        ];
        Embeddings::new(3, words, vectors).unwrap()
    }

    const SET: &str = "\
: capital
Paris France Rome Italy
Paris France Rome worse
Paris France Berlin Germany
: gram3-comparative
good better bad worse
";

    fn set(text: &str) -> TestSet {
        TestSet::read(text.as_bytes(), Path::new("set")).unwrap()
    }

    fn analogies(text: &str, options: EvalOptions) -> AnalogyScores {
        let evaluator = Evaluator::new(&embeddings(), options).unwrap();
        match evaluator.score(&set(text), &|_| ()) {
            Score::Analogies(scores) => scores,
            score => panic!("{score:?}"),
        }
    }

    fn word_pairs(text: &str, embeddings: &Embeddings) -> PairScore {
        let evaluator = Evaluator::new(embeddings, EvalOptions::default()).unwrap();
        match evaluator.score(&set(text), &|_| ()) {
            Score::WordPairs(score) => score,
            score => panic!("{score:?}"),
        }
    }

    fn score(add: usize, multiply: usize, used: usize, total: usize) -> AnalogyScore {
        AnalogyScore { add_correct: add, multiply_correct: multiply, used, total }
    }

    #[test]
    fn sections_and_totals_are_counted_and_unknown_words_are_not() {
        let scores = analogies(SET, EvalOptions::default());
        assert_eq!(scores.semantic, score(1, 1, 2, 3));
        assert_eq!(scores.syntactic, score(1, 1, 1, 1));
        assert_eq!(scores.total, score(2, 2, 3, 4));
        assert_eq!(scores.sections[0].name, "capital");
        assert_eq!(scores.sections[0].score, scores.semantic);
        assert_eq!(scores.sections[1].relation, Relation::Syntactic);
        assert_eq!(scores.total.add_accuracy(), Some(2.0 / 3.0));
        assert_eq!(AnalogyScore::default().multiply_accuracy(), None);
    }

    #[test]
    fn every_question_and_every_pair_has_a_result() {
        let evaluator = Evaluator::new(&embeddings(), EvalOptions::default()).unwrap();
        let TestSet::Analogies(analogies) = set(SET) else { panic!("these are analogies") };
        let solved = |both| Some(Solved { add: both, multiply: both });
        assert_eq!(evaluator.solve(&analogies, &|_| ()), [solved(true), solved(false), None, solved(true)]);
        assert_eq!(analogies.sections[1].name, "gram3-comparative");
        assert_eq!(analogies.sections[1].questions[0], ["good", "better", "bad", "worse"]);
        let TestSet::WordPairs(pairs) = set("paris paris 9\nparis nowhere 1\n") else {
            panic!("these are word pairs")
        };
        let cosines = evaluator.cosines(&pairs);
        assert!((cosines[0].unwrap() - 1.0).abs() < 1e-12 && cosines[1].is_none(), "{cosines:?}");
    }

    #[test]
    fn words_beyond_the_restriction_do_not_exist() {
        let restricted = |n| EvalOptions { restrict: Some(n), ..EvalOptions::default() };
        assert_eq!(analogies(SET, restricted(4)).total, score(1, 1, 1, 4));
        assert_eq!(analogies(SET, restricted(0)).total, score(0, 0, 0, 4));
    }

    #[test]
    fn case_is_ignored_unless_it_is_kept() {
        let kept = EvalOptions { case: Case::Keep, ..EvalOptions::default() };
        assert_eq!(analogies(SET, kept).total, score(1, 1, 1, 4));
    }

    #[test]
    fn another_spelling_of_the_question_is_no_answer_and_of_the_answer_is_right() {
        let words = [("a", 9), ("b", 8), ("c", 7), ("B", 6), ("D", 5), ("d", 4), ("x", 3)];
        let vectors = vec![1.0, 0.0, 1.0, 1.0, 0.9, 0.1, 0.9, 1.05, 0.8, 1.0, -1.0, 0.2, -1.0, -1.0];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let total = |case| {
            let evaluator = Evaluator::new(&embeddings, EvalOptions { case, ..EvalOptions::default() });
            match evaluator.unwrap().score(&set("a b c d\n"), &|_| ()) {
                Score::Analogies(scores) => scores.total,
                score => panic!("{score:?}"),
            }
        };
        // `B` is nearest, then `D`.
        assert_eq!(total(Case::Keep), score(0, 0, 1, 1));
        assert_eq!(total(Case::Ignore), score(1, 1, 1, 1));
    }

    #[test]
    fn an_answer_among_the_question_is_used_and_never_right() {
        let scores = analogies("paris paris rome rome\n", EvalOptions::default());
        assert_eq!(scores.total, score(0, 0, 1, 1));
        assert_eq!(scores.sections[0].name, "");
    }

    #[test]
    fn no_threads_are_refused() {
        let none = EvalOptions { threads: Some(0), ..EvalOptions::default() };
        let message = Evaluator::new(&embeddings(), none).unwrap_err().to_string();
        assert_eq!(message, "threads is 0; it must be at least 1");
    }

    #[test]
    fn pairs_with_an_unknown_word_do_not_count() {
        let words = [("x", 4), ("near", 3), ("far", 2), ("zero", 1)];
        let vectors = vec![1.0, 0.0, 1.0, 0.1, 0.0, 1.0, 0.0, 0.0];
        let embeddings = Embeddings::new(2, words, vectors).unwrap();
        let score = word_pairs("X near 9\nx Far 2\nx zero 1\nx unknown 5\nx x 10\n", &embeddings);
        assert_eq!((score.used, score.total), (4, 5));
        // The zero vector ties with the orthogonal one: ranks 3, 1.5, 1.5, 4
        // against 3, 2, 1, 4, of which this is SciPy's correlation.
        assert!((score.spearman.unwrap() - 0.9486832980505139).abs() < 1e-12);
    }

    #[test]
    fn nothing_known_is_no_score() {
        let none: [(&str, u64); 0] = [];
        let empty = Embeddings::new(1, none, Vec::new()).unwrap();
        let score = word_pairs("a b 1\nc d 2\n", &empty);
        assert_eq!((score.spearman, score.spearman_interval), (None, None));
        assert_eq!((score.used, score.total), (0, 2));
    }

    /// The first model, and one that lacks `italy` and has all its vectors reversed.
    fn compare(text: &str) -> Comparison {
        let first = embeddings();
        let rows = (0..first.len()).filter(|&row| first.word(row) != "italy");
        let words = rows.clone().map(|row| (first.word(row), first.count(row)));
        let vectors =
            rows.flat_map(|row| first.vector_at(row).iter().rev().copied().collect::<Vec<_>>()).collect();
        let second = Embeddings::new(3, words, vectors).unwrap();
        let evaluator = |embeddings| Evaluator::new(embeddings, EvalOptions::default()).unwrap();
        evaluator(&first).compare(&evaluator(&second), &set(text), &|_| ())
    }

    #[test]
    fn two_models_are_compared_on_the_questions_that_both_can_answer() {
        let Comparison { first: Score::Analogies(first), second: Score::Analogies(second), differences } =
            compare(SET)
        else {
            panic!("these are analogies");
        };
        // Only two questions do without `italy`.
        assert_eq!(first.total, score(1, 1, 2, 4));
        assert_eq!(second.total, score(2, 1, 2, 4), "without `italy`, 3CosAdd finds `worse`");
        let [add, multiply] = differences[..] else { panic!("{differences:?}") };
        let interval = add.interval.unwrap();
        assert_eq!((add.measure, add.value), ("add_accuracy", -0.5));
        assert_eq!((interval.low, interval.high), (-1.0, 0.0));
        let interval = multiply.interval.unwrap();
        assert_eq!((multiply.measure, multiply.value), ("multiply_accuracy", 0.0));
        assert_eq!((interval.low, interval.high), (0.0, 0.0));
    }

    #[test]
    fn equal_models_do_not_differ_on_word_pairs() {
        let found = compare("paris rome 9\nparis italy 8\ngood bad 7\ngood odd 2\nparis odd 1\n");
        let (Score::WordPairs(first), Score::WordPairs(second)) = (&found.first, &found.second) else {
            panic!("these are word pairs");
        };
        assert_eq!((first.used, first.total), (4, 5));
        assert_eq!(first, second);
        assert_eq!((found.differences[0].measure, found.differences[0].value), ("spearman", 0.0));
    }

    #[test]
    fn with_estimates_every_pair_is_scored_and_unknown_answers_are_not_asked_for() {
        use crate::embeddings::SubwordOptions;

        let subwords = Subwords::fit(&embeddings(), &SubwordOptions::default(), None).unwrap();
        let plain = Evaluator::new(&embeddings(), EvalOptions::default()).unwrap();
        let pairs = set("Paris Parisian 9\nworse worst 8\nrome odd 1\n");
        assert_eq!(plain.score(&pairs, &|_| ()).used(), 1);
        let evaluator = plain.with_estimates(&subwords, &pairs);
        let TestSet::WordPairs(words) = &pairs else { unreachable!() };
        assert!(evaluator.cosines(words).iter().all(|cosine| cosine.is_some_and(f64::is_finite)));
        assert_eq!(evaluator.score(&pairs, &|_| ()).used(), 3);
        let analogies = set(SET);
        let score = plain.with_estimates(&subwords, &analogies).score(&analogies, &|_| ());
        assert_eq!(score.used(), 3, "Germany is unknown");
        let lower = EvalOptions { case: Case::Lower, ..EvalOptions::default() };
        let lower = Evaluator::new(&embeddings(), lower).unwrap().with_estimates(&subwords, &pairs);
        assert_eq!(lower.score(&pairs, &|_| ()).used(), 3);
    }
}
