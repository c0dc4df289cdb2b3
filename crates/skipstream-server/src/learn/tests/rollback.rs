//! Snapshots with a state, and the return to them.

use skipstream::vocabulary::Control;

use super::controls::{files_with, trained_with};
use super::*;
use crate::change::{SnapshotInfo, SnapshotName};
use crate::error::Error;
use crate::status::RolledBack;

fn name(name: &str) -> SnapshotName {
    SnapshotName::new(name).unwrap()
}

impl Running {
    fn keep(&self, snapshot: &str) -> Result<SnapshotInfo> {
        self.runtime.block_on(self.service.keep(name(snapshot)))
    }

    fn roll_back(&self, snapshot: &str) -> Result<RolledBack> {
        self.runtime.block_on(self.service.roll_back(name(snapshot)))
    }
}

fn text(lines: &[String]) -> Chunk {
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    Chunk { text: text.into_bytes(), ..Chunk::default() }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn after_a_return_the_lines_in_between_have_never_been(
        seed in 0u64..1000, kept in 1usize..40, skipped in 0usize..40, batch_words in 10usize..200, incremental: bool,
        restarts: bool,
    ) {
        let strategy = if incremental { Method::Incremental } else { Method::MiniBatch };
        let config = small(strategy, batch_words);
        let lines = lines(seed, 100);
        let folder = TempDir::new().unwrap();
        let mut running = start(folder.path(), &config);
        let restart = |running: Running| {
            if !restarts {
                return running;
            }
            running.stop();
            start(folder.path(), &config)
        };
        running.append(text(&lines[..kept]));
        let info = running.keep("before").unwrap();
        prop_assert_eq!((info.seq, info.state), (kept as u64, true));
        let at_snapshot = running.service.published();
        if skipped > 0 {
            running.append(text(&lines[kept..kept + skipped]));
        }
        running = restart(running);
        let back = running.roll_back("before").unwrap();
        prop_assert_eq!((back.learned, back.seq), (kept as u64, (kept + skipped) as u64));
        assert_same(&running.service.published().embeddings, &at_snapshot.embeddings);
        prop_assert_eq!(running.service.published().seq, back.seq);
        running = restart(running);
        let rest = &lines[kept + skipped..];
        running.append(text(rest));
        let published = running.learned(lines.len() as u64);
        running.stop();
        let learned = [&lines[..kept], rest].concat();
        assert_same(&published.embeddings, &trained_with(&learned, &[(kept, Vec::new())], &config));
    }
}

#[test]
fn only_snapshots_with_a_state_can_be_returned_to() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    running.append(text(&lines(1, 10)));
    let published = running.learned(10);
    running.service.snapshots.save(&published, Some(name("vectors")), 1_000).unwrap();
    for unknown in ["vectors", "none"] {
        assert!(matches!(running.roll_back(unknown), Err(Error::NoState(_))));
    }
    assert!(matches!(running.keep("vectors"), Err(Error::NameTaken(_))));
    running.keep("state").unwrap();
    running.service.snapshots.delete(&name("state"));
    assert!(matches!(running.roll_back("state"), Err(Error::NoState(_))));
    assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 2);
    running.stop();
}

#[test]
fn a_damaged_state_is_refused_and_learning_goes_on() {
    let folder = TempDir::new().unwrap();
    let running = start(folder.path(), &small(Method::MiniBatch, 20));
    running.append(text(&lines(1, 10)));
    running.keep("before").unwrap();
    let state = folder.path().join("snapshots/before.state");
    let bytes = fs::read(&state).unwrap();
    // A new file: the model has the same bytes under another name.
    fs::remove_file(&state).unwrap();
    fs::write(&state, &bytes[..bytes.len() / 2]).unwrap();
    running.append(text(&lines(2, 10)));
    let words = running.learned(20).embeddings.len();
    running.roll_back("before").unwrap_err();
    assert_eq!(running.service.published().embeddings.len(), words);
    running.append(text(&lines(3, 10)));
    running.learned(30);
    running.stop();
}

#[test]
fn a_return_brings_back_words_under_control_but_no_forgotten_word() {
    let folder = TempDir::new().unwrap();
    let config = small(Method::MiniBatch, 20);
    let running = start(folder.path(), &config);
    running.append(text(&["tea with secretname".to_owned()]));
    let control = |control| running.runtime.block_on(running.service.control(vec![control])).unwrap();
    control(Control::Pin { word: "cocoa".to_owned() });
    running.keep("pinned").unwrap();
    control(Control::Unpin { word: "cocoa".to_owned() });
    assert!(running.service.controls.load().pinned.is_empty());
    running.roll_back("pinned").unwrap();
    assert_eq!(running.service.controls.load().pinned.len(), 1);
    // Nothing was learned in between, and it is on disk all the same.
    let saved = Trainer::load(Model::path(folder.path()), Some(1)).unwrap();
    assert_eq!(saved.controls().pinned.len(), 1);

    control(Control::Forget { word: "secretname".to_owned(), keep_out: false });
    assert!(files_with(folder.path(), b"secretname").is_empty());
    assert!(matches!(running.roll_back("pinned"), Err(Error::NoState(_))));
    assert!(!running.service.snapshots.list()[0].state);
    running.stop();
}
