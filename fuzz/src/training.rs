//! Training with tiny bounds: interrupted, saved and loaded, on several threads, next to an exact count.

use std::collections::HashMap;
use std::io::Cursor;
use std::ops::ControlFlow;

use arbitrary::{Arbitrary, Unstructured};
use skipstream::corpus::{Lines, Source, TextOptions};
use skipstream::train::MultiPass;
use skipstream::{
    AdaGrad, BatchOptions, Config, HalfLife, IncrementalOptions, MiniBatchOptions, PhraseOptions,
    PhraseScore, Progress, ReplayStart, StopReason, Strategy, Trainer, Vectors, WindowShape, Word2vecOptions,
};

use crate::file;

#[derive(Arbitrary, Debug)]
struct Plan {
    strategy: u8,
    dimensions: u8,
    window: u8,
    is_fixed: bool,
    negatives: u8,
    noise_exponent: u8,
    subsample: u8,
    learning_rate: u8,
    max_vocabulary: u8,
    max_sentence_words: u8,
    batch_words: u8,
    blocks: u8,
    replays: u8,
    replay_words: u8,
    is_late: bool,
    by_row: bool,
    seed: u8,
    threads: u8,
    finish: bool,
    /// At which boundaries to save and load.
    interruptions: u16,
}

pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(plan) = Plan::arbitrary(&mut input) else { return };
    let text = text(input.take_rest());
    let config = plan.config();
    if matches!(config.strategy, Strategy::Batch(_) | Strategy::Word2vec(_)) {
        return passes(&config, &text);
    }
    let Ok(mut trainer) = Trainer::new(config.clone()) else { return };
    let source = || Lines::new(text.as_bytes(), "text", &config.text).expect("the options were checked");
    trainer.train_source(&mut source()).expect("text can be learned");

    let threads = Some(1 + usize::from(plan.threads) % 3);
    let mut other = Trainer::new(Config { threads, ..config.clone() }).expect("as before");
    let path = file::path("interrupted.safetensors");
    let mut lines = source();
    let mut boundaries = 0;
    let mut pause = |_: &Progress| {
        boundaries += 1;
        // Loading takes a while, so there are a few interruptions and then no more.
        if boundaries < 16 && plan.interruptions >> boundaries & 1 == 1 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    while other.train_observed(&mut lines, &mut pause).expect("as before") == StopReason::Paused {
        other.save(&path).expect("a model can be saved");
        other = Trainer::load(&path, threads).expect("what was saved can be loaded");
    }
    if plan.finish {
        trainer.finish();
        other.finish();
    }
    let saved = |trainer: &Trainer| {
        trainer.save(&path).expect("a model can be saved");
        std::fs::read(&path).expect("what was saved can be read")
    };
    assert!(saved(&trainer) == saved(&other), "resumed is not uninterrupted: {plan:?}");
    check(&trainer, &text);
}

/// The bounds of the vocabulary hold, and all numbers are finite.
fn check(trainer: &Trainer, text: &str) {
    let vocabulary = trainer.vocabulary();
    let mut exact: HashMap<&str, u64> = HashMap::new();
    for word in text.split_whitespace() {
        *exact.entry(word).or_default() += 1;
    }
    let (tokens, capacity) = (vocabulary.tokens(), vocabulary.capacity() as u64);
    assert_eq!(tokens, exact.values().sum::<u64>());
    assert!(vocabulary.len() as u64 <= capacity);
    // A word in a phrase does not count as itself.
    let forgets = trainer.settings().half_life().is_some();
    let loses = forgets || trainer.joins_phrases();
    for (word, &exact) in &exact {
        let (counter, count, frequency) = vocabulary
            .id(word)
            .map_or((0, 0, 0), |id| (vocabulary.counter(id), vocabulary.count(id), vocabulary.frequency(id)));
        assert!(
            loses || counter <= exact && exact - counter <= tokens / (capacity + 1),
            "{word}: {counter} of {exact}"
        );
        assert!(count <= exact && frequency >= counter, "{word}: {count} of {exact}");
        assert!(frequency <= vocabulary.total_frequency() && (forgets || frequency == count), "{word}");
    }
    assert!(trainer.progress().totals.mean_loss().is_finite());
    // Not finite vectors are an error.
    for kind in [Vectors::Target, Vectors::Context, Vectors::Joined] {
        trainer.embeddings_of(kind).expect("all vectors are finite");
    }
}

/// The strategies that read the text several times.
fn passes(config: &Config, text: &str) {
    let Ok(mut passes) = MultiPass::new(config.clone()) else { return };
    let mut open = || {
        let text = Cursor::new(text.to_owned());
        Ok(Box::new(Lines::new(text, "text", &config.text)?) as Box<dyn Source>)
    };
    passes.train(&mut open, &mut ()).expect("text can be learned");
    let path = file::path("passes.safetensors");
    passes.model().save(&path).expect("a model can be saved");
    check(MultiPass::load(&path).expect("what was saved can be loaded").model(), text);
}

/// Short words, so that a few bytes are a long text: each byte is a word, and every 16th ends a sentence.
fn text(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("w{}{}", byte / 16, if byte % 16 == 0 { '\n' } else { ' ' })).collect()
}

impl Plan {
    fn config(&self) -> Config {
        let adagrad = if self.by_row { AdaGrad::Row } else { AdaGrad::Dimension };
        let passes = 1 + u32::from(self.replays) % 3;
        Config {
            dimensions: 1 + usize::from(self.dimensions) % 20,
            window: 1 + usize::from(self.window) % 30,
            window_shape: if self.is_fixed { WindowShape::Fixed } else { WindowShape::Shrinking },
            negatives: 1 + usize::from(self.negatives) % 8,
            noise_exponent: f64::from(self.noise_exponent) / 255.0,
            subsample: f64::from(self.subsample) / 255.0,
            learning_rate: Some(10f32.powf(f32::from(self.learning_rate) / 36.0 - 6.0)),
            max_vocabulary: usize::from(self.max_vocabulary) % 12,
            seed: self.seed.into(),
            threads: Some(1),
            strategy: match self.strategy % 8 {
                0..4 => Strategy::MiniBatch(MiniBatchOptions {
                    batch_words: 1 + usize::from(self.batch_words),
                    blocks: 1 << (self.blocks % 5),
                    replays: u32::from(self.replays) % 4,
                    replay_words: 1 + usize::from(self.replay_words),
                    replay_start: if self.is_late { ReplayStart::Late } else { ReplayStart::Early },
                    half_life: self.seed.is_multiple_of(3).then(|| HalfLife::Words(1 + u64::from(self.seed))),
                }),
                4..6 => Strategy::Incremental(IncrementalOptions {
                    table_size: 1_000,
                    warm_up_words: self.batch_words.into(),
                    adagrad,
                }),
                6 => Strategy::Batch(BatchOptions { passes, adagrad }),
                _ => Strategy::Word2vec(Word2vecOptions { passes }),
            },
            phrases: self.phrases(),
            text: TextOptions {
                max_sentence_words: 2 + usize::from(self.max_sentence_words),
                ..TextOptions::default()
            },
        }
    }

    fn phrases(&self) -> PhraseOptions {
        let score = match (self.strategy % 8, self.seed % 6) {
            (0..4, 1) => PhraseScore::Npmi,
            (0..4, 4) => PhraseScore::Original,
            _ => return PhraseOptions::default(),
        };
        let (threshold, min_count, pairs) = (Some(0.05), Some(1), Some(100));
        PhraseOptions { score, threshold, min_count, pairs, ..PhraseOptions::default() }
    }
}
