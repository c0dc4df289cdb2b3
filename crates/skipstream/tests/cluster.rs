//! The laws of several workers: the same model as on one machine, whatever their number, and after any failure.

// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;

use skipstream::corpus::{Files, Layout};
use skipstream::formats;
use skipstream::snapshot::ShardedModel;
use skipstream::train::cluster::{BatchMessages, Cluster, Coordinator, Session, Worker, WorkerBound};
use skipstream::{
    Config, Error, HalfLife, MiniBatchOptions, PhraseOptions, PhraseScore, Progress, Result, StopReason,
    Strategy, Trainer, Vectors,
};

/// Workers in this process. One of them can be made to fail.
struct InProcess {
    workers: Vec<Worker>,
    started: Option<BatchMessages>,
    /// Steps until a failure.
    left: Option<usize>,
}

impl InProcess {
    fn step(&mut self) -> Result<()> {
        match &mut self.left {
            Some(0) => Err(Error::Cluster { reason: "a worker died".to_owned() }),
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

/// The messages to a worker from the others.
fn others(messages: &[Vec<Vec<u8>>], to: usize) -> Vec<&[u8]> {
    (0..messages.len()).filter(|&from| from != to).map(|from| &messages[from][to][..]).collect()
}

impl Cluster for InProcess {
    fn start(&mut self, messages: BatchMessages) -> Result<()> {
        self.started = Some(messages);
        Ok(())
    }

    fn wait(&mut self) -> Result<Vec<Vec<u8>>> {
        let BatchMessages { batch, own } = self.started.take().unwrap();
        let n = self.workers.len();
        let (mut needs, mut lent, mut results) = (Vec::new(), Vec::new(), Vec::new());
        for (number, own) in own.iter().enumerate() {
            self.step()?;
            needs.push(self.workers[number].begin(&batch, own)?);
        }
        for number in 0..n {
            self.step()?;
            lent.push(self.workers[number].lend(&others(&needs, number))?);
        }
        let mut passed: Vec<Option<Vec<u8>>> = vec![None; n];
        let mut returned = vec![vec![Vec::new(); n]; n];
        for phase in 1..n {
            let mut next = vec![None; n];
            for number in 0..n {
                self.step()?;
                let home = (number + phase) % n;
                let worker = &mut self.workers[number];
                let [on, back] = worker.visit(&lent[home][number], passed[number].as_deref())?;
                next[(number + n - 1) % n] = Some(on);
                returned[number][home] = back;
            }
            passed = next;
        }
        for number in 0..n {
            self.step()?;
            results.push(self.workers[number].finish(&others(&returned, number))?);
        }
        Ok(results)
    }
}

/// A training that can be saved and continued.
struct Training<'a> {
    folder: &'a Path,
    coordinator: Coordinator,
    cluster: InProcess,
    session: Session,
}

impl<'a> Training<'a> {
    fn new(folder: &'a Path, config: &Config, workers: usize) -> Training<'a> {
        let session = Session { epoch: 1, attempt: 0 };
        let coordinator = Coordinator::new(config.clone(), workers, session).unwrap();
        Training { folder, coordinator, cluster: cluster(config, workers, session, None), session }
    }

    fn load(folder: &'a Path, model: &Path, workers: usize, attempt: u64) -> Training<'a> {
        let session = Session { epoch: 1, attempt };
        let coordinator = Coordinator::load(model, workers, session, Some(1)).unwrap();
        let config = coordinator.settings().resolved();
        let cluster = cluster(&config, workers, session, Some(model));
        Training { folder, coordinator, cluster, session }
    }

    /// Learns files up to a number of batches.
    fn learn(&mut self, paths: &[&Path], mut batches: usize) -> Result<StopReason> {
        let text = self.coordinator.settings().text().clone();
        let mut files =
            Files::plan(paths.iter().copied(), self.coordinator.ledger(), false, &text, &Layout::Text)?;
        let mut pause = |_: &Progress| {
            batches = batches.saturating_sub(1);
            if batches == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let stopped = self.coordinator.train(&mut files, &mut self.cluster, &mut pause)?;
        files.record_positions(self.coordinator.ledger_mut())?;
        Ok(stopped)
    }

    fn finish(&mut self) {
        self.coordinator.finish(&mut self.cluster, &mut ()).unwrap();
    }

    fn save(&self) {
        let checkpoint = format!("{}-{}", self.coordinator.batches(), self.session.attempt);
        let mut shards = vec![self.coordinator.save(self.folder, &checkpoint).unwrap()];
        shards
            .extend(self.cluster.workers.iter().map(|worker| worker.save(self.folder, &checkpoint).unwrap()));
        ShardedModel::commit(self.folder, &shards).unwrap();
    }

    /// The model as one file.
    fn bytes(&self) -> Vec<u8> {
        self.save();
        let path = self.folder.join("joined");
        ShardedModel::open(self.folder).unwrap().join(&path).unwrap();
        fs::read(path).unwrap()
    }
}

fn cluster(config: &Config, workers: usize, session: Session, model: Option<&Path>) -> InProcess {
    let worker = |number| {
        let mut worker = Worker::new(config.clone(), number, workers, session).unwrap();
        model.into_iter().for_each(|model| worker.load(model).unwrap());
        worker
    };
    InProcess { workers: (0..workers).map(worker).collect(), started: None, left: None }
}

/// Sentences of words as unevenly frequent as real ones.
fn text(path: &Path, seed: u64, lines: usize) {
    let mut state = seed.wrapping_mul(2).wrapping_add(1);
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 31) as f64
    };
    let mut text = String::new();
    for _ in 0..lines {
        (0..12).for_each(|_| text.push_str(&format!("w{} ", 150f64.powf(uniform()) as usize)));
        text.push('\n');
    }
    fs::write(path, text).unwrap();
}

/// Batches, vocabulary and buffer that all come to their limits.
fn config(blocks: usize, half_life: Option<HalfLife>) -> Config {
    let options =
        MiniBatchOptions { blocks, batch_words: 900, replay_words: 1_000, half_life, ..Default::default() };
    let strategy = Strategy::MiniBatch(options);
    Config {
        dimensions: 20,
        max_vocabulary: 75,
        subsample: 1e-2,
        strategy,
        threads: Some(2),
        ..Config::default()
    }
}

/// The file of one machine.
fn expected(folder: &Path, config: &Config, files: &[&Path], finish: bool) -> Vec<u8> {
    let mut trainer = Trainer::new(config.clone()).unwrap();
    for file in files {
        let mut files = trainer.files([*file]).unwrap();
        trainer.train_source(&mut files).unwrap();
        files.record_positions(trainer.ledger_mut()).unwrap();
    }
    if finish {
        trainer.finish();
    }
    assert!(trainer.progress().evictions > 100);
    let path = folder.join("expected");
    trainer.save(&path).unwrap();
    fs::read(path).unwrap()
}

#[test]
fn any_number_of_workers_gives_the_file_of_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    text(&file, 1, 300);
    let phrases = PhraseOptions {
        score: PhraseScore::Npmi,
        min_count: Some(2),
        threshold: Some(0.1),
        ..PhraseOptions::default()
    };
    let plain = config(8, None);
    for config in [plain.clone(), config(8, Some(HalfLife::Words(500))), Config { phrases, ..plain }] {
        let expected = expected(folder.path(), &config, &[&file], true);
        for workers in [1, 2, 4, 5, 8] {
            let model = folder.path().join("model");
            let mut training = Training::new(&model, &config, workers);
            assert_eq!(training.learn(&[&file], usize::MAX).unwrap(), StopReason::EndOfText);
            training.finish();
            assert!(training.bytes() == expected, "{workers} workers, {config:?}");
        }
    }
}

#[test]
fn a_model_continues_with_another_number_of_workers_and_on_one_machine() {
    let folder = tempfile::tempdir().unwrap();
    let [one, two, three] = ["one", "two", "three"].map(|name| folder.path().join(name));
    for (seed, file) in [&one, &two, &three].into_iter().enumerate() {
        text(file, seed as u64, 100);
    }
    let config = config(4, None);
    let expected = expected(folder.path(), &config, &[&one, &two, &three], false);

    let model = folder.path().join("model");
    let mut training = Training::new(&model, &config, 2);
    training.learn(&[&one], usize::MAX).unwrap();
    training.save();
    let mut training = Training::load(&model, &model, 3, 0);
    training.learn(&[&two], usize::MAX).unwrap();
    let joined = folder.path().join("joined");
    fs::write(&joined, training.bytes()).unwrap();

    let mut trainer = Trainer::load(&joined, None).unwrap();
    let mut files = trainer.files([&three]).unwrap();
    trainer.train_source(&mut files).unwrap();
    files.record_positions(trainer.ledger_mut()).unwrap();
    trainer.save(&joined).unwrap();
    assert!(fs::read(&joined).unwrap() == expected);

    // From one machine to workers.
    let mut trainer = Trainer::new(config).unwrap();
    let mut files = trainer.files([&one]).unwrap();
    trainer.train_source(&mut files).unwrap();
    files.record_positions(trainer.ledger_mut()).unwrap();
    trainer.save(&joined).unwrap();
    let other = folder.path().join("other");
    let mut training = Training::load(&other, &joined, 4, 0);
    training.learn(&[&two], usize::MAX).unwrap();
    training.learn(&[&three], usize::MAX).unwrap();
    assert!(training.bytes() == expected);
}

#[test]
fn a_failure_at_any_step_and_a_return_to_the_checkpoint_change_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    text(&file, 2, 130);
    let config = config(4, None);
    let expected = expected(folder.path(), &config, &[&file], false);
    let workers = 3;
    // In a batch, each worker begins, lends, visits two others, and finishes.
    for failure in 0..2 * 5 * workers {
        let model = folder.path().join(format!("model{failure}"));
        let mut training = Training::new(&model, &config, workers);
        assert_eq!(training.learn(&[&file], 2).unwrap(), StopReason::Paused);
        training.save();
        training.cluster.left = Some(failure);
        let error = training.learn(&[&file], usize::MAX).unwrap_err();
        assert!(matches!(error, Error::Cluster { .. }), "{error}");
        let mut training = Training::load(&model, &model, workers, 1);
        training.learn(&[&file], usize::MAX).unwrap();
        assert!(training.bytes() == expected, "after a failure in step {failure}");
    }
}

#[test]
fn an_interrupted_checkpoint_is_no_checkpoint() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    text(&file, 3, 150);
    let config = config(4, None);
    let model = folder.path().join("model");
    let mut training = Training::new(&model, &config, 2);
    training.learn(&[&file], 2).unwrap();
    training.save();
    let before = training.coordinator.progress().tokens;
    training.learn(&[&file], 2).unwrap();
    // All files are written, but the index is not.
    training.coordinator.save(&model, "interrupted").unwrap();
    training.cluster.workers.iter().for_each(|worker| drop(worker.save(&model, "interrupted").unwrap()));
    let training = Training::load(&model, &model, 2, 1);
    assert_eq!(training.coordinator.progress().tokens, before);
    assert!(model.join("checkpoint-interrupted").exists());
    ShardedModel::clean(&model).unwrap();
    assert!(!model.join("checkpoint-interrupted").exists());
    Training::load(&model, &model, 2, 2);
}

#[test]
fn a_sharded_model_answers_like_its_one_file() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    text(&file, 4, 100);
    let model = folder.path().join("model");
    let mut training = Training::new(&model, &config(4, None), 2);
    training.learn(&[&file], usize::MAX).unwrap();
    training.bytes();
    for vectors in Vectors::ALL {
        let sharded = formats::load(&model, vectors).unwrap();
        let whole = formats::load(model.join("joined"), vectors).unwrap();
        assert_eq!(sharded.len(), whole.len());
        assert!((0..whole.len()).all(|row| sharded.vector_at(row) == whole.vector_at(row)));
        assert_eq!(sharded.neighbors("w1", 5).unwrap(), whole.neighbors("w1", 5).unwrap());
    }
    let top = ShardedModel::open(&model).unwrap().embeddings(Vectors::Sum, 7).unwrap();
    assert_eq!(top.len(), 7);
}

#[test]
fn damage_to_a_sharded_model_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("text");
    text(&file, 5, 100);
    let model = folder.path().join("model");
    let mut training = Training::new(&model, &config(4, None), 2);
    training.learn(&[&file], usize::MAX).unwrap();
    training.save();
    let checkpoint =
        fs::read_dir(&model).unwrap().map(|entry| entry.unwrap().path()).find(|path| path.is_dir());
    let shard = checkpoint.unwrap().join("model-00002-of-00003.safetensors");
    let message = Trainer::load(&shard, None).unwrap_err().to_string();
    assert!(message.contains("a part of a sharded model"), "{message}");
    let message = Trainer::load(&model, None).unwrap_err().to_string();
    assert!(message.contains("must be joined into one"), "{message}");
    let bytes = fs::read(&shard).unwrap();
    let join = || ShardedModel::open(&model).and_then(|model| model.join(folder.path().join("joined")));
    for position in (0..bytes.len()).step_by(97).chain([bytes.len() - 1]) {
        let mut damaged = bytes.clone();
        damaged[position] ^= 4;
        fs::write(&shard, damaged).unwrap();
        assert!(join().is_err(), "byte {position}");
    }
    fs::write(&shard, &bytes[..bytes.len() / 2]).unwrap();
    assert!(join().is_err());
    fs::remove_file(&shard).unwrap();
    assert!(join().is_err());
    fs::write(&shard, bytes).unwrap();
    join().unwrap();
}

#[test]
fn a_worker_has_about_its_share_of_the_memory() {
    let config = Config { dimensions: 300, max_vocabulary: 10_000_000, ..config(64, None) };
    let settings = config.check().unwrap();
    let one = WorkerBound::new(&settings, 1).unwrap();
    for workers in [2, 8, 64] {
        let bound = WorkerBound::new(&settings, workers).unwrap();
        assert_eq!(bound.parameters, one.parameters / workers as u64);
        // Besides: a batch, its guests, and lists of all words while a file is loaded.
        assert!(bound.total() < one.total() / workers as u64 + 400_000_000, "{bound:?}");
    }
}
