use tempfile::TempDir;

use super::*;
use crate::change::testing::{self, published};

fn name(name: &str) -> SnapshotName {
    SnapshotName::new(name).unwrap()
}

fn names(kept: &Kept) -> Vec<String> {
    kept.list().into_iter().map(|info| info.name).collect()
}

#[test]
fn a_snapshot_is_there_again_after_a_restart() {
    let folder = TempDir::new().unwrap();
    let published = published(9, &[("tea", 5, [1.0, 0.5]), ("milk", 4, [0.5, 1.0]), ("ink", 1, [0.0, 1.0])]);
    let kept = Kept::open(folder.path());
    assert!(kept.list().is_empty());
    let pinned = kept.keep(&published, Some(name("monday")), 2).unwrap();
    let automatic = kept.keep(&published, None, 2).unwrap();
    assert_eq!((pinned.seq, pinned.vocabulary, pinned.words, pinned.pinned), (9, 3, 10, true));
    assert!(!automatic.pinned);

    let again = Kept::open(folder.path());
    assert_eq!(again.list().len(), 2);
    assert_eq!(again.find(&name("monday")), Some(pinned));
    assert_eq!(again.newest_automatic(published.time), Some(automatic));
    let embeddings = again.embeddings(&name("monday")).unwrap();
    assert!(embeddings.words().eq(["tea", "milk"]) && embeddings.count(1) == 4);
    assert_eq!(*embeddings.vector_at(0), [1.0, 0.5]);
}

#[test]
fn a_name_is_given_once_and_is_free_again_after_deleting() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    kept.keep(&published, Some(name("a")), 9).unwrap();
    let message = kept.keep(&published, Some(name("a")), 9).unwrap_err().to_string();
    assert_eq!(message, "there is a snapshot `a` already");
    assert!(kept.embeddings(&name("a")).is_some());
    assert!(kept.delete(&name("a")) && !kept.delete(&name("a")));
    assert!(kept.embeddings(&name("a")).is_none());
    assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 0);
    kept.keep(&published, Some(name("a")), 9).unwrap();
}

#[test]
fn what_is_damaged_is_left_out_and_the_rest_stays() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    for damaged in ["good", "vectors", "description", "half"] {
        kept.keep(&published, Some(name(damaged)), 9).unwrap();
    }
    let file = |name: &str| folder.path().join("snapshots").join(name);
    fs::write(file("vectors.safetensors"), "short").unwrap();
    fs::write(file("description.json"), "{\"version\": 7}").unwrap();
    fs::remove_file(file("half.safetensors")).unwrap();
    fs::write(file("..json"), "{}").unwrap();

    let kept = Kept::open(folder.path());
    assert_eq!(names(&kept).len(), 2);
    assert!(!file("half.json").exists() && file("description.json").exists());
    assert!(kept.embeddings(&name("vectors")).is_none());
    assert_eq!(names(&kept), ["good"]);
    assert!(kept.embeddings(&name("good")).is_some());

    // What is not listed is not overwritten either, but can be deleted.
    for damaged in ["vectors", "description"] {
        let again = kept.keep(&published, Some(name(damaged)), 9);
        assert!(matches!(again, Err(KeepError::NameTaken(_))));
        assert!(kept.delete(&name(damaged)) && !kept.delete(&name(damaged)));
        kept.keep(&published, Some(name(damaged)), 9).unwrap();
    }
}

#[test]
fn what_cannot_be_read_for_a_while_stays() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    kept.keep(&published, Some(name("a")), 9).unwrap();
    // A file where the folder should be: neither the snapshot is damaged nor is it gone.
    let (snapshots, away) = (folder.path().join("snapshots"), folder.path().join("away"));
    fs::rename(&snapshots, &away).unwrap();
    fs::write(&snapshots, "").unwrap();
    assert!(kept.embeddings(&name("a")).is_none());
    fs::remove_file(&snapshots).unwrap();
    fs::rename(&away, &snapshots).unwrap();
    assert!(kept.embeddings(&name("a")).is_some());
}

#[test]
fn vectors_that_were_read_while_their_snapshot_was_deleted_are_not_remembered() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    let later = testing::published(2, &[("milk", 5, [1.0, 0.5])]);
    let old = kept.keep(&published, Some(name("a")), 9).unwrap();
    kept.delete(&name("a"));
    kept.remember(&name("a"), &old, &published.embeddings);
    assert!(kept.embeddings(&name("a")).is_none());
    kept.keep(&later, Some(name("a")), 9).unwrap();
    kept.remember(&name("a"), &old, &published.embeddings);
    assert!(kept.embeddings(&name("a")).unwrap().words().eq(["milk"]));
}

#[test]
fn what_a_killed_process_did_not_finish_is_removed() {
    let folder = TempDir::new().unwrap();
    let kept = Kept::open(folder.path());
    kept.keep(&published(1, &[("tea", 5, [1.0, 0.5])]), Some(name("a")), 9).unwrap();
    let file = |name: &str| folder.path().join("snapshots").join(name);
    for partial in [".b.json.partial", ".b.safetensors.partial"] {
        fs::write(file(partial), "half").unwrap();
    }
    assert_eq!(names(&Kept::open(folder.path())), ["a"]);
    assert_eq!(fs::read_dir(folder.path().join("snapshots")).unwrap().count(), 2);
}

#[test]
fn a_snapshot_that_cannot_be_written_leaves_nothing() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    // A folder is in the way of the file that becomes the vectors.
    fs::create_dir_all(folder.path().join("snapshots/.a.safetensors.partial")).unwrap();
    assert!(kept.keep(&published, Some(name("a")), 9).is_err());
    assert!(kept.list().is_empty() && !folder.path().join("snapshots/a.json").exists());
}

#[test]
fn a_full_disk_has_a_name() {
    let full = io::Error::from(io::ErrorKind::StorageFull);
    let error = skipstream::Error::Io { path: PathBuf::new(), source: full };
    assert!(matches!(KeepError::from_engine(error), KeepError::DiskFull));
}

#[test]
fn many_snapshots_are_read_one_after_the_other() {
    let folder = TempDir::new().unwrap();
    let published = published(1, &[("tea", 5, [1.0, 0.5])]);
    let kept = Kept::open(folder.path());
    let all: Vec<SnapshotName> = (0..MAX_OPEN + 4).map(|number| name(&number.to_string())).collect();
    for name in &all {
        kept.keep(&published, Some(name.clone()), 9).unwrap();
    }
    for name in all.iter().chain(&all) {
        assert_eq!(kept.embeddings(name).unwrap().len(), 1);
    }
    assert_eq!(kept.lock().open.len(), MAX_OPEN);
}
