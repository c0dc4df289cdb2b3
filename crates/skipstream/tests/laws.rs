//! The laws that hold for every strategy, every text and every number of threads.

// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;

use proptest::prelude::*;
use skipstream::corpus::{Input, Lines, Passage, Read, Sentence, Source, find};
use skipstream::train::{Initial, MultiPass};
use skipstream::{
    BatchOptions, Config, Connectors, Embeddings, HalfLife, IncrementalOptions, MiniBatchOptions, Observer,
    PhraseOptions, PhraseScore, Progress, ReplayStart, Result, SettingValues, StopReason, Strategy as Method,
    Trainer, Vectors, WindowShape, Word2vecOptions,
};

/// A text of random sentences whose words are as unevenly frequent as real ones.
fn text(seed: u64, lines: usize, words: usize) -> String {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = String::new();
    for _ in 0..lines {
        for _ in 0..1 + (uniform() * 20.0) as usize {
            let rank = ((words as f64 + 1.0).powf(uniform()) - 1.0) as usize;
            text.push_str(&format!("w{rank} "));
        }
        text.push('\n');
    }
    text
}

/// A small model whose batches, tables and buffers all come to their limits.
fn small(strategy: Method) -> Config {
    Config {
        dimensions: 10,
        strategy,
        subsample: 1e-2,
        max_vocabulary: 60,
        threads: Some(1),
        ..Config::default()
    }
}

const SMALL: MiniBatchOptions = MiniBatchOptions {
    batch_words: 300,
    blocks: 4,
    replays: 1,
    replay_words: 400,
    replay_start: ReplayStart::Early,
    half_life: None,
};

/// None, and from less than a batch to more than the text.
fn half_life() -> impl Strategy<Value = Option<HalfLife>> {
    let words = (20u64..5_000).prop_map(HalfLife::Words);
    let times = (1u64..200_000).prop_map(HalfLife::Seconds);
    prop::option::of(prop_oneof![2 => words, 1 => times])
}

/// Phrases in a table that is too small for all pairs.
fn phrases(score: PhraseScore) -> PhraseOptions {
    PhraseOptions {
        score,
        threshold: Some(if score == PhraseScore::Npmi { 0.3 } else { 3.0 }),
        min_count: Some(3),
        pairs: Some(150),
        connectors: Some(Connectors::English),
    }
}

/// A text in which many words are followed by the same ones.
fn text_with_phrases(seed: u64, lines: usize, words: usize) -> String {
    let follow = |word: &str| match word.len() {
        2 => format!("{word} {word}x "),
        3 => format!("{word} of {word}y {word}z "),
        _ => format!("{word} "),
    };
    let lines = text(seed, lines, words);
    lines.lines().map(|line| line.split_whitespace().map(follow).collect::<String>() + "\n").collect()
}

fn mini_batch() -> Method {
    Method::MiniBatch(SMALL)
}

fn incremental() -> Method {
    Method::Incremental(IncrementalOptions { table_size: 1_000, ..IncrementalOptions::default() })
}

/// With a start that is counted first.
fn warmed_up(warm_up_words: usize) -> Method {
    Method::Incremental(IncrementalOptions { table_size: 1_000, warm_up_words, ..Default::default() })
}

fn source<'a>(text: &'a str, config: &Config) -> Dated<'a> {
    Dated { lines: Lines::new(text.as_bytes(), "text", &config.text).unwrap(), line: 0 }
}

/// Lines that come every ten minutes.
struct Dated<'a> {
    lines: Lines<&'a [u8]>,
    line: i64,
}

impl Source for Dated<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let read = self.lines.read(sentence)?;
        sentence.set_time(600_000_000 * self.line);
        self.line += 1;
        Ok(read)
    }

    fn cut(&mut self, max_bytes: usize) -> Option<Passage> {
        self.lines.cut(max_bytes)
    }

    fn put_back(&mut self, passage: Passage) {
        self.lines.put_back(passage);
    }
}

fn train(config: Config, text: &str) -> Trainer {
    let mut lines = source(text, &config);
    let mut trainer = Trainer::new(config).unwrap();
    assert_eq!(trainer.train_source(&mut lines).unwrap(), StopReason::EndOfText);
    trainer
}

fn bytes(trainer: &Trainer) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    trainer.save(&path).unwrap();
    std::fs::read(path).unwrap()
}

/// Trains, but saves, forgets and loads at every boundary.
fn train_with_interruptions(config: Config, text: &str, path: &Path) -> (Trainer, u32) {
    let threads = config.threads;
    let mut lines = source(text, &config);
    let mut trainer = Trainer::new(config).unwrap();
    let mut pauses = 0;
    while trainer.train_observed(&mut lines, &mut |_: &Progress| ControlFlow::Break(())).unwrap()
        == StopReason::Paused
    {
        trainer.save(path).unwrap();
        trainer = Trainer::load(path, threads).unwrap();
        pauses += 1;
    }
    (trainer, pauses)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    /// Law 1.
    #[test]
    fn the_same_bytes_for_any_number_of_threads(
        seed in 0u64..1000, replays in 0u32..3, blocks in 0u32..4, half_life in half_life(),
    ) {
        let text = text(seed, 150, 200);
        let config = |threads| Config {
            threads: Some(threads),
            seed,
            ..small(Method::MiniBatch(MiniBatchOptions { replays, blocks: 1 << blocks, half_life, ..SMALL }))
        };
        let joined = |trainer: &Trainer| trainer.embeddings_of(Vectors::Joined).unwrap().matrix().into_owned();
        let trainer = train(config(1), &text);
        let (one, vectors) = (bytes(&trainer), joined(&trainer));
        // With 8 threads or more, several read.
        for threads in [2, 5, 16] {
            let trainer = train(config(threads), &text);
            prop_assert!(bytes(&trainer) == one, "{threads} threads");
            prop_assert!(joined(&trainer) == vectors, "{threads} threads");
        }
    }

    /// Laws 2 and 5: training that is interrupted and resumed is uninterrupted training.
    #[test]
    fn resumed_training_is_uninterrupted_training(
        seed in 0u64..1000, replays in 0u32..3, half_life in half_life(),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let text = text(seed, 150, 200);
        let strategy = Method::MiniBatch(MiniBatchOptions { replays, half_life, ..SMALL });
        let config = Config { seed, ..small(strategy) };
        let (resumed, pauses) = train_with_interruptions(config.clone(), &text, &path);
        prop_assert!(pauses > 3);
        prop_assert!(bytes(&resumed) == bytes(&train(config, &text)));
    }

    /// Laws 1 and 2 where phrases are found: reading on several threads, pauses and loading change nothing.
    #[test]
    fn phrases_do_not_depend_on_threads_and_interruptions(
        seed in 0u64..1000, score in prop::sample::select(vec![PhraseScore::Npmi, PhraseScore::Original]),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let text = text_with_phrases(seed, 200, 150);
        let config = |threads| Config { threads: Some(threads), seed, phrases: phrases(score), ..small(mini_batch()) };
        let trainer = train(config(1), &text);
        prop_assert!(trainer.phrases().len() > 3, "{:?}", trainer.phrases());
        let one = bytes(&trainer);
        for threads in [2, 5, 16] {
            prop_assert!(bytes(&train(config(threads), &text)) == one, "{threads} threads");
        }
        let (resumed, pauses) = train_with_interruptions(config(1), &text, &path);
        prop_assert!(pauses > 3);
        prop_assert!(resumed.phrases() == trainer.phrases());
        prop_assert!(bytes(&resumed) == one);
        let mut fork = trainer.fork().unwrap();
        let mut trainer = trainer;
        for trainer in [&mut fork, &mut trainer] {
            trainer.train_source(&mut source(&text, &config(1))).unwrap();
        }
        prop_assert!(bytes(&fork) == bytes(&trainer));
    }

    /// Law 2 at the end of a whole batch: batches are a function of the lines, whatever is joined.
    #[test]
    fn batches_with_phrases_end_where_batches_without_end(seed in 0u64..1000) {
        let lines: Vec<String> = text_with_phrases(seed, 4000, 100).split_whitespace().map(str::to_owned).collect();
        let lines: Vec<String> = lines.chunks_exact(10).map(|words| words.join(" ") + "\n").collect();
        let strategy = Method::MiniBatch(MiniBatchOptions { replays: 0, ..SMALL });
        let config = Config { seed, phrases: phrases(PhraseScore::Npmi), ..small(strategy) };
        let (first, second) = (lines[..60].concat(), lines[60..130].concat());
        let mut trainer = train(config.clone(), &first);
        prop_assert!(!trainer.phrases().is_empty());
        trainer.train_source(&mut source(&second, &config)).unwrap();
        prop_assert!(bytes(&trainer) == bytes(&train(config, &(first + &second))));
    }

    /// Law 2 for a model whose words start with given vectors.
    #[test]
    fn resumed_training_from_vectors_is_uninterrupted_training(seed in 0u64..1000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let text = text(seed, 150, 200);
        let given = train(small(mini_batch()), &text);
        given.save(&path).unwrap();
        let mini_batch = Method::MiniBatch(MiniBatchOptions { batch_words: 100, ..SMALL });
        for method in [mini_batch, incremental(), warmed_up(300)] {
            let config = Config { seed, ..small(method) };
            let new = || Trainer::starting_from(config.clone(), Initial::load(&path).unwrap()).unwrap();
            let mut uninterrupted = new();
            uninterrupted.train_source(&mut source(&text, &config)).unwrap();
            let saved = folder.path().join("resumed");
            let mut lines = source(&text, &config);
            let mut resumed = new();
            while resumed.train_observed(&mut lines, &mut |_: &Progress| ControlFlow::Break(())).unwrap() == StopReason::Paused {
                resumed.save(&saved).unwrap();
                resumed = Trainer::load(&saved, Some(1)).unwrap();
            }
            prop_assert!(bytes(&resumed) == bytes(&uninterrupted));
            prop_assert!(bytes(&resumed) != bytes(&train(config, &text)));
        }
    }

    /// Law 2 for the strategy whose boundary is the sentence.
    #[test]
    fn text_in_pieces_is_text_at_once(seed in 0u64..1000, cut in 0usize..100) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model");
        let text = text(seed, 100, 200);
        let cut = text.match_indices('\n').nth(cut).unwrap().0 + 1;
        let config = Config { seed, ..small(incremental()) };
        train(config.clone(), &text[..cut]).save(&path).unwrap();
        let mut trainer = Trainer::load(&path, None).unwrap();
        trainer.train_source(&mut source(&text[cut..], &config)).unwrap();
        prop_assert!(bytes(&trainer) == bytes(&train(config, &text)));
    }

    /// Laws 1 and 2 for a warm-up, which is one batch: it ends with the sentence that has its last word.
    #[test]
    fn a_warm_up_is_a_batch(seed in 0u64..1000, words in 1usize..900, cut in 0usize..100) {
        let text = text(seed, 100, 200);
        let config = |threads| Config { seed, threads: Some(threads), ..small(warmed_up(words)) };
        let whole = bytes(&train(config(1), &text));
        for threads in [2, 16] {
            prop_assert!(bytes(&train(config(threads), &text)) == whole, "{threads} threads");
        }
        let cut = text.match_indices('\n').nth(cut).unwrap().0 + 1;
        let n_words = text[..cut].split_whitespace().count();
        let mut trainer = train(config(1), &text[..cut]);
        trainer.train_source(&mut source(&text[cut..], &config(1))).unwrap();
        prop_assert_eq!(bytes(&trainer) == whole, n_words >= words || cut == text.len());
        // Nothing waits: the text was learned, even if it ended early.
        trainer.finish();
        prop_assert_eq!(trainer.waiting(), 0);
    }

    /// Law 2 at the end of a whole batch.
    #[test]
    fn batches_in_pieces_are_batches_at_once(seed in 0u64..1000) {
        let lines: Vec<String> = text(seed, 4000, 100).split_whitespace().map(str::to_owned).collect();
        let lines: Vec<String> = lines.chunks_exact(10).map(|words| words.join(" ") + "\n").collect();
        let config = Config { seed, ..small(Method::MiniBatch(MiniBatchOptions { replays: 0, ..SMALL })) };
        // Two batches of 30 lines, and the text after them.
        let (first, second) = (lines[..60].concat(), lines[60..130].concat());
        let mut trainer = train(config.clone(), &first);
        trainer.train_source(&mut source(&second, &config)).unwrap();
        prop_assert!(bytes(&trainer) == bytes(&train(config, &(first + &second))));
    }

    /// Laws 3 and 7: bounds hold, and every parameter and loss is finite, at any rate.
    #[test]
    fn bounds_hold_and_nothing_is_infinite(
        seed in 0u64..1000,
        rate in prop::sample::select(vec![1e-6f32, 0.2, 10.0]),
        max_vocabulary in 2usize..80,
        strategy in prop::sample::select(vec![mini_batch(), incremental(), warmed_up(300)]),
        subsample in prop::sample::select(vec![0.0, 1e-3, 1.0]),
    ) {
        let config = Config { learning_rate: Some(rate), max_vocabulary, subsample, seed, ..small(strategy) };
        let trainer = train(config, &text(seed, 100, 300));
        prop_assert!(trainer.vocabulary().len() <= max_vocabulary);
        for id in trainer.vocabulary().ids() {
            let rows = [trainer.parameters().target(id), trainer.parameters().context(id)];
            prop_assert!(rows.concat().iter().all(|value| value.is_finite()));
        }
        let totals = trainer.progress().totals;
        prop_assert!(totals.loss.is_finite() && totals.loss >= 0.0);
    }

    /// Counts are a HashMap's below the bound, and within Misra and Gries' error above it.
    #[test]
    fn counts_are_those_of_the_text(seed in 0u64..1000, max_vocabulary in 5usize..400) {
        let text = text(seed, 100, 200);
        let mut truth: HashMap<&str, u64> = HashMap::new();
        for word in text.split_whitespace() {
            *truth.entry(word).or_default() += 1;
        }
        let n: u64 = truth.values().sum();
        let trainer = train(Config { max_vocabulary, ..small(mini_batch()) }, &text);
        let vocabulary = trainer.vocabulary();
        prop_assert_eq!(vocabulary.tokens(), n);
        for (word, &count) in &truth {
            let (counter, since) = vocabulary.id(word).map_or((0, 0), |id| (vocabulary.counter(id), vocabulary.count(id)));
            prop_assert!(counter <= since && since <= count);
            prop_assert!((count - counter) * (max_vocabulary as u64 + 1) <= n);
            if truth.len() <= max_vocabulary {
                prop_assert_eq!(since, count);
            }
        }
    }

    /// Law 4: queries change neither the file nor the answers. Vectors that are opened in place build an index of their
    /// words only after many queries, and their means at the first, so the answers before and after are found in different
    /// ways.
    #[test]
    fn queries_change_nothing(seed in 0u64..1000) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("vectors");
        let trainer = train(small(mini_batch()), &text(seed, 50, 50));
        trainer.save(&path).unwrap();
        let before = std::fs::read(&path).unwrap();
        let answer = |embeddings: &Embeddings, word: &str| {
            let neighbors = embeddings.neighbors(word, 5).unwrap();
            neighbors.into_iter().map(|found| (found.word.to_owned(), found.similarity)).collect::<Vec<_>>()
        };
        let asked_often = Embeddings::open(&path, Vectors::Joined).unwrap();
        for _ in 0..100 {
            asked_often.words().for_each(|word| drop(answer(&asked_often, word)));
        }
        for word in asked_often.words() {
            let asked_once = Embeddings::open(&path, Vectors::Joined).unwrap();
            prop_assert_eq!(answer(&asked_often, word), answer(&asked_once, word), "{}", word);
        }
        prop_assert!(std::fs::read(&path).unwrap() == before);
    }
}

/// Observers are called every 20,000 words, so this text is longer.
#[test]
fn a_pause_in_a_warm_up_comes_at_its_end_and_changes_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let text = text(8, 8_000, 100);
    let config = Config { subsample: 0.0, max_vocabulary: 1_000, ..small(warmed_up(50_000)) };
    let mut pauses = Vec::new();
    let mut lines = source(&text, &config);
    let mut trainer = Trainer::new(config.clone()).unwrap();
    while trainer.train_observed(&mut lines, &mut |_: &Progress| ControlFlow::Break(())).unwrap()
        == StopReason::Paused
    {
        pauses.push(trainer.progress().tokens);
        trainer.save(&path).unwrap();
        trainer = Trainer::load(&path, Some(1)).unwrap();
    }
    assert!((50_000..50_020).contains(&pauses[0]) && pauses.len() > 1, "{pauses:?}");
    assert!(bytes(&trainer) == bytes(&train(config, &text)));
}

/// The pairs of fixed windows without subsampling can be counted by hand.
fn expected_pairs(text: &str, window: usize) -> u64 {
    let pairs = |words: usize| (0..words).map(|i| i.min(window) + (words - 1 - i).min(window)).sum::<usize>();
    text.lines().map(|line| pairs(line.split_whitespace().count()) as u64).sum()
}

#[test]
fn a_corpus_of_500_lines_is_trained_to_the_last_pair() {
    let text = text(1, 500, 100);
    let mini_batch = |batch_words| Method::MiniBatch(MiniBatchOptions { batch_words, replays: 0, ..SMALL });
    for strategy in [mini_batch(100), mini_batch(1_000), mini_batch(300_000), incremental(), warmed_up(1_000)]
    {
        let config = Config {
            window: 3,
            window_shape: WindowShape::Fixed,
            subsample: 0.0,
            max_vocabulary: 1_000,
            ..small(strategy)
        };
        let trainer = train(config, &text);
        assert_eq!(trainer.progress().totals.pairs, expected_pairs(&text, 3), "{strategy:?}");
    }
}

/// Lines with weights, which repeat.
struct Weighted<'a>(Lines<&'a [u8]>, std::iter::Cycle<std::slice::Iter<'a, f32>>);

impl Source for Weighted<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        let read = self.0.read(sentence)?;
        if read.is_sentence() {
            sentence.set_weight(*self.1.next().unwrap());
        }
        Ok(read)
    }
}

#[test]
fn a_weight_is_the_mean_number_of_trainings() {
    // No word is evicted.
    let text = text(3, 2_000, 50);
    for strategy in [mini_batch(), incremental(), warmed_up(500)] {
        let config = Config { subsample: 0.0, window_shape: WindowShape::Fixed, ..small(strategy) };
        let pairs = |weights: &[f32]| {
            let mut trainer = Trainer::new(config.clone()).unwrap();
            trainer
                .train_source(&mut Weighted(source(&text, &config).lines, weights.iter().cycle()))
                .unwrap();
            trainer.finish();
            let progress = trainer.progress();
            (progress.totals.pairs as f64, progress.tokens)
        };
        let (once, tokens) = pairs(&[1.0]);
        assert_eq!(pairs(&[0.0]), (0.0, tokens), "words are counted once, whatever the weight");
        assert_eq!(pairs(&[3.0]), (3.0 * once, tokens));
        let share = pairs(&[0.25]).0 / once;
        assert!((share - 0.25).abs() < 0.03, "{share}");
        let share = pairs(&[2.5, 0.5]).0 / once;
        assert!((share - 1.5).abs() < 0.1, "{share}");
    }
}

#[test]
fn training_with_weights_can_be_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let (text, weights) = (text(4, 300, 100), [0.3, 1.0, 4.5]);
    for strategy in [mini_batch(), incremental()] {
        let config = small(strategy);
        let lines = || Weighted(source(&text, &config).lines, weights.iter().cycle());
        let (mut whole, mut resumed) =
            (Trainer::new(config.clone()).unwrap(), Trainer::new(config.clone()).unwrap());
        whole.train_source(&mut lines()).unwrap();
        let mut rest = lines();
        let mut pause = |_: &Progress| ControlFlow::Break(());
        while resumed.train_observed(&mut rest, &mut pause).unwrap() == StopReason::Paused {
            resumed.save(&path).unwrap();
            resumed = Trainer::load(&path, Some(2)).unwrap();
        }
        whole.finish();
        resumed.finish();
        assert!(bytes(&resumed) == bytes(&whole));
    }
}

#[test]
fn finishing_trains_every_word_as_often_as_promised() {
    let text = text(2, 200, 100);
    for replays in [1, 3] {
        let config = Config {
            window: 3,
            window_shape: WindowShape::Fixed,
            subsample: 0.0,
            max_vocabulary: 1_000,
            ..small(Method::MiniBatch(MiniBatchOptions { replays, ..SMALL }))
        };
        let mut trainer = train(config, &text);
        trainer.finish();
        let expected = expected_pairs(&text, 3) * u64::from(1 + replays);
        assert_eq!(trainer.progress().totals.pairs, expected);
        let before = bytes(&trainer);
        trainer.finish();
        assert!(bytes(&trainer) == before, "nothing is left to be finished");
    }
}

#[test]
fn finishing_in_pieces_changes_nothing() {
    let text = text(3, 400, 100);
    let new = || train(small(Method::MiniBatch(MiniBatchOptions { replays: 3, ..SMALL })), &text);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let (mut whole, mut pieces) = (new(), new());
    whole.finish();
    let mut n_pieces = 1;
    while pieces.finish_observed(&mut |_: &Progress| ControlFlow::Break(())) == StopReason::Paused {
        pieces.save(&path).unwrap();
        pieces = Trainer::load(&path, None).unwrap();
        n_pieces += 1;
    }
    assert!(n_pieces > 3, "{n_pieces}");
    assert!(bytes(&whole) == bytes(&pieces));
}

/// A source that fails after its last sentence.
struct Failing<'a>(Lines<&'a [u8]>);

impl Source for Failing<'_> {
    fn read(&mut self, sentence: &mut Sentence) -> Result<Read> {
        match self.0.read(sentence)? {
            Read::Sentence => Ok(Read::Sentence),
            _ => {
                let source = std::io::Error::other("the disk is gone");
                Err(skipstream::Error::Io { path: "text".into(), source })
            }
        }
    }
}

#[test]
fn what_came_before_a_failure_is_learned() {
    let text = text(3, 100, 100);
    for strategy in [mini_batch(), incremental(), warmed_up(500)] {
        let config = small(strategy);
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let error = trainer.train_source(&mut Failing(source(&text, &config).lines)).unwrap_err();
        assert_eq!(error.to_string(), "text: the disk is gone");
        assert!(bytes(&trainer) == bytes(&train(config, &text)));
    }
}

/// The laws of threads and interruptions do not depend on the instructions either.
#[test]
fn all_kernels_train_the_same_model() {
    let text = text(4, 100, 100);
    for strategy in [mini_batch(), incremental(), warmed_up(500)] {
        let models = skipstream::unstable::Kernel::available().into_iter().map(|kernel| {
            let config = small(strategy);
            let mut lines = source(&text, &config);
            let mut trainer = Trainer::with_kernel(config, kernel).unwrap();
            trainer.train_source(&mut lines).unwrap();
            bytes(&trainer)
        });
        let models: Vec<_> = models.collect();
        assert!(models.windows(2).all(|pair| pair[0] == pair[1]), "{strategy:?}");
    }
}

#[test]
fn other_seeds_give_other_models() {
    let text = text(5, 100, 100);
    let model = |seed| bytes(&train(Config { seed, ..small(mini_batch()) }, &text));
    assert!(model(1) == model(1) && model(1) != model(2));
}

#[test]
fn passes_learn_one_corpus_and_a_trainer_learns_a_stream() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let text = text(6, 100, 100);
    let batch = Method::Batch(BatchOptions { passes: 2, ..BatchOptions::default() });
    for strategy in [batch, Method::Word2vec(Word2vecOptions { passes: 2 })] {
        let config = Config { window_shape: WindowShape::Fixed, subsample: 0.0, ..small(strategy) };
        assert!(Trainer::new(config.clone()).is_err());
        let mut passes = MultiPass::new(config.clone()).unwrap();
        let mut opened = 0;
        let mut open = || -> Result<Box<dyn Source>> {
            opened += 1;
            let owned: &'static [u8] = text.clone().into_bytes().leak();
            Ok(Box::new(Lines::new(owned, "text", &config.text)?))
        };
        assert_eq!(passes.train(&mut open, &mut ()).unwrap(), StopReason::EndOfText);
        assert!(passes.train(&mut open, &mut ()).is_err());
        assert_eq!(opened, 3, "one reading to count, two to train");
        assert!(passes.model().progress().totals.mean_loss() > 0.0);
        passes.model().save(&path).unwrap();
        assert!(bytes(MultiPass::load(&path).unwrap().model()) == bytes(passes.model()));
        let error = Trainer::load(&path, None).unwrap_err();
        assert!(error.to_string().ends_with("it cannot learn more text"), "{error}");
    }
}

/// An observer that always asks for a pause still gets batch after batch, until the end of the text.
#[test]
fn pausing_loses_no_text() {
    struct Counting(u32);
    impl Observer for Counting {
        fn progress(&mut self, _: &Progress) -> ControlFlow<()> {
            self.0 += 1;
            ControlFlow::Break(())
        }
    }
    let text = text(7, 200, 100);
    let config = small(mini_batch());
    let mut lines = source(&text, &config);
    let mut trainer = Trainer::new(config).unwrap();
    let mut observer = Counting(0);
    while trainer.train_observed(&mut lines, &mut observer).unwrap() == StopReason::Paused {}
    assert!(observer.0 > 5);
    assert_eq!(trainer.vocabulary().tokens() as usize, text.split_whitespace().count());
}

/// A folder as people have it: prose in two languages, a picture, and nothing prepared.
#[test]
fn a_folder_of_prose_gives_words_without_punctuation() {
    let folder = tempfile::tempdir().unwrap();
    let english = "“It’s GOOD,” said Mr. Smith (aged 42)! See https://example.com/?q=1 or write to me@example.com... \
                   He paid $1,000.50 -- _really_? — for a rock-n-roll record; 😀👍 #great @john.\n\n";
    let german =
        "„Schöne Grüße“, rief Frau Müller-Lüdenscheidt; z. B. am 3. Oktober 1990: «Straße» und Bücher‑\n";
    std::fs::write(folder.path().join("english.txt"), english.repeat(20)).unwrap();
    std::fs::write(folder.path().join("deutsch.txt"), german.repeat(20)).unwrap();
    std::fs::write(folder.path().join("picture.png"), b"\x89PNG\r\n\x1A\n\0\0\0").unwrap();
    let values: SettingValues = serde_json::from_str(r#"{"text": "prose", "dimensions": 8}"#).unwrap();
    let mut trainer = Trainer::new(values.config().unwrap()).unwrap();
    let mut files = trainer.files(find(folder.path()).unwrap().into_iter().map(Input::Found)).unwrap();
    trainer.train_source(&mut files).unwrap();
    assert_eq!(files.left_out().len(), 1);
    let report = files.report();
    assert_eq!((report.urls, report.emails, report.emoji, report.numbers), (20, 20, 40, 20));
    let embeddings = trainer.embeddings().unwrap();
    let bad: Vec<&str> = embeddings.words().filter(|word| !word.ends_with(char::is_alphanumeric)).collect();
    assert!(bad.len() * 200 < embeddings.len(), "{bad:?}");
    for word in ["it's", "smith", "müller", "1990", "Grüße", "IT’S"] {
        assert!(embeddings.index_of(word).is_some(), "{word}");
    }
}

/// Given phrases alone, with several readers, and in a file.
#[test]
fn given_phrases_are_a_part_of_the_model() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    let text = text_with_phrases(9, 200, 150);
    let train = |threads| {
        let config = Config { threads: Some(threads), ..small(mini_batch()) };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        assert_eq!(trainer.add_phrases(["w1 w1x", "w12 of w12y"]).unwrap(), 2);
        trainer.train_source(&mut source(&text, &config)).unwrap();
        trainer
    };
    let one = train(1);
    assert!(bytes(&train(16)) == bytes(&one));
    assert!(one.vocabulary().id("w1_w1x").is_some() && one.vocabulary().id("w1").is_none());
    one.save(&path).unwrap();
    let mut loaded = Trainer::load(&path, Some(1)).unwrap();
    assert_eq!(loaded.phrases(), one.phrases());
    assert_eq!(loaded.add_phrases(["w1 w1x"]).unwrap(), 0);
    assert!(bytes(&loaded) == bytes(&one));
    let mut incremental = Trainer::new(small(incremental())).unwrap();
    assert_eq!(incremental.add_phrases([""; 0]).unwrap(), 0);
    let message = incremental.add_phrases(["w1 w1x"]).unwrap_err().to_string();
    assert_eq!(
        message,
        "phrases is given; it must be left out with the strategy incremental: it is for mini-batch"
    );
}
