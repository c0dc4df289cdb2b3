//! The trainer and the oracle, side by side.

use std::ops::ControlFlow;

use super::{Oracle, Word};
use crate::config::{
    Config, Connectors, MiniBatchOptions, PhraseOptions, PhraseScore, ReplayStart, Strategy, WindowShape,
};
use crate::corpus::{Lines, Read, Sentence, Source};
use crate::half_life::HalfLife;
use crate::kernel::Kernel;
use crate::parameters::Accumulators;
use crate::phrases::naive::NaivePhrase;
use crate::random::Random;
use crate::train::{Progress, StopReason, Trainer};

/// Sentences whose words are as unevenly frequent as real ones.
fn sentences(seed: u64, lines: usize, words: usize) -> Vec<String> {
    let mut random = Random::new(seed);
    let mut word = |_| format!("w{}", ((words as f64 + 1.0).powf(random.uniform()) - 1.0) as usize);
    (0..lines).map(|line| (0..1 + line * 7 % 19).map(&mut word).collect::<Vec<_>>().join(" ")).collect()
}

/// Lines with weights, which repeat, and times.
struct WeightedLines<'a> {
    lines: Lines<&'a [u8]>,
    weights: std::iter::Cycle<std::slice::Iter<'a, f32>>,
    line: usize,
}

/// The time of a line: 40 seconds after the one before, from shortly before 1970. Some lines are late.
fn time(line: usize) -> i64 {
    let late = if line % 7 == 3 { 500 } else { 0 };
    (40 * line as i64 - late - 3_000) * 1_000_000
}

impl Source for WeightedLines<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> crate::Result<Read> {
        let read = self.lines.read(sentence)?;
        if read.is_sentence() {
            sentence.set_weight(*self.weights.next().unwrap());
            sentence.set_time(time(self.line));
            self.line += 1;
        }
        Ok(read)
    }
}

fn assert_equal_after_every_batch(config: Config, text: &[String]) {
    assert_equal_with_weights(config, text, &[1.0]);
}

/// Trains the oracle and each instruction set with the same text, and compares them after every batch.
fn assert_equal_with_weights(config: Config, text: &[String], weights: &[f32]) {
    let joined = text.join("\n");
    let lines = || WeightedLines {
        lines: Lines::new(joined.as_bytes(), "text", &config.text).unwrap(),
        weights: weights.iter().cycle(),
        line: 0,
    };
    let texts = text.iter().map(String::as_str).zip(weights.iter().copied().cycle());
    let mut text = (0..).zip(texts).map(|(line, (text, weight))| (text, weight, time(line)));
    let mut oracle = Oracle::new(config.clone().check().unwrap());
    let mut trainers: Vec<_> = Kernel::available()
        .into_iter()
        .map(|kernel| (Trainer::with_kernel(config.clone(), kernel).unwrap(), lines()))
        .collect();
    let mut pause = |_: &Progress| ControlFlow::Break(());
    while oracle.learn_batch(&mut text) {
        for (trainer, lines) in &mut trainers {
            assert_eq!(trainer.train_observed(lines, &mut pause).unwrap(), StopReason::Paused);
            assert_equal(trainer, &oracle);
        }
    }
    assert!(oracle.batches > 5, "{} batches", oracle.batches);
    oracle.finish();
    for (trainer, lines) in &mut trainers {
        assert_eq!(trainer.train_observed(lines, &mut pause).unwrap(), StopReason::EndOfText);
        trainer.finish();
        assert_equal(trainer, &oracle);
    }
}

fn assert_equal(trainer: &Trainer, oracle: &Oracle) {
    let (vocabulary, parameters) = (trainer.vocabulary(), trainer.parameters());
    let words: Vec<&Word> = oracle.slots.iter().collect();
    assert_eq!(vocabulary.len(), words.len());
    for word in words {
        let id = vocabulary.id(&word.text).unwrap();
        let kernel = trainer.instruction_set();
        let name = format!("{} after batch {} with {kernel}", word.text, oracle.batches);
        assert_eq!((vocabulary.count(id), vocabulary.counter(id)), (word.count, word.counter), "{name}");
        assert_eq!(vocabulary.frequency(id), word.frequency, "{name}");
        let row = parameters.layout().row_in_matrix(id);
        for (role, values, side, expected) in [
            ("target", parameters.target(id), &parameters.target, &word.target),
            ("context", parameters.context(id), &parameters.context, &word.context),
        ] {
            let Accumulators::Row(squares) = &side.accumulators else { panic!("rates are by row") };
            assert_eq!(squares[row].to_bits(), expected.squares.to_bits(), "{role} of {name}");
            assert!(
                values.iter().map(|x| x.to_bits()).eq(expected.values.iter().map(|x| x.to_bits())),
                "{role} of {name}"
            );
        }
    }
    if let Some(naive) = &oracle.phrases {
        assert_equal_phrases(trainer, &naive.phrases);
    }
    let totals = trainer.progress().totals;
    assert_eq!(totals.pairs, oracle.pairs);
    // The engine takes one logarithm of a product of many factors, in single precision.
    assert!(
        (totals.loss - oracle.loss).abs() < 1e-5 * oracle.loss,
        "{} against {}",
        totals.loss,
        oracle.loss
    );
}

fn assert_equal_phrases(trainer: &Trainer, expected: &[NaivePhrase]) {
    let mut found = trainer.phrases();
    let mut expected: Vec<&NaivePhrase> = expected.iter().collect();
    found.sort_by(|one, other| one.word.cmp(&other.word));
    expected.sort_by(|one, other| one.text.cmp(&other.text));
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(expected) {
        let numbers = (found.word.as_str(), found.count, found.found_at);
        assert_eq!(numbers, (expected.text.as_str(), expected.count, Some(expected.found_at)));
        assert!((found.score.unwrap() - expected.score).abs() < 1e-9 * expected.score.abs().max(1.0));
    }
}

fn config(blocks: usize, replays: u32, seed: u64) -> Config {
    let options = MiniBatchOptions {
        batch_words: 300,
        blocks,
        replays,
        replay_words: 400,
        ..MiniBatchOptions::default()
    };
    Config {
        dimensions: 20,
        subsample: 1e-2,
        max_vocabulary: 60,
        seed,
        strategy: Strategy::MiniBatch(options),
        ..Config::default()
    }
}

#[test]
fn the_trainer_is_the_oracle_for_every_number_of_blocks_and_replays() {
    for blocks in [1, 2, 4] {
        for replays in [0, 1, 3] {
            let seed = blocks as u64 * 10 + u64::from(replays);
            // 200 words for 60 slots: words leave, and their slots are used again.
            assert_equal_after_every_batch(config(blocks, replays, seed), &sentences(seed, 250, 200));
        }
    }
}

#[test]
fn the_trainer_is_the_oracle_for_every_shape() {
    for (seed, dimensions) in (1..).zip([1, 5, 16, 33, 130]) {
        for window_shape in [WindowShape::Shrinking, WindowShape::Fixed] {
            for (subsample, negatives, noise_exponent) in [(0.0, 5, 0.75), (1e-3, 10, -0.4)] {
                let config = Config {
                    dimensions,
                    window_shape,
                    window: 3,
                    subsample,
                    negatives,
                    noise_exponent,
                    ..config(2, 1, seed)
                };
                assert_equal_after_every_batch(config, &sentences(seed, 120, 100));
            }
        }
    }
}

#[test]
fn the_trainer_is_the_oracle_where_a_batch_has_several_segments() {
    let options = MiniBatchOptions {
        batch_words: 50_000,
        replays: 1,
        replay_words: 30_000,
        ..MiniBatchOptions::default()
    };
    let strategy = Strategy::MiniBatch(options);
    let config = Config { strategy, max_vocabulary: 500, ..config(4, 1, 7) };
    assert_equal_after_every_batch(config, &sentences(7, 17_000, 1_000));
}

#[test]
fn the_trainer_is_the_oracle_where_sentences_have_weights() {
    for (replays, weights) in [(0, &[0.3, 2.0, 1.0][..]), (2, &[1.0, 0.0, 7.25, 0.5, 1.0])] {
        assert_equal_with_weights(config(2, replays, 9), &sentences(9, 250, 200), weights);
    }
}

#[test]
fn the_trainer_is_the_oracle_where_replays_begin_late() {
    let options = MiniBatchOptions {
        batch_words: 300,
        replays: 3,
        replay_words: 1_000,
        replay_start: ReplayStart::Late,
        ..MiniBatchOptions::default()
    };
    let config = Config { strategy: Strategy::MiniBatch(options), ..config(2, 3, 8) };
    assert_equal_after_every_batch(config, &sentences(8, 250, 200));
}

#[test]
fn the_trainer_is_the_oracle_where_old_text_is_forgotten() {
    // From less than a batch to more than the text.
    let words = [20, 400, 1_000, 100_000].map(HalfLife::Words);
    let times = [30, 1_000, 86_400].map(HalfLife::Seconds);
    for (seed, half_life) in (1..).zip(words.into_iter().chain(times)) {
        for replays in [0, 2] {
            let config = config(2, replays, seed);
            let strategy = Strategy::MiniBatch(MiniBatchOptions {
                half_life: Some(half_life),
                ..config.clone().check().unwrap().mini_batch()
            });
            assert_equal_after_every_batch(Config { strategy, ..config }, &sentences(seed, 250, 200));
        }
    }
}

/// Some words are mostly followed by another, some with a connector between them.
fn with_phrases(sentences: Vec<String>) -> Vec<String> {
    let follow = |(place, word): (usize, &str)| match word[1..].parse::<usize>().unwrap() {
        number if place.is_multiple_of(7) || !number.is_multiple_of(3) => word.to_owned(),
        number if number.is_multiple_of(2) => format!("{word} x{number} y{number}"),
        number if number.is_multiple_of(5) => format!("{word} of the x{number}"),
        number => format!("{word} x{number}"),
    };
    let lines = sentences.iter();
    lines.map(|line| line.split(' ').enumerate().map(follow).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn the_trainer_is_the_oracle_where_phrases_are_found() {
    let mut most = 0;
    for (seed, score, connectors) in [
        (1, PhraseScore::Npmi, Connectors::None),
        (2, PhraseScore::Npmi, Connectors::English),
        (3, PhraseScore::Original, Connectors::English),
    ] {
        // Words and pairs leave, and their slots are used again; phrases are dissolved.
        for (max_vocabulary, pairs, words) in [(60, 100, 200), (200, 1_000, 100), (30, 150, 400)] {
            let threshold = if score == PhraseScore::Npmi { 0.4 } else { 5.0 };
            let phrases = PhraseOptions {
                score,
                threshold: Some(threshold),
                min_count: Some(3),
                pairs: Some(pairs),
                connectors: Some(connectors),
            };
            let config = Config { phrases, max_vocabulary, ..config(2, 1, seed) };
            let text = with_phrases(sentences(seed, 250, words));
            assert_equal_after_every_batch(config.clone(), &text);
            let mut trainer = Trainer::new(config).unwrap();
            trainer.train_lines(text.join("\n").as_bytes()).unwrap();
            most = most.max(trainer.phrases().len());
        }
    }
    assert!(most > 10, "{most} phrases");
}
