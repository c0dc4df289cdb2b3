//! The laws of learning: what is published is what `train` makes of the same lines, however they came.

use std::collections::HashMap;
use std::fs;
use std::io::Cursor;
use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use proptest::prelude::*;
use skipstream::corpus::{
    BadRecords, Layout, Lines, RecordField, RecordFormat, Sentence, Source, TextOptions, from_reader_at,
};
use skipstream::vocabulary::WordTimes;
use skipstream::{
    Config, Embeddings, HalfLife, IncrementalOptions, MiniBatchOptions, PhraseOptions, PhraseScore, Strategy,
    StrategyName as Method, Trainer, Vectors,
};
use tempfile::TempDir;

use super::model::Position;
use super::queue::Queue;
use super::source::WholeBatches;
use super::*;
use crate::log::{Chunk, Log};
use crate::published::{Published, Seen, Seq};
use crate::settings::ServeSettings;
use crate::status::Status;

mod controls;
mod rollback;

/// They show both rows of every word, and depend on all words.
const VECTORS: Vectors = Vectors::Joined;

/// A service without HTTP.
struct Running {
    service: Arc<Service>,
    learner: JoinHandle<Result<()>>,
    runtime: tokio::runtime::Runtime,
}

fn settings(folder: &Path) -> ServeSettings {
    ServeSettings {
        data: folder.to_owned(),
        publish_every: Duration::from_millis(1),
        checkpoint_every: Duration::from_secs(3600),
        vectors: VECTORS,
        ..ServeSettings::default()
    }
}

fn start_with(settings: ServeSettings, config: &Config) -> Result<Running> {
    let folder = settings.data.clone();
    let log = Log::open(&folder, settings.queue_size)?;
    let model = if Model::exists(&folder) {
        Model::load(&folder, Some(1), &log)?
    } else {
        Model::create(&folder, Trainer::new(config.clone())?, &log)?
    };
    let first = model.published(settings.vectors)?;
    let service = Service::new(settings, log, first, config.clone(), 0);
    let learner = super::start(service.clone(), model)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    Ok(Running { service, learner, runtime })
}

fn start(folder: &Path, config: &Config) -> Running {
    start_with(settings(folder), config).unwrap()
}

impl Running {
    fn append(&self, chunk: Chunk) -> Seq {
        *self.runtime.block_on(self.service.log.append(chunk)).unwrap().end()
    }

    fn learned(&self, seq: Seq) -> Arc<Published> {
        self.runtime.block_on(self.service.learned(seq))
    }

    fn wait_for(&self, condition: impl Fn(&Status) -> bool) {
        while !condition(&self.service.status.load()) {
            std::thread::yield_now();
        }
    }

    /// Stops as on SIGTERM.
    fn stop(self) {
        self.service.stop();
        self.learner.join().unwrap().unwrap();
        assert_eq!(Arc::strong_count(&self.service), 1, "the log is closed with the service");
    }
}

fn small(strategy: Method, batch_words: usize) -> Config {
    Config {
        dimensions: 6,
        strategy: match strategy {
            Method::MiniBatch => {
                let default = MiniBatchOptions::default();
                Strategy::MiniBatch(MiniBatchOptions { batch_words, replay_words: 200, ..default })
            }
            _ => Strategy::Incremental(IncrementalOptions {
                table_size: 1_000,
                warm_up_words: batch_words,
                ..Default::default()
            }),
        },
        subsample: 1e-2,
        max_vocabulary: 60,
        text: TextOptions { max_sentence_words: 7, ..TextOptions::default() },
        threads: Some(1),
        ..Config::default()
    }
}

/// Lines of words that are as unevenly frequent as real ones; some have none, some are cut.
fn lines(seed: u64, n: usize) -> Vec<String> {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut line = || {
        let words = (uniform() * 20.0) as usize;
        let word = |_| format!("w{}", (200f64.powf(uniform()) - 1.0) as usize);
        (0..words).map(word).collect::<Vec<_>>().join(" ")
    };
    (0..n).map(|_| line()).collect()
}

/// Cuts lines into chunks; each line has a time of its own, some the same as their neighbors.
fn chunks(lines: &[String], size: usize) -> Vec<Chunk> {
    let time = |line: usize| Timestamp::from_second(1_000_000 + line as i64 / 3).unwrap();
    let numbered: Vec<(usize, &String)> = lines.iter().enumerate().collect();
    numbered
        .chunks(size)
        .map(|lines| {
            let mut chunk = Chunk::default();
            lines.iter().for_each(|(number, line)| chunk.push(line.as_bytes(), Some(time(*number))));
            chunk
        })
        .collect()
}

/// The same lines with times that go back and forth, as those of a clock that is set back.
fn disorder(chunk: &mut Chunk, seed: u64) {
    for (line, time) in chunk.times.iter_mut().enumerate() {
        let second = (line as u64 * 7 + seed) % 50;
        *time = Some(Timestamp::from_second(1_000_000 + second as i64).unwrap());
    }
}

/// What `skipstream train` makes of these lines.
fn trained(lines: &[String], config: &Config) -> Embeddings {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut trainer = Trainer::new(config.clone()).unwrap();
    trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &config.text).unwrap()).unwrap();
    trainer.embeddings_of(VECTORS).unwrap()
}

fn assert_same(published: &Embeddings, expected: &Embeddings) {
    let words = |embeddings: &Embeddings| -> Vec<(String, u64)> {
        (0..embeddings.len()).map(|row| (embeddings.word(row).to_owned(), embeddings.count(row))).collect()
    };
    assert_eq!(words(published), words(expected));
    assert!(published.matrix() == expected.matrix(), "the vectors differ");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_published_is_what_train_makes_of_the_same_lines(
        seed in 0u64..1000, size in 1usize..40, batch_words in 10usize..300, incremental: bool, lowercase: bool,
    ) {
        let strategy = if incremental { Method::Incremental } else { Method::MiniBatch };
        let mut config = small(strategy, batch_words);
        // The other way to cut lines into words.
        config.text.lowercase = lowercase;
        let folder = TempDir::new().unwrap();
        let running = start(folder.path(), &config);
        let lines = lines(seed, 100);
        let mut logged = 0;
        for (number, chunk) in chunks(&lines, size).into_iter().enumerate() {
            logged = running.append(chunk);
            if number % 3 == 0 {
                let published = running.learned(logged);
                // More may not have been logged.
                assert_eq!(published.seq, logged);
                assert_same(&published.embeddings, &trained(&lines[..logged as usize], &config));
            }
        }
        assert_same(&running.learned(logged).embeddings, &trained(&lines, &config));
        running.stop();
    }

    #[test]
    fn a_service_that_is_stopped_and_started_again_ends_with_the_same_bytes(
        seed in 0u64..1000, size in 1usize..20, batch_words in 10usize..200, incremental: bool,
        half_life in prop::option::of(1u64..30),
    ) {
        let strategy = if incremental { Method::Incremental } else { Method::MiniBatch };
        let mut config = small(strategy, batch_words);
        if let Strategy::MiniBatch(options) = &mut config.strategy {
            options.half_life = half_life.map(HalfLife::Seconds);
        }
        let lines = lines(seed, 80);
        let files = |stop_every: usize, size: usize| {
            let folder = TempDir::new().unwrap();
            let mut running = start(folder.path(), &config);
            for (number, chunk) in chunks(&lines, size).into_iter().enumerate() {
                let logged = running.append(chunk);
                if number % stop_every == stop_every - 1 {
                    // Sometimes before the text is learned, sometimes after it.
                    if number % 2 == 0 {
                        running.learned(logged);
                    }
                    running.stop();
                    running = start(folder.path(), &config);
                }
            }
            let published = running.learned(lines.len() as u64);
            running.stop();
            let model = fs::read(Model::path(folder.path())).unwrap();
            (model, published)
        };
        let (model, published) = files(usize::MAX, 80);
        for stop_every in [1, 3] {
            let (other_model, other_published) = files(stop_every, size);
            prop_assert!(other_model == model, "the models differ");
            assert_same(&other_published.embeddings, &published.embeddings);
            prop_assert_eq!(&other_published.seen, &published.seen);
        }
    }

    #[test]
    fn words_have_the_times_of_their_lines(
        seed in 0u64..1000, size in 1usize..40, batch_words in 10usize..300, restart: bool, disordered: bool,
    ) {
        // So many words may stay that none leaves.
        let config = Config { max_vocabulary: 1_000, ..small(Method::MiniBatch, batch_words) };
        let folder = TempDir::new().unwrap();
        let mut running = start(folder.path(), &config);
        let lines = lines(seed, 100);
        let mut expected: HashMap<String, Seen> = HashMap::new();
        let mut logged = 0;
        for mut chunk in chunks(&lines, size) {
            if disordered {
                disorder(&mut chunk, seed);
            }
            for (line, time, _) in chunk.iter() {
                for word in std::str::from_utf8(line).unwrap().split(' ').filter(|word| !word.is_empty()) {
                    let time = time.unwrap();
                    expected.entry(word.to_owned()).or_insert(Seen { first: time, last: time }).last = time;
                }
            }
            logged = running.append(chunk);
            let published = running.learned(logged);
            prop_assert_eq!(published.seen.len(), expected.len());
            for (word, seen) in published.embeddings.words().zip(&published.seen) {
                let Seen { first, last } = expected[word];
                let ordered = Seen { first: first.min(last), last: first.max(last) };
                prop_assert_eq!(seen, &ordered, "{}", word);
            }
            if restart {
                running.stop();
                running = start(folder.path(), &config);
            }
        }
        prop_assert_eq!(logged, 100);
        running.stop();
    }
}

#[test]
fn lines_with_weights_are_learned_as_train_learns_records_with_weights() {
    let lines = lines(5, 300);
    let weights = [1.0, 0.4, 3.0, 2.5, 0.0];
    for (strategy, batch_words) in [(Method::MiniBatch, 60), (Method::Incremental, 50)] {
        let config = small(strategy, batch_words);
        let (folder, mut seq) = (TempDir::new().unwrap(), 0);
        let running = start(folder.path(), &config);
        let mut records = String::new();
        for (number, line) in lines.iter().enumerate() {
            let weight = weights[number % weights.len()];
            records += &format!("{}\n", serde_json::json!({ "text": line, "w": weight }));
            let mut chunk = Chunk::default();
            chunk.push_weighted(line.as_bytes(), None, weight);
            seq = running.append(chunk);
        }
        let published = running.learned(seq);
        let field =
            RecordField { weight: Some("w".to_owned()), ..RecordField::new(RecordFormat::Jsonl, "text") };
        let layout = Layout::Records { field, bad_records: BadRecords::Error };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let mut source = {
            let start = skipstream::corpus::Position::default();
            from_reader_at("text", Cursor::new(records), start, &config.text, &layout).unwrap()
        };
        trainer.train_source(&mut source).unwrap();
        assert_same(&published.embeddings, &trainer.embeddings_of(VECTORS).unwrap());
        running.stop();
    }
}

/// The lines have a month between them, whenever they arrive.
#[test]
fn a_half_life_is_measured_by_the_time_of_the_text() {
    let learn = |half_life: Option<HalfLife>| {
        let mut config = small(Method::MiniBatch, 20);
        if let Strategy::MiniBatch(options) = &mut config.strategy {
            options.half_life = half_life;
        }
        let folder = TempDir::new().unwrap();
        let running = start(folder.path(), &config);
        let mut chunk = Chunk::default();
        for (month, word) in ["old"; 20].into_iter().chain(["new"; 20]).enumerate() {
            let time = Timestamp::from_second(2_592_000 * month as i64).unwrap();
            chunk.push(format!("{word} word").as_bytes(), Some(time));
        }
        let published = running.learned(running.append(chunk));
        let embeddings = published.embeddings.clone();
        running.stop();
        ["old", "new"].map(|word| {
            let row = embeddings.index_of(word).unwrap();
            (embeddings.count(row), embeddings.recent_count(row))
        })
    };
    assert_eq!(learn(None), [(20, 20), (20, 20)]);
    let [old, new] = learn(Some(HalfLife::Seconds(180 * 86_400)));
    assert_eq!((old.0, new.0), (20, 20));
    assert!(old.1 <= 2 && (5..20).contains(&new.1), "{old:?} {new:?}");
}

/// Lines are cut into sentences, and batches end between them; the service stops in the middle.
#[test]
fn the_lines_with_a_word_are_counted_across_restarts() {
    for strategy in [Method::MiniBatch, Method::Incremental] {
        let folder = TempDir::new().unwrap();
        let config = Config { max_vocabulary: 300, ..small(strategy, 20) };
        let lines = lines(5, 120);
        let mut expected: HashMap<&str, u64> = HashMap::new();
        for line in &lines {
            let words: std::collections::HashSet<&str> = line.split_whitespace().collect();
            words.into_iter().for_each(|word| *expected.entry(word).or_default() += 1);
        }
        for (number, chunk) in (1..).zip(chunks(&lines, 40)) {
            let running = start(folder.path(), &config);
            running.append(chunk);
            let embeddings = running.learned(40 * number).embeddings.clone();
            running.stop();
            if number == 3 {
                let words = embeddings.words().enumerate();
                let counted: HashMap<&str, u64> =
                    words.map(|(row, word)| (word, embeddings.document_count(row))).collect();
                assert_eq!(counted, expected, "{strategy:?}");
            }
        }
    }
}

#[test]
fn a_service_starts_with_what_it_has_learned() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let lines = lines(3, 50);
    let running = start(folder.path(), &config);
    for chunk in chunks(&lines, 10) {
        running.append(chunk);
    }
    running.learned(50);
    running.stop();
    let running = start(folder.path(), &config);
    assert_same(&running.learned(50).embeddings, &trained(&lines, &config));
    running.stop();
    let log = Log::open(folder.path(), 1).unwrap();
    let model = Model::load(folder.path(), None, &log).unwrap();
    let published = model.published(VECTORS).unwrap();
    assert!((40..=50).contains(&published.seq), "{}", published.seq);
}

#[test]
fn lines_without_words_are_learned_too() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    let blank = |n| Chunk { text: vec![b'\n'; n], ..Chunk::default() };
    assert_eq!(running.learned(running.append(blank(3))).seq, 3);
    running.append(Chunk { text: b"a b\n\n\n".to_vec(), ..Chunk::default() });
    assert_eq!(running.learned(running.append(blank(2))).seq, 8);
    assert_eq!(running.learned(8).progress.tokens, 2);
    running.stop();
}

#[test]
fn text_that_is_no_utf_8_and_marks_within_a_stream_do_not_stop_the_learning() {
    let folder = TempDir::new().unwrap();
    let mut config = small(Method::MiniBatch, 4);
    config.text.invalid_utf8 = skipstream::corpus::InvalidUtf8::Error;
    let running = start(folder.path(), &config);
    let text = [&b"\xFF\xFEa b\n"[..], b"good \0 words\n", b"\xFE\xFF\n", b"more good words\n"];
    for line in text {
        running.append(Chunk { text: line.to_vec(), ..Chunk::default() });
    }
    let published = running.learned(4);
    let mut words: Vec<&str> = published.embeddings.words().collect();
    words.sort();
    assert_eq!(words, ["good", "more", "words"]);
    running.stop();
}

#[test]
fn a_checkpoint_that_is_ordered_holds_whole_batches_and_shortens_the_log() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    let lines = lines(5, 60);
    for chunk in chunks(&lines, 6) {
        running.append(chunk);
    }
    running.learned(60);
    let checkpoint = running.runtime.block_on(running.service.checkpoint()).unwrap();
    assert!((50..=60).contains(&checkpoint.seq), "{}", checkpoint.seq);
    let rest: usize = chunks(&lines, 6)[checkpoint.seq as usize / 6..].iter().map(Chunk::weight).sum();
    while running.service.log.kept_bytes() > rest as u64 {
        std::thread::yield_now();
    }
    // Once more, though nothing is new.
    assert_eq!(running.runtime.block_on(running.service.checkpoint()).unwrap().seq, checkpoint.seq);
    running.stop();
}

#[test]
fn a_model_that_cannot_be_saved_is_a_problem_until_it_can() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let running = start(folder.path(), &config);
    let lines = lines(7, 60);
    let in_the_way = folder.path().join(".model.safetensors.partial");
    fs::create_dir(&in_the_way).unwrap();
    running.append(chunks(&lines[..30], 30).remove(0));
    running.learned(30);
    let refused = running.runtime.block_on(running.service.checkpoint()).unwrap_err().to_string();
    assert!(refused.contains(".model.safetensors.partial"), "{refused}");
    let problem = running.service.problem().unwrap();
    assert!(problem.contains("could not save the model"), "{problem}");
    assert!(running.service.log.kept_bytes() > 0, "the text stays");
    // Learning goes on.
    let mut rest = chunks(&lines, 30);
    running.append(rest.pop().unwrap());
    assert_same(&running.learned(60).embeddings, &trained(&lines, &config));
    fs::remove_dir(&in_the_way).unwrap();
    running.runtime.block_on(running.service.checkpoint()).unwrap();
    assert_eq!(running.service.problem(), None);
    running.stop();
}

#[test]
fn lines_that_were_learned_before_the_start_do_not_count_as_waiting() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let log = Log::open(folder.path(), 1 << 20).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    for chunk in chunks(&lines(1, 50), 5) {
        runtime.block_on(log.append(chunk)).unwrap();
    }
    // The process was killed between the checkpoint and the deletion of its lines.
    let mut model = Model::create(folder.path(), Trainer::new(config.clone()).unwrap(), &log).unwrap();
    model.position = Position { line: 51, sentences: 0 };
    model.save().unwrap();
    drop(log);
    let running = start(folder.path(), &config);
    assert_eq!((running.service.log.waiting_bytes(), running.service.log.waiting_lines()), (0, 0));
    while running.service.log.kept_bytes() > 0 {
        std::thread::yield_now();
    }
    running.stop();
}

#[test]
fn a_model_that_could_not_be_saved_at_the_end_is_reported() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    running.append(chunks(&lines(1, 50), 50).remove(0));
    running.learned(50);
    fs::create_dir(folder.path().join(".model.safetensors.partial")).unwrap();
    running.service.stop();
    let message = running.learner.join().unwrap().unwrap_err().to_string();
    assert!(message.contains(".model.safetensors.partial"), "{message}");
}

#[test]
fn batches_end_where_too_many_marks_are_in_memory() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), 1 << 20).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let lines: Vec<String> = (0..100).map(|_| "three short words".to_owned()).collect();
    for chunk in chunks(&lines, 10) {
        runtime.block_on(log.append(chunk)).unwrap();
    }
    let options = TextOptions::default();
    let mut queue = Queue::new(log.reader(1).unwrap(), Position::START, 0, &options);
    let (mut times, mut sentence) = (WordTimes::default(), Sentence::default());
    // With its replays, a third of a batch is new text.
    let batches = small(Method::MiniBatch, 90).check().unwrap();
    let mut read = |most_marks| {
        let mut source = WholeBatches::new(&mut queue, &mut times, batches.clone(), 0, most_marks);
        let mut sentences = 0;
        while source.read(&mut sentence).unwrap().is_sentence() {
            sentences += 1;
        }
        (sentences, source.is_marked_full)
    };
    assert_eq!(read(0), (10, true), "one batch at least");
    assert_eq!(read(5), (10, true));
    assert_eq!(read(1_000), (80, false));
}

#[test]
fn a_log_that_is_not_the_models_is_refused() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let running = start(folder.path(), &config);
    running.append(chunks(&lines(1, 50), 50).remove(0));
    running.learned(50);
    running.stop();
    for name in ["log.sqlite", "log.mark"] {
        fs::remove_file(folder.path().join(name)).unwrap();
    }
    let message = start_with(settings(folder.path()), &config).err().unwrap().to_string();
    assert!(
        message.contains("the log next to it has lines 1 to 0: they do not belong together"),
        "{message}"
    );

    // The model is gone, and the log has forgotten its lines.
    let other = TempDir::new().unwrap();
    let running = start(other.path(), &config);
    for chunk in chunks(&lines(1, 50), 5) {
        running.append(chunk);
    }
    running.learned(50);
    running.stop();
    let log = Log::open(other.path(), 1).unwrap();
    let saved = Model::load(other.path(), None, &log).unwrap().saved_line();
    log.forget(saved);
    while log.kept_bytes() > 0 && saved >= 50 {
        std::thread::yield_now();
    }
    drop(log);
    fs::remove_file(Model::path(other.path())).unwrap();
    let message = start_with(settings(other.path()), &config).err().unwrap().to_string();
    assert!(message.contains("the model continues at line 1, but the log"), "{message}");
}

#[test]
fn strategies_that_read_their_text_several_times_are_refused() {
    for strategy in [Strategy::batch(), Strategy::word2vec()] {
        let folder = TempDir::new().unwrap();
        let config = Config { strategy, ..Config::default() };
        let message = start_with(settings(folder.path()), &config).err().unwrap().to_string();
        assert!(message.ends_with("it must be mini-batch or incremental to learn a stream"));
        assert!(!Model::exists(folder.path()));
    }
}

#[test]
fn a_model_that_was_trained_elsewhere_is_taken_up() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let mut trainer = Trainer::new(config.clone()).unwrap();
    trainer.train_source(&mut Lines::new(&b"tea with milk"[..], "text", &config.text).unwrap()).unwrap();
    trainer.save(Model::path(folder.path())).unwrap();
    let running = start(folder.path(), &config);
    running.append(Chunk { text: b"cocoa\n".to_vec(), ..Chunk::default() });
    assert_eq!(running.learned(1).embeddings.len(), 4);
    running.stop();
}

#[test]
fn the_status_tells_of_text_that_does_not_fill_a_batch() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 100_000));
    running.append(chunks(&lines(1, 50), 50).remove(0));
    let tokens = running.learned(50).progress.tokens;
    running.wait_for(|status| {
        status.progress.is_some_and(|progress| progress.tokens == tokens) && status.loss.is_some()
    });
    running.stop();
}
