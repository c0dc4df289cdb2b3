use tempfile::TempDir;

use jiff::SignedDuration;
use skipstream::vocabulary::Control;
use skipstream::{Config, Trainer};

use super::*;
use crate::change::testing::{of_embeddings, published};

fn name(name: &str) -> SnapshotName {
    SnapshotName::new(name).unwrap()
}

fn names(snapshots: &SnapshotStore) -> Vec<String> {
    snapshots.list().into_iter().map(|info| info.name.to_string()).collect()
}

#[test]
fn a_snapshot_has_no_words_but_those_of_its_rows() {
    let mut trainer = Trainer::new(Config { dimensions: 4, ..Config::default() }).unwrap();
    trainer.add_phrases(["given name"]).unwrap();
    trainer.control([Control::Merge { word: "nickname".to_owned(), into: "jane".to_owned() }]).unwrap();
    trainer.train([["jane", "drinks", "tea"]]).unwrap();
    let embeddings = trainer.embeddings().unwrap();
    let (folder, copy) = (TempDir::new().unwrap(), TempDir::new().unwrap());
    let published = of_embeddings(Timestamp::UNIX_EPOCH, 1, embeddings.clone(), Timestamp::UNIX_EPOCH);
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.save(&published, Some(name("monday")), 9).unwrap();
    embeddings.save(copy.path().join("vectors")).unwrap();
    let bytes = fs::read(snapshots.path(&name("monday"), "safetensors")).unwrap();
    let copy = fs::read(copy.path().join("vectors")).unwrap();
    let has = |bytes: &[u8], word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    for word in ["given_name", "nickname"] {
        assert!(has(&copy, word) && !has(&bytes, word), "{word}");
    }
    assert!(has(&bytes, "jane"));
}

#[test]
fn snapshots_survive_a_restart() {
    let folder = TempDir::new().unwrap();
    let published = published(9, &[("tea", 5, [1.0, 0.5]), ("milk", 4, [0.5, 1.0]), ("ink", 1, [0.0, 1.0])]);
    let snapshots = SnapshotStore::open(folder.path());
    assert!(snapshots.list().is_empty());
    let pinned = snapshots.save(&published, Some(name("monday")), 2).unwrap();
    let scheduled = snapshots.save(&published, None, 2).unwrap();
    assert_eq!((pinned.seq, pinned.vocabulary, pinned.words, pinned.pinned), (9, 3, 10, true));
    assert!(!scheduled.pinned);

    let again = SnapshotStore::open(folder.path());
    assert_eq!(again.list().len(), 2);
    assert_eq!(again.find(&name("monday")), Some(pinned));
    assert_eq!(again.newest_scheduled(published.time), Some(scheduled));
    let embeddings = again.embeddings(&name("monday")).unwrap();
    assert!(embeddings.words().eq(["tea", "milk"]) && embeddings.count(1) == 4);
    assert_eq!(*embeddings.vector_at(0), [1.0, 0.5]);
}

#[test]
fn a_name_is_given_once_and_is_free_again_after_deleting() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.save(&published, Some(name("a")), 9).unwrap();
    let message = snapshots.save(&published, Some(name("a")), 9).unwrap_err().to_string();
    assert_eq!(message, "a snapshot named `a` already exists");
    assert!(snapshots.embeddings(&name("a")).is_some());
    assert!(snapshots.delete(&name("a")) && !snapshots.delete(&name("a")));
    assert!(snapshots.embeddings(&name("a")).is_none());
    assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 0);
    snapshots.save(&published, Some(name("a")), 9).unwrap();
}

#[test]
fn corrupt_snapshots_are_skipped_and_the_others_stay() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let snapshots = SnapshotStore::open(folder.path());
    for damaged in ["good", "vectors", "description", "half"] {
        snapshots.save(&published, Some(name(damaged)), 9).unwrap();
    }
    let file = |name: &str| folder.path().join("snapshots").join(name);
    fs::write(file("vectors.safetensors"), "short").unwrap();
    fs::write(file("description.json"), "{\"version\": 7}").unwrap();
    fs::remove_file(file("half.safetensors")).unwrap();
    fs::write(file("..json"), "{}").unwrap();

    let snapshots = SnapshotStore::open(folder.path());
    assert_eq!(names(&snapshots).len(), 2);
    assert!(!file("half.json").exists() && file("description.json").exists());
    assert!(snapshots.embeddings(&name("vectors")).is_none());
    assert_eq!(names(&snapshots), ["good"]);
    assert!(snapshots.embeddings(&name("good")).is_some());

    // An unlisted snapshot is not overwritten, but can be deleted.
    for damaged in ["vectors", "description"] {
        let again = snapshots.save(&published, Some(name(damaged)), 9);
        assert!(matches!(again, Err(Error::NameTaken(_))));
        assert!(snapshots.delete(&name(damaged)) && !snapshots.delete(&name(damaged)));
        snapshots.save(&published, Some(name(damaged)), 9).unwrap();
    }
}

#[test]
fn a_snapshot_with_a_flipped_bit_in_a_vector_is_skipped() {
    let folder = TempDir::new().unwrap();
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.save(&published(1, &[("tea", 5, [1.0, 0.5])]), Some(name("a")), 9).unwrap();
    let path = folder.path().join("snapshots/a.safetensors");
    let mut bytes = fs::read(&path).unwrap();
    let at = bytes.windows(4).position(|window| window == 0.5f32.to_le_bytes()).unwrap();
    bytes[at] ^= 1;
    fs::write(&path, bytes).unwrap();
    let snapshots = SnapshotStore::open(folder.path());
    assert!(snapshots.embeddings(&name("a")).is_none());
    assert!(names(&snapshots).is_empty());
}

#[test]
fn a_snapshot_that_is_unreadable_for_a_while_stays() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.save(&published, Some(name("a")), 9).unwrap();
    // A file where the folder should be: the snapshot is neither corrupt nor gone.
    let (files, away) = (folder.path().join("snapshots"), folder.path().join("away"));
    fs::rename(&files, &away).unwrap();
    fs::write(&files, "").unwrap();
    assert!(snapshots.embeddings(&name("a")).is_none());
    fs::remove_file(&files).unwrap();
    fs::rename(&away, &files).unwrap();
    assert!(snapshots.embeddings(&name("a")).is_some());
}

#[test]
fn a_forgotten_word_leaves_every_snapshot_and_unreadable_ones_are_deleted() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5]), ("milk", 4, [0.5, 1.0])]);
    let snapshots = SnapshotStore::open(folder.path());
    for name in ["good", "unlisted", "damaged", "damaged-and-unlisted"] {
        snapshots.save(&published, Some(SnapshotName::new(name).unwrap()), 9).unwrap();
    }
    let file = |name: &str| folder.path().join("snapshots").join(name);
    fs::write(file("unlisted.json"), "{\"version\": 7}").unwrap();
    for name in ["damaged", "damaged-and-unlisted"] {
        fs::write(file(name).with_extension("safetensors"), "tea").unwrap();
    }
    fs::write(file("damaged-and-unlisted.json"), "{\"version\": 7}").unwrap();
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.forget(|word| word == "tea").unwrap();
    assert_eq!(names(&snapshots), ["good"]);
    let mut files: Vec<_> = fs::read_dir(file(""))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    files.sort();
    assert_eq!(files, ["good.json", "good.safetensors", "unlisted.json", "unlisted.safetensors"]);
    for name in ["good", "unlisted"] {
        let vectors = Embeddings::open(file(name).with_extension("safetensors"), Vectors::default()).unwrap();
        assert!(vectors.words().eq(["milk"]));
    }

    // What cannot be read now may hold the word: nothing is called forgotten.
    fs::rename(file(""), folder.path().join("away")).unwrap();
    fs::write(folder.path().join("snapshots"), "").unwrap();
    assert!(snapshots.forget(|word| word == "milk").is_err());
}

#[test]
fn files_left_by_a_killed_process_are_removed() {
    let folder = TempDir::new().unwrap();
    let snapshots = SnapshotStore::open(folder.path());
    snapshots.save(&published(1, &[("tea", 5, [1.0, 0.5])]), Some(name("a")), 9).unwrap();
    let file = |name: &str| folder.path().join("snapshots").join(name);
    for partial in [".b.json.partial", ".b.safetensors.partial"] {
        fs::write(file(partial), "half").unwrap();
    }
    assert_eq!(names(&SnapshotStore::open(folder.path())), ["a"]);
    assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 2);
}

#[test]
fn a_failed_write_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let snapshots = SnapshotStore::open(folder.path());
    // A folder blocks the file of the vectors.
    fs::create_dir_all(folder.path().join("snapshots/.a.safetensors.partial")).unwrap();
    assert!(snapshots.save(&published, Some(name("a")), 9).is_err());
    assert!(snapshots.list().is_empty() && !folder.path().join("snapshots/a.json").exists());
}

#[test]
fn a_full_disk_is_recognized() {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    let error = skipstream::Error::Io { path: PathBuf::new(), source: full };
    assert!(matches!(Error::from(error), Error::DiskFull));
}

fn hourly(n: i64) -> Vec<SnapshotInfo> {
    let start: Timestamp = "2026-11-01T00:30:00Z".parse().unwrap();
    let info = |hour: i64| SnapshotInfo {
        name: SnapshotName::new(&format!("h{hour}")).unwrap(),
        time: start + SignedDuration::from_hours(hour),
        seq: hour as u64,
        vocabulary: 0,
        words: 0,
        pinned: false,
        state: false,
    };
    (0..n).map(info).collect()
}

fn staying(snapshots: &[SnapshotInfo], recent: usize, days: usize) -> Vec<String> {
    let now = snapshots.last().unwrap().time;
    staying_at(now, snapshots, recent, days)
}

fn staying_at(now: Timestamp, snapshots: &[SnapshotInfo], recent: usize, days: usize) -> Vec<String> {
    let gone = expired(snapshots, now, recent, days);
    let is_gone = |info: &&SnapshotInfo| gone.contains(&info.name);
    snapshots.iter().filter(|info| !is_gone(info)).map(|info| info.name.to_string()).collect()
}

#[test]
fn the_newest_stay_and_then_one_per_day() {
    // Four whole days and 10 hours: the last of the days are 23, 47, 71 and 95.
    let snapshots = hourly(106);
    assert_eq!(staying(&snapshots, 3, 90), ["h23", "h47", "h71", "h95", "h103", "h104", "h105"]);
    assert_eq!(staying(&snapshots, 3, 2), ["h71", "h95", "h103", "h104", "h105"]);
    assert_eq!(staying(&snapshots, 3, 0), ["h103", "h104", "h105"]);
}

#[test]
fn thinning_again_and_again_keeps_the_last_of_each_day() {
    let mut snapshots: Vec<SnapshotInfo> = Vec::new();
    for info in hourly(24 * 5) {
        snapshots.push(info);
        let stay = staying(&snapshots, 4, 90);
        snapshots.retain(|info| stay.contains(&info.name.to_string()));
        assert!(snapshots.len() <= 4 + 5);
    }
    let names: Vec<&str> = snapshots.iter().map(|info| info.name.as_str()).collect();
    assert_eq!(names, ["h23", "h47", "h71", "h95", "h116", "h117", "h118", "h119"]);
}

#[test]
fn pinned_ones_stay_and_do_not_count() {
    let mut snapshots = hourly(30);
    snapshots[2].pinned = true;
    assert_eq!(staying(&snapshots, 1, 0), ["h2", "h29"]);
    assert!(expired(&[], Timestamp::UNIX_EPOCH, 1, 1).is_empty());
}

#[test]
fn snapshots_from_the_future_stay_and_do_not_count() {
    let mut snapshots = hourly(60);
    snapshots[58].time += SignedDuration::from_hours(24 * 365);
    snapshots[59].time += SignedDuration::from_hours(24 * 365);
    assert_eq!(staying_at(snapshots[57].time, &snapshots, 2, 1), ["h47", "h56", "h57", "h58", "h59"]);
}
