//! Controls of words: they act after the lines before them, and leave nothing of a forgotten word.

use std::path::PathBuf;

use skipstream::vocabulary::{Control, Controlled};

use super::*;
use crate::change::SnapshotName;

fn pin(word: &str) -> Control {
    Control::Pin { word: word.to_owned() }
}

fn forget(word: &str, keep_out: bool) -> Control {
    Control::Forget { word: word.to_owned(), keep_out }
}

/// What `train` and `words` make of these lines, with controls after some of them.
pub(super) fn trained_with(
    lines: &[String],
    controls: &[(usize, Vec<Control>)],
    config: &Config,
) -> Embeddings {
    let mut trainer = Trainer::new(config.clone()).unwrap();
    let mut start = 0;
    for (after, controls) in controls.iter().chain([&(lines.len(), Vec::new())]) {
        let text: String = lines[start..*after].iter().map(|line| format!("{line}\n")).collect();
        trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &config.text).unwrap()).unwrap();
        trainer.control(controls.clone()).unwrap();
        start = *after;
    }
    trainer.embeddings_of(VECTORS).unwrap()
}

impl Running {
    fn control(&self, controls: Vec<Control>) -> Result<Vec<Controlled>> {
        self.runtime.block_on(self.service.control(controls))
    }
}

/// Every file of a folder that has these bytes in it. A temporary file may vanish meanwhile.
pub(super) fn files_with(folder: &Path, bytes: &[u8]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files_with(&path, bytes));
        } else if fs::read(&path).unwrap_or_default().windows(bytes.len()).any(|window| window == bytes) {
            found.push(path);
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn controls_act_after_the_lines_before_them_however_often_the_service_is_started_again(
        seed in 0u64..1000, size in 1usize..20, batch_words in 10usize..200, incremental: bool,
    ) {
        let strategy = if incremental { Method::Incremental } else { Method::MiniBatch };
        let config = small(strategy, batch_words);
        let lines = lines(seed, 80);
        let frequent = lines.iter().flat_map(|line| line.split_whitespace()).next().unwrap().to_owned();
        let controls = [
            vec![pin("cocoa"), Control::Block { word: frequent }],
            vec![forget("cocoa", true), pin("coffee")],
        ];
        let run = |restarts: bool| {
            let folder = TempDir::new().unwrap();
            let mut running = start(folder.path(), &config);
            let (mut places, mut given) = (Vec::new(), controls.iter());
            for (number, chunk) in chunks(&lines, size).into_iter().enumerate() {
                let logged = running.append(chunk) as usize;
                if number % 2 == 1 && let Some(controls) = given.next() {
                    running.control(controls.clone()).unwrap();
                    places.push((logged, controls.clone()));
                }
                if restarts {
                    running.stop();
                    running = start(folder.path(), &config);
                }
            }
            let published = running.learned(lines.len() as u64);
            running.stop();
            (fs::read(Model::path(folder.path())).unwrap(), published, places)
        };
        let (model, published, places) = run(false);
        assert_same(&published.embeddings, &trained_with(&lines, &places, &config));
        let (restarted, published, _) = run(true);
        prop_assert!(restarted == model, "the models differ");
        assert_same(&published.embeddings, &trained_with(&lines, &places, &config));
    }
}

#[test]
fn a_forgotten_word_is_in_no_file() {
    const NAME: &[u8] = b"secretname";
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 200);
    let running = start(folder.path(), &config);
    let mut lines = lines(3, 200);
    for (number, line) in lines.iter_mut().enumerate() {
        if number % 7 == 0 {
            *line = format!("{line} secretname {line}");
        }
    }
    for chunk in chunks(&lines, 20) {
        running.append(chunk);
    }
    let service = &running.service;
    let published = running.learned(200);
    assert!(published.embeddings.index_of("secretname").is_some());
    service.watch.add("secretname").unwrap();
    service.snapshots.save(&published, Some(SnapshotName::new("kept").unwrap()), 1_000).unwrap();
    service.events.send("arrived", &["secretname"]);
    fs::copy(Model::path(folder.path()), folder.path().join("model.safetensors.previous")).unwrap();
    assert!(files_with(folder.path(), NAME).len() >= 3, "the log, the watch list and the snapshot");

    let report = running.control(vec![forget("secretname", false)]).unwrap();
    assert!(report[0].left.is_some_and(|count| count > 0), "{report:?}");
    assert_eq!(files_with(folder.path(), NAME), Vec::<PathBuf>::new());
    assert!(service.published().embeddings.index_of("secretname").is_none());
    let kept = service.snapshots.embeddings(&service.snapshots.list()[0].name).unwrap();
    assert!(kept.index_of("secretname").is_none() && kept.len() > 5);
    assert!(service.watch.words().is_empty());
    // The rest is as before, and the word is learned as a new one.
    running.append(Chunk { text: b"secretname returns\n".to_vec(), ..Chunk::default() });
    let published = running.learned(201);
    assert_eq!(published.embeddings.count(published.embeddings.index_of("secretname").unwrap()), 1);
    running.control(vec![forget("secretname", true)]).unwrap();
    running.append(Chunk { text: b"it returns\n".to_vec(), ..Chunk::default() });
    running.learned(202);
    running.stop();
    assert_eq!(files_with(folder.path(), NAME), Vec::<PathBuf>::new());
}

/// The process was killed between the checkpoint and the clearing of files.
#[test]
fn files_that_were_not_cleared_are_cleared_by_the_next_start() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let running = start(folder.path(), &config);
    running.append(Chunk { text: b"tea with secretname\n".to_vec(), ..Chunk::default() });
    let published = running.learned(1);
    let name = SnapshotName::new("kept").unwrap();
    running.service.snapshots.save(&published, Some(name), 1_000).unwrap();
    running.stop();
    let log = Log::open(folder.path(), 1 << 20).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    // Logged, and nobody has learned it.
    let logging = log.control(vec![forget("secretname", false)]);
    assert!(
        runtime.block_on(async { tokio::time::timeout(Duration::from_millis(300), logging).await }).is_err()
    );
    let mut model = Model::load(folder.path(), Some(1), &log).unwrap();
    let mut queue =
        Queue::new(log.reader(model.position.line).unwrap(), model.position, 0, &TextOptions::default());
    while queue.fill(u64::MAX, &mut model.times).unwrap() {}
    model.trainer.train_source(&mut source::Rest(&mut queue)).unwrap();
    model.position = queue.start();
    model.control(vec![forget("secretname", false)]).unwrap();
    model.controls = 1;
    model.save().unwrap();
    drop(log);
    assert!(!files_with(folder.path(), b"secretname").is_empty());
    let running = start(folder.path(), &config);
    while !files_with(folder.path(), b"secretname").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(running.learned(1).embeddings.words().count(), 2);
    running.stop();
}

#[test]
fn controls_that_are_refused_change_nothing_and_learning_goes_on() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    running.control(vec![pin("tea")]).unwrap();
    assert!(running.service.published().embeddings.index_of("tea").is_some(), "a pinned word has a vector");
    let refused = running.control(vec![pin("milk"), Control::Block { word: "tea".to_owned() }]).unwrap_err();
    assert_eq!(refused.to_string(), "`tea` is pinned: unpin it first");
    assert_eq!(running.service.controls.load().pinned.len(), 1);
    running.append(Chunk { text: b"more words\n".to_vec(), ..Chunk::default() });
    assert_eq!(running.learned(1).embeddings.len(), 3);
    running.stop();
}

/// The process was killed after the log had deleted the text and the word from its entry, before it was rewritten.
#[test]
fn a_log_that_was_not_rewritten_is_rewritten_by_the_next_start() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let running = start(folder.path(), &config);
    running.append(Chunk { text: b"tea with secretname\n".to_vec(), ..Chunk::default() });
    running.learned(1);
    running.control(vec![forget("secretname", false)]).unwrap();
    running.stop();
    let log = rusqlite::Connection::open(folder.path().join("log.sqlite")).unwrap();
    log.execute_batch(
        "INSERT INTO sources VALUES ('secretname', 'secretname');
         DELETE FROM sources;
         INSERT INTO controls (after, controls) VALUES (1, '[]');",
    )
    .unwrap();
    drop(log);
    assert!(!files_with(folder.path(), b"secretname").is_empty());
    let running = start(folder.path(), &config);
    while !files_with(folder.path(), b"secretname").is_empty() {
        std::thread::sleep(Duration::from_millis(5));
    }
    running.stop();
    let log = Log::open(folder.path(), 1 << 20).unwrap();
    assert!(log.take_controls(Seq::MAX).is_none());
}

/// A word is forgotten with the phrases that contain it, in the model, in snapshots and in the list of watched words.
#[test]
fn phrases_are_learned_as_train_learns_them_and_forgotten_with_their_words() {
    const NAME: &[u8] = b"secretname";
    let folder = TempDir::new().unwrap();
    let phrases = PhraseOptions { score: PhraseScore::Npmi, min_count: Some(3), ..Default::default() };
    let config = Config { phrases, max_vocabulary: 300, ..small(Method::MiniBatch, 200) };
    let running = start(folder.path(), &config);
    let mut lines = lines(3, 200);
    for (number, line) in lines.iter_mut().enumerate() {
        if number % 3 == 0 {
            *line = format!("mister secretname {line}");
        }
    }
    for chunk in chunks(&lines, 20) {
        running.append(chunk);
    }
    let published = running.learned(200);
    assert_same(&published.embeddings, &trained(&lines, &config));
    assert!(published.phrases.iter().any(|phrase| phrase.word == "mister_secretname"));
    // Tokens have the numbers of their words in the text, and so the times of their lines.
    let row = published.embeddings.index_of("mister secretname").unwrap();
    let last = Timestamp::from_second(1_000_000 + 198 / 3).unwrap();
    assert_eq!(published.seen[row].last, last);
    let service = &running.service;
    service.watch.add("mister_secretname").unwrap();
    service.snapshots.save(&published, Some(SnapshotName::new("kept").unwrap()), 1_000).unwrap();
    running.control(vec![forget("secretname", true)]).unwrap();
    assert_eq!(files_with(folder.path(), NAME), Vec::<PathBuf>::new());
    assert!(service.published().phrases.iter().all(|phrase| !phrase.word.contains("secret")));
    assert!(service.watch.words().is_empty());
    running.stop();
}
