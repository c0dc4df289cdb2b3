//! The incremental strategy, step by step, against Algorithm 1 written down as naively as possible.

use std::collections::HashMap;

use crate::config::{AdaGrad, Config, IncrementalOptions, Settings, Strategy, WindowShape};
use crate::noise::AdaptiveTable;
use crate::pairs::{PairSampler, Reach};
use crate::parameters::{fill_new_target, first_square};
use crate::random::{Purpose, Random};
use crate::train::Trainer;
use crate::vocabulary::WordId;

/// A row and its AdaGrad sums: one for each dimension, all the same where rates are by row.
#[derive(Clone)]
struct Row {
    values: Vec<f64>,
    squares: Vec<f64>,
}

impl Row {
    fn new(values: Vec<f64>, settings: &Settings) -> Row {
        let first = if settings.strategy().adagrad().unwrap() == AdaGrad::Row {
            f64::from(first_square(settings.dimensions()))
        } else {
            0.0
        };
        Row { squares: vec![first; values.len()], values }
    }

    fn descend(&mut self, gradient: &[f64], settings: &Settings) {
        let mean = gradient.iter().map(|g| g * g).sum::<f64>() / gradient.len() as f64;
        for ((value, square), g) in self.values.iter_mut().zip(&mut self.squares).zip(gradient) {
            *square += if settings.strategy().adagrad().unwrap() == AdaGrad::Row { mean } else { g * g };
            if *square > 0.0 {
                *value -= f64::from(settings.learning_rate()) * g / square.sqrt();
            }
        }
    }
}

/// Words are strings, counts are a map, and everything happens in the order of the paper's Algorithm 1.
///
/// The draws themselves come from the table that the noise's own tests hold against f^α, with the same random
/// numbers as the engine's, so that the two can be compared step by step.
struct Naive {
    settings: Settings,
    words: Vec<String>,
    counts: HashMap<String, u64>,
    targets: HashMap<String, Row>,
    contexts: HashMap<String, Row>,
    noise: AdaptiveTable,
    random: Random,
    tokens: u64,
    loss: f64,
}

impl Naive {
    fn new(config: Config) -> Naive {
        let settings = config.check().unwrap();
        Naive {
            noise: AdaptiveTable::new(1_000, settings.noise_exponent()),
            random: Random::for_purpose(settings.seed(), Purpose::Sentences, [0, 0]),
            settings,
            words: Vec::new(),
            counts: HashMap::new(),
            targets: HashMap::new(),
            contexts: HashMap::new(),
            tokens: 0,
            loss: 0.0,
        }
    }

    fn id(&self, word: &str) -> WordId {
        WordId::from_saved(self.words.iter().position(|known| known == word).unwrap() as u32)
    }

    /// Line 3: f(w) ← f(w) + 1. Returns f(w).
    fn count(&mut self, word: &str) -> u64 {
        if !self.counts.contains_key(word) {
            let mut target = vec![0.0f32; self.settings.dimensions()];
            fill_new_target(&mut target, self.settings.seed(), self.tokens);
            let target = target.into_iter().map(f64::from).collect();
            let context = vec![0.0; self.settings.dimensions()];
            self.words.push(word.to_owned());
            self.targets.insert(word.to_owned(), Row::new(target, &self.settings));
            self.contexts.insert(word.to_owned(), Row::new(context, &self.settings));
        }
        self.tokens += 1;
        let count = self.counts.entry(word.to_owned()).or_default();
        *count += 1;
        *count
    }

    /// A warm-up: all sentences are counted before the first is trained.
    fn warm_up(&mut self, sentences: &[Vec<&str>]) {
        let sampler = PairSampler::new(&self.settings);
        let mut draws = Random::for_purpose(self.settings.seed(), Purpose::Pairs, [self.tokens, 0]);
        for word in sentences.iter().flatten() {
            self.count(word);
        }
        let counts: Vec<u64> = self.words.iter().map(|word| self.counts[word]).collect();
        self.noise.recount(&counts, &mut self.random);
        for sentence in sentences {
            let keeps = |word: &&&str| sampler.keeps(self.counts[**word], self.tokens, &mut draws);
            let kept: Vec<&str> = sentence.iter().filter(keeps).copied().collect();
            let reaches: Vec<Reach> =
                (0..kept.len()).map(|i| sampler.reach(i, kept.len(), &mut draws)).collect();
            for (i, reach) in reaches.into_iter().enumerate() {
                for j in i - usize::from(reach.left)..=i + usize::from(reach.right) {
                    if j != i {
                        self.update(kept[i], kept[j]);
                    }
                }
            }
        }
    }

    fn learn(&mut self, sentence: &[&str]) {
        let sampler = PairSampler::new(&self.settings);
        let mut kept = Vec::new();
        for word in sentence {
            let count = self.count(word);
            kept.push(sampler.keeps(count, self.tokens, &mut self.random));
        }
        let rest: Vec<&str> =
            sentence.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(word, _)| *word).collect();
        let mut i = 0;
        for (word, kept) in sentence.iter().zip(kept) {
            self.noise.add(self.id(word), &mut self.random);
            if kept {
                let reach = sampler.reach(i, rest.len(), &mut self.random);
                for j in i - usize::from(reach.left)..=i + usize::from(reach.right) {
                    if j != i {
                        self.update(rest[i], rest[j]);
                    }
                }
                i += 1;
            }
        }
    }

    /// Line 7: SGD over −log σ(t·c) − Σ log σ(−t·v).
    fn update(&mut self, word: &str, context: &str) {
        let target = self.targets[word].values.clone();
        let mut gradient = vec![0.0; target.len()];
        let mut step = |contexts: &mut HashMap<String, Row>, other: &str, label: f64| {
            let row = contexts.get_mut(other).unwrap();
            let x: f64 = target.iter().zip(&row.values).map(|(t, c)| t * c).sum();
            let slope = 1.0 / (1.0 + (-x).exp()) - label;
            for (g, c) in gradient.iter_mut().zip(&row.values) {
                *g += slope * c;
            }
            let own: Vec<f64> = target.iter().map(|t| slope * t).collect();
            row.descend(&own, &self.settings);
            let x = if label == 1.0 { x } else { -x };
            (1.0 + (-x).exp()).ln()
        };
        self.loss += step(&mut self.contexts, context, 1.0);
        for _ in 0..self.settings.negatives() {
            // Drawn again if it is the context; there may be no other word yet.
            let mut draws = (0..64).map(|_| self.noise.draw(&mut self.random).unwrap());
            let Some(negative) = draws.find(|id| self.words[id.index()] != context) else {
                continue;
            };
            let negative = self.words[negative.index()].clone();
            self.loss += step(&mut self.contexts, &negative, 0.0);
        }
        self.targets.get_mut(word).unwrap().descend(&gradient, &self.settings);
    }
}

/// A trainer learns what the naive one has learned.
fn learn(trainer: &mut Trainer, sentences: &[Vec<&str>]) {
    let lines: Vec<String> = sentences.iter().map(|sentence| sentence.join(" ") + "\n").collect();
    trainer.train_lines(lines.concat().as_bytes()).unwrap();
}

fn assert_same(trainer: &Trainer, naive: &Naive) {
    let vocabulary = trainer.vocabulary();
    assert_eq!(vocabulary.len(), naive.words.len());
    for word in &naive.words {
        let id = vocabulary.id(word).unwrap();
        assert_eq!(vocabulary.count(id), naive.counts[word]);
        let rows = [
            (trainer.parameters().target(id), &naive.targets[word].values),
            (trainer.parameters().context(id), &naive.contexts[word].values),
        ];
        for (engine, row) in rows {
            for (engine, row) in engine.iter().zip(row) {
                let difference = (f64::from(*engine) - row).abs();
                assert!(difference < 1e-3, "{} tokens, {word}: {engine}, naively {row}", naive.tokens);
            }
        }
    }
    let loss = trainer.progress().totals.loss;
    assert!((loss - naive.loss).abs() < 1e-3 * (1.0 + naive.loss), "{loss}, naively {}", naive.loss);
}

#[test]
fn the_incremental_strategy_is_algorithm_1_step_by_step() {
    let words: Vec<String> = (0..12).map(|i| format!("w{i}")).collect();
    for (adagrad, window_shape, subsample, warm_up_words) in [
        (AdaGrad::Dimension, WindowShape::Fixed, 0.0, 0),
        (AdaGrad::Dimension, WindowShape::Shrinking, 0.05, 0),
        (AdaGrad::Row, WindowShape::Shrinking, 0.0, 0),
        (AdaGrad::Dimension, WindowShape::Shrinking, 0.05, 50),
        (AdaGrad::Row, WindowShape::Fixed, 0.05, 10),
    ] {
        let options = IncrementalOptions { table_size: 1_000, warm_up_words, adagrad };
        let config = Config {
            dimensions: 6,
            window: 2,
            window_shape,
            subsample,
            negatives: 3,
            strategy: Strategy::Incremental(options),
            max_vocabulary: 50,
            ..Config::default()
        };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let mut naive = Naive::new(config);
        let mut text = Random::new(8);
        let mut sentence = || -> Vec<&str> {
            let length = 2 + text.below(6);
            (0..length).map(|_| words[text.below(12).min(text.below(12))].as_str()).collect()
        };
        // The text ends in the middle of the warm-up: there are two batches.
        let mut first = vec![sentence()];
        while naive.tokens < warm_up_words as u64 {
            while naive.tokens as usize + first.concat().len() < warm_up_words && first.len() < 5 {
                first.push(sentence());
            }
            naive.warm_up(&first);
            learn(&mut trainer, &first);
            assert_same(&trainer, &naive);
            first = vec![sentence()];
        }
        for _ in 0..60 {
            let next = [sentence()];
            naive.learn(&next[0]);
            learn(&mut trainer, &next);
            assert_same(&trainer, &naive);
        }
    }
}
