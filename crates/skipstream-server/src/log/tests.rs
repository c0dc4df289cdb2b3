//! Laws of the log: numbers are dense, order is preserved, and no accepted line is lost, whatever happens.

use std::ops::RangeInclusive;
use std::path::Path;

use proptest::prelude::*;
use tempfile::TempDir;

use super::mark::MARK;
use super::*;
use crate::lifecycle::Task;

const QUEUE: u64 = 1 << 20;

impl Log {
    /// Accepts lines. Returns their numbers when they are on disk.
    pub async fn append(&self, chunk: Chunk) -> Result<RangeInclusive<Seq>> {
        let numbers = self.write(chunk, None, None, Duration::ZERO).await?;
        let (first, last) = numbers.expect("a chunk that is not empty has numbers");
        Ok(first..=last)
    }
}

fn chunk(lines: &[&str]) -> Chunk {
    let mut chunk = Chunk::default();
    lines.iter().for_each(|line| chunk.push(line.as_bytes(), None));
    chunk
}

fn key(name: &str) -> Option<IdempotencyKey> {
    Some(IdempotencyKey::new(name).unwrap())
}

/// All lines from a number.
fn read(log: &Log, next: Seq) -> Vec<(Seq, String)> {
    let mut reader = log.reader(next).unwrap();
    let mut lines = Vec::new();
    while let Some(logged) = reader.read().unwrap() {
        let texts = logged.chunk.iter().map(|(line, ..)| String::from_utf8(line.to_vec()).unwrap());
        lines.extend((logged.first..).zip(texts).filter(|(seq, _)| *seq >= next));
    }
    lines
}

fn numbered(lines: &[&str], first: Seq) -> Vec<(Seq, String)> {
    (first..).zip(lines.iter().map(|line| (*line).to_owned())).collect()
}

/// Waits for the log thread.
fn wait_until(condition: impl Fn() -> bool) {
    while !condition() {
        std::thread::yield_now();
    }
}

#[tokio::test]
async fn lines_are_numbered_from_one_and_come_back_in_order() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    assert_eq!(log.last(), 0);
    assert_eq!(log.append(chunk(&["one", "", "three"])).await.unwrap(), 1..=3);
    assert_eq!(log.append(chunk(&["four"])).await.unwrap(), 4..=4);
    assert_eq!((log.last(), log.waiting_lines(), log.waiting_bytes()), (4, 4, 16));
    assert_eq!(read(&log, 1), numbered(&["one", "", "three", "four"], 1));
    assert_eq!((log.waiting_lines(), log.waiting_bytes()), (0, 0));
    assert_eq!(read(&log, 3), numbered(&["three", "four"], 3));
    assert_eq!(read(&log, 5), []);
}

#[tokio::test]
async fn times_come_back_to_the_microsecond() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let before = Timestamp::now();
    let times = [None, Some(Timestamp::from_microsecond(-1_234_567).unwrap()), Some(Timestamp::MAX)];
    let mut sent = Chunk::default();
    times.iter().for_each(|time| sent.push(b"line", *time));
    log.append(sent.clone()).await.unwrap();
    let logged = log.reader(1).unwrap().read().unwrap().unwrap();
    assert!(logged.arrived.as_microsecond() >= before.as_microsecond() && logged.arrived <= Timestamp::now());
    let microseconds = |chunk: &Chunk| -> Vec<Option<i64>> {
        chunk.iter().map(|(_, time, _)| time.map(Timestamp::as_microsecond)).collect()
    };
    assert_eq!(microseconds(&logged.chunk), microseconds(&sent));
}

#[tokio::test]
async fn weights_come_back() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let mut sent = Chunk::default();
    sent.push(b"one", None);
    sent.push_weighted(b"two", None, 0.25);
    log.append(sent.clone()).await.unwrap();
    assert_eq!(log.reader(1).unwrap().read().unwrap().unwrap().chunk, sent);
}

#[tokio::test]
async fn many_senders_at_once_get_numbers_without_gaps_and_share_transactions() {
    let folder = TempDir::new().unwrap();
    let log = Arc::new(Log::open(folder.path(), QUEUE).unwrap());
    let mut senders = tokio::task::JoinSet::new();
    for sender in 0..100 {
        let log = log.clone();
        senders.spawn(async move {
            let line = format!("sender {sender}");
            (*log.append(chunk(&[&line])).await.unwrap().start(), line)
        });
    }
    let mut answers: Vec<(Seq, String)> = senders.join_all().await;
    answers.sort();
    assert_eq!(answers, read(&log, 1));
    assert_eq!(answers.iter().map(|(seq, _)| *seq).collect::<Vec<_>>(), (1..=100).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_full_queue_refuses_until_lines_are_taken() {
    let folder = TempDir::new().unwrap();
    let log = Arc::new(Log::open(folder.path(), 10).unwrap());
    log.append(chunk(&["larger than the whole queue"])).await.unwrap();
    let refused = log.append(chunk(&["x"])).await.unwrap_err();
    assert_eq!(
        refused.to_string(),
        "the queue is full: 28 bytes of text are waiting to be learned; the limit is 10"
    );
    let waiting = tokio::spawn({
        let log = log.clone();
        async move {
            let upload = log.upload(None).await.unwrap();
            upload.finish(chunk(&["waits"]), Duration::from_secs(60)).await.unwrap()
        }
    });
    assert_eq!(read(&log, 1).len(), 1);
    assert_eq!(waiting.await.unwrap(), Some(Accepted { first: 2, last: 2, lines: 1 }));
    let mut upload = log.upload(None).await.unwrap();
    let full = upload.append(chunk(&["too much"]), Duration::from_millis(1)).await.unwrap_err();
    assert!(matches!(full, Error::QueueFull { waiting: 6, limit: 10 }), "{full}");
}

#[tokio::test]
async fn shutdown_fails_uploads_that_wait_for_space() {
    let folder = TempDir::new().unwrap();
    let log = Arc::new(Log::open(folder.path(), 10).unwrap());
    log.append(chunk(&["larger than the whole queue"])).await.unwrap();
    let waiting = tokio::spawn({
        let log = log.clone();
        async move {
            let upload = log.upload(None).await.unwrap();
            upload.finish(chunk(&["waits"]), Duration::from_secs(3600)).await
        }
    });
    tokio::task::yield_now().await;
    log.lifecycle().stop();
    assert!(matches!(waiting.await.unwrap(), Err(Error::Stopping)));
}

#[tokio::test]
async fn times_of_lines_count_in_the_queue() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), 100).unwrap();
    let mut blank = Chunk::default();
    (0..5).for_each(|_| blank.push(b"", Timestamp::from_second(1).ok()));
    log.append(blank.clone()).await.unwrap();
    assert_eq!((log.waiting_bytes(), log.kept_bytes()), (85, 85));
    assert!(matches!(log.append(blank.clone()).await, Err(Error::QueueFull { waiting: 85, limit: 100 })));
    drop(log);
    let log = Log::open(folder.path(), 100).unwrap();
    assert_eq!(log.waiting_bytes(), 85);
    assert_eq!(read(&log, 1).len(), 5);
    assert_eq!(log.waiting_bytes(), 0);
    log.forget(5);
    wait_until(|| log.kept_bytes() == 0);
}

#[tokio::test]
async fn learned_text_is_bounded_while_checkpoints_fail() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), 10).unwrap();
    log.append(chunk(&["larger than the whole queue"])).await.unwrap();
    assert_eq!(read(&log, 1).len(), 1);
    log.note_saving(false);
    assert!(matches!(log.append(chunk(&["x"])).await, Err(Error::DiskFull)));
    log.note_saving(true);
    log.append(chunk(&["x"])).await.unwrap();
}

#[test]
fn the_key_of_a_long_upload_outlives_newer_ones() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.sqlite");
    let store = Store::open(&path, None).unwrap();
    let (long, now) = (key("long").unwrap(), Timestamp::now());
    let send = |lines| {
        let update = KeyUpdate { key: long.clone(), lines, hash: [0; 32], complete: false };
        store.transaction(|store| store.set_key(&update, Some((lines, lines)), now)).unwrap();
    };
    let others = |prefix: &str| {
        let sql = format!(
            "WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 60000)
             INSERT INTO keys (key, first, last, lines, hash, complete, time)
                 SELECT '{prefix}' || n, 1, 1, 1, zeroblob(32), 1, {} FROM number",
            now.as_microsecond()
        );
        rusqlite::Connection::open(&path).unwrap().execute_batch(&sql).unwrap();
    };
    send(1);
    others("a");
    send(2);
    others("b");
    store.forget_keys(now).unwrap();
    let earlier = store.key(&long).unwrap().expect("it is among the newest");
    assert_eq!((earlier.first, earlier.last, earlier.lines), (1, 2, 2));
    assert!(store.key(&key("a1").unwrap()).unwrap().is_none());
}

#[tokio::test]
async fn numbers_go_on_after_everything_was_forgotten() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    log.append(chunk(&["one", "two"])).await.unwrap();
    log.append(chunk(&["three", "four"])).await.unwrap();
    log.forget(3);
    wait_until(|| log.kept_bytes() == 11);
    let message = log.reader(1).unwrap().read().unwrap_err().to_string();
    assert!(message.ends_with("log.sqlite: line 1 is missing; the first line is 3"), "{message}");
    assert_eq!(read(&log, 3), numbered(&["three", "four"], 3));
    log.forget(4);
    wait_until(|| log.kept_bytes() == 0);
    drop(log);
    let log = Log::open(folder.path(), QUEUE).unwrap();
    assert_eq!((log.last(), log.waiting_lines(), log.waiting_bytes()), (4, 0, 0));
    assert_eq!(log.append(chunk(&["five"])).await.unwrap(), 5..=5);
    assert_eq!(read(&log, 5), numbered(&["five"], 5));
}

#[tokio::test]
async fn the_file_does_not_stay_large_when_lines_are_forgotten() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), 1 << 30).unwrap();
    let line = "x".repeat(1 << 20);
    for _ in 0..100 {
        log.append(chunk(&[&line])).await.unwrap();
    }
    log.forget(100);
    let store = Store::connect(&log.files).unwrap();
    wait_until(|| log.kept_bytes() == 0 && store.number("freelist_count") * (8 << 10) <= 32 << 20);
    assert!(store.number("page_count") * (8 << 10) < 40 << 20);
    drop(store);
    // While the log is in use, and after it was closed.
    let size = || -> u64 {
        fs::read_dir(folder.path()).unwrap().map(|file| file.unwrap().metadata().unwrap().len()).sum()
    };
    wait_until(|| size() < 40 << 20);
    log.append(chunk(&["more"])).await.unwrap();
    assert_eq!(read(&log, 101), numbered(&["more"], 101));
    drop(log);
    assert!(size() < 40 << 20, "{} bytes are left", size());
}

#[tokio::test]
async fn a_retry_is_logged_once() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let patience = Duration::ZERO;
    let mut upload = log.upload(key("a")).await.unwrap();
    upload.append(chunk(&["one", "two"]), patience).await.unwrap();
    log.append(chunk(&["another's"])).await.unwrap();
    assert_eq!(upload.accepted(), Some(Accepted { first: 1, last: 2, lines: 2 }));
    // The connection broke here.
    drop(upload);
    drop(log);
    let log = Log::open(folder.path(), QUEUE).unwrap();
    for again in 0..2 {
        // In other pieces than the first time.
        let mut upload = log.upload(key("a")).await.unwrap();
        upload.append(chunk(&["one"]), patience).await.unwrap();
        assert_eq!(upload.accepted(), None);
        upload.append(chunk(&["two", "three"]), patience).await.unwrap();
        let accepted = upload.finish(Chunk::default(), patience).await.unwrap();
        assert_eq!(accepted, Some(Accepted { first: 1, last: 4, lines: 3 }), "{again}");
    }
    assert_eq!(read(&log, 1), numbered(&["one", "two", "another's", "three"], 1));
}

#[tokio::test]
async fn other_lines_under_the_same_key_are_a_conflict_and_change_nothing() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let time = Timestamp::from_second(9).ok();
    let upload = log.upload(key("a")).await.unwrap();
    upload.finish(chunk(&["one", "", "two"]), Duration::ZERO).await.unwrap();
    let mut with_time = chunk(&["one", ""]);
    with_time.push(b"two", time);
    for other in
        [chunk(&["one", "", "TWO"]), chunk(&["one", ""]), chunk(&["one", "", "two", "three"]), with_time]
    {
        let upload = log.upload(key("a")).await.unwrap();
        let conflict = upload.finish(other, Duration::ZERO).await.unwrap_err();
        assert_eq!(conflict.to_string(), "the idempotency key `a` was used before with different lines");
    }
    assert_eq!(log.last(), 3);
}

#[tokio::test]
async fn a_key_that_is_in_use_is_refused() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let first = log.upload(key("a")).await.unwrap();
    let refused = log.upload(key("a")).await.unwrap_err();
    assert_eq!(refused.to_string(), "another request with the idempotency key `a` is in progress");
    log.upload(key("b")).await.unwrap();
    drop(first);
    log.upload(key("a")).await.unwrap();
}

#[tokio::test]
async fn a_retry_sees_lines_that_were_still_being_written() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    for attempt in 0..50 {
        let name = format!("key {attempt}").replace(' ', "-");
        let mut upload = log.upload(key(&name)).await.unwrap();
        {
            // Polled once: handed over, and nobody waits for the answer.
            let mut append = Box::pin(upload.append(chunk(&["one"]), Duration::ZERO));
            let mut context = std::task::Context::from_waker(std::task::Waker::noop());
            let _ = append.as_mut().poll(&mut context);
        }
        drop(upload);
        let upload = log.upload(key(&name)).await.unwrap();
        let accepted = upload.finish(chunk(&["one", "two"]), Duration::ZERO).await.unwrap().unwrap();
        assert_eq!((accepted.lines, accepted.last), (2, 2 * (attempt + 1)));
    }
    assert_eq!(log.last(), 100);
}

#[test]
fn keys_are_visible_and_short() {
    assert_eq!(IdempotencyKey::new("3f-9").unwrap().as_str(), "3f-9");
    for bad in ["", " ", "a b", "é", "a\n", &"x".repeat(256)] {
        assert!(IdempotencyKey::new(bad).is_none(), "{bad}");
    }
}

#[test]
fn a_full_disk_refuses_whole_groups_and_works_again_when_there_is_room() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.sqlite");
    let store = Store::open(&path, None).unwrap();
    let small = chunk(&["small"]);
    let large = chunk(&[&"x".repeat(1 << 20)]);
    let append = |chunk: &Chunk| store.transaction(|store| store.append(chunk, Timestamp::now()));
    assert_eq!(append(&small).unwrap(), (1, 1));
    store.limit_pages(store.number("page_count") + 10);
    let together = store.transaction(|store| {
        store.append(&small, Timestamp::now())?;
        store.append(&large, Timestamp::now())
    });
    assert!(matches!(together, Err(Error::DiskFull)), "{together:?}");
    assert!(matches!(append(&large), Err(Error::DiskFull)));
    assert_eq!(append(&small).unwrap(), (2, 2), "nothing of what was refused is there");
    store.limit_pages(1_000_000);
    assert_eq!(append(&large).unwrap(), (3, 3));
}

#[tokio::test]
async fn a_probe_finds_out_that_the_log_can_be_written_again() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    log.lifecycle().set_problem(Task::Log, Some("the disk is full".to_owned()));
    log.probe();
    while log.lifecycle().problem().is_some() {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    assert_eq!(log.append(chunk(&["one"])).await.unwrap(), 1..=1, "a probe is not a line");
}

/// Mounts a file system, which requires root: `cargo test -p skipstream-server -- --ignored real_full_disk`.
#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "mounts a file system, by name"]
async fn a_real_full_disk_refuses_lines_and_works_again_when_there_is_room() {
    use std::process::Command;
    let folder = TempDir::new().unwrap();
    let mount =
        Command::new("mount").args(["-t", "tmpfs", "-o", "size=8m", "tmpfs"]).arg(folder.path()).status();
    if !mount.is_ok_and(|status| status.success()) {
        eprintln!("SKIPPED: a file system can be mounted only by root");
        return;
    }
    struct Mounted<'a>(&'a Path);
    impl Drop for Mounted<'_> {
        fn drop(&mut self) {
            let _ = Command::new("umount").arg(self.0).status();
        }
    }
    let mounted = Mounted(folder.path());
    let data = mounted.0.join("data");
    let log = Log::open(&data, 1 << 30).unwrap();
    let line = "x".repeat(100 << 10);
    let mut accepted = 0;
    let refused = loop {
        match log.append(chunk(&[&line])).await {
            Ok(numbers) => accepted = *numbers.end(),
            Err(error) => break error,
        }
    };
    assert!(matches!(refused, Error::DiskFull), "{refused:?}");
    assert!(accepted > 10, "{accepted} lines");
    let refused = log.append(chunk(&[&line])).await.unwrap_err();
    assert!(matches!(refused, Error::DiskFull), "{refused:?}");
    assert_eq!(read(&log, 1).len() as u64, accepted);
    // Not one byte is left.
    let mut rest = fs::File::create(mounted.0.join("rest")).unwrap();
    while std::io::Write::write(&mut rest, &[0; 1 << 10]).is_ok() {}
    drop(log);
    let log = Log::open(&data, 1 << 30).unwrap();
    assert_eq!(read(&log, 1).len() as u64, accepted);
    let remount = Command::new("mount").args(["-o", "remount,size=64m"]).arg(mounted.0).status().unwrap();
    assert!(remount.success());
    assert_eq!(log.append(chunk(&[&line])).await.unwrap(), accepted + 1..=accepted + 1);
    drop(log);
    let log = Log::open(&data, 1 << 30).unwrap();
    assert_eq!(read(&log, 1).len() as u64, accepted + 1);
    drop(log);
    // The disk became full while nobody served the folder.
    while std::io::Write::write(&mut rest, &[0; 1 << 10]).is_ok() {}
    for _ in 0..2 {
        let log = Log::open(&data, 1 << 30).unwrap();
        assert_eq!(read(&log, 1).len() as u64, accepted + 1);
    }
}

#[test]
fn the_folder_has_one_owner() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let message = Log::open(folder.path(), QUEUE).unwrap_err().to_string();
    assert_eq!(message, format!("{}: another process is using this folder", folder.path().display()));
    drop(log);
    Log::open(folder.path(), QUEUE).unwrap();
}

#[test]
fn a_foreign_file_is_named_and_left_alone() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("log.sqlite");
    let text = "this is not a database, though it is long enough to be taken for one".repeat(200);
    fs::write(&path, &text).unwrap();
    let message = Log::open(folder.path(), QUEUE).unwrap_err().to_string();
    assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
    assert!(message.contains("not a database"), "{message}");
    assert_eq!(fs::read_to_string(&path).unwrap(), text);

    fs::remove_file(&path).unwrap();
    rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
    let message = Log::open(folder.path(), QUEUE).unwrap_err().to_string();
    assert!(message.ends_with("log.sqlite: the database belongs to another program"), "{message}");
}

#[tokio::test]
async fn lines_that_were_damaged_on_disk_are_not_learned() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    log.append(chunk(&["one", "two"])).await.unwrap();
    drop(log);
    let connection = rusqlite::Connection::open(folder.path().join("log.sqlite")).unwrap();
    connection.execute("UPDATE chunks SET text = CAST('one\ntwO\n' AS BLOB)", []).unwrap();
    drop(connection);
    let log = Log::open(folder.path(), QUEUE).unwrap();
    let message = log.reader(1).unwrap().read().unwrap_err().to_string();
    assert!(message.ends_with("log.sqlite: the lines from number 1 are corrupt"), "{message}");
}

#[test]
fn a_log_of_a_later_version_is_refused() {
    let folder = TempDir::new().unwrap();
    drop(Log::open(folder.path(), QUEUE).unwrap());
    let connection = rusqlite::Connection::open(folder.path().join("log.sqlite")).unwrap();
    connection.pragma_update(None, "user_version", 6).unwrap();
    drop(connection);
    let message = Log::open(folder.path(), QUEUE).unwrap_err().to_string();
    assert!(message.ends_with("the log has version 6; this program reads version 5"), "{message}");
}

/// Copies the files of a log, as a crash would leave them.
fn copy_log(from: &Path, to: &Path) {
    // The file of changes first: what is moved into the other one meanwhile is in both.
    for name in [MARK, "log.sqlite-wal", "log.sqlite"] {
        if from.join(name).exists() {
            fs::copy(from.join(name), to.join(name)).unwrap();
        }
    }
}

#[tokio::test]
async fn a_damaged_write_ahead_log_is_refused_and_no_number_is_given_out_again() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    for line in ["one", "two", "three"] {
        log.append(chunk(&[line])).await.unwrap();
    }
    let crash = || {
        let copy = TempDir::new().unwrap();
        copy_log(folder.path(), copy.path());
        copy
    };
    let wal = fs::read(folder.path().join("log.sqlite-wal")).unwrap();
    let intact = crash();
    assert_eq!(read(&Log::open(intact.path(), QUEUE).unwrap(), 1), numbered(&["one", "two", "three"], 1));
    let mut refused = 0;
    for at in (0..wal.len()).step_by(1_009) {
        let crashed = crash();
        let mut damaged = wal.clone();
        damaged[at] ^= 1 << (at % 8);
        fs::write(crashed.path().join("log.sqlite-wal"), &damaged).unwrap();
        for _ in 0..2 {
            let Err(error) = Log::open(crashed.path(), QUEUE) else { panic!("byte {at}: it was opened") };
            let message = error.to_string();
            assert!(message.contains("acknowledged text is lost: line"), "byte {at}: {message}");
            assert!(message.contains("--accept-loss 3 "), "byte {at}: {message}");
        }
        assert_eq!(
            fs::read(crashed.path().join("log.sqlite-wal")).unwrap(),
            damaged,
            "the trace is left alone"
        );
        let accepting = |line| Log::open_accepting(crashed.path(), QUEUE, Some(line));
        assert!(accepting(2).is_err(), "byte {at}: another number was accepted");
        let log = accepting(3).unwrap();
        assert_eq!(log.append(chunk(&["four"])).await.unwrap(), 4..=4, "byte {at}");
        for ((found, line), sent) in read(&log, 1).into_iter().zip(1..).zip(["one", "two", "three", "four"]) {
            assert!(found == (line, sent.to_owned()) || (line < 4 && found == (line, String::new())));
        }
        refused += 1;
    }
    assert!(refused > 50, "{refused}");
}

#[test]
fn lost_controls_do_not_give_their_number_to_others() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join(FILE);
    let store = Store::open(&path, None).unwrap();
    let pinned = [Control::Pin { word: "tea".to_owned() }];
    let control = |store: &Store| store.transaction(|store| store.append_controls(&pinned)).unwrap();
    let (last, _) = control(&store);
    let crashed = TempDir::new().unwrap();
    copy_log(folder.path(), crashed.path());
    // Nothing is left of the transactions.
    fs::write(crashed.path().join("log.sqlite-wal"), []).unwrap();
    let error = Log::open(crashed.path(), QUEUE).unwrap_err().to_string();
    assert!(error.contains("lost: no line, but keys"), "{error}");
    let store = Store::open(&crashed.path().join(FILE), Some(0)).unwrap();
    assert_eq!(control(&store), (last + 1, 0));
}

#[tokio::test]
async fn an_older_mark_is_true_and_a_damaged_one_is_replaced() {
    let folder = TempDir::new().unwrap();
    let mark = folder.path().join(MARK);
    let mut older = Vec::new();
    for line in 1..=3 {
        let log = Log::open(folder.path(), QUEUE).unwrap();
        assert_eq!(log.append(chunk(&["line"])).await.unwrap(), line..=line);
        drop(log);
        match line {
            1 => older = fs::read(&mark).unwrap(),
            2 => fs::write(&mark, &older).unwrap(),
            _ => fs::write(&mark, b"damaged").unwrap(),
        }
    }
    let log = Log::open(folder.path(), QUEUE).unwrap();
    assert_eq!(log.append(chunk(&["line"])).await.unwrap(), 4..=4);
    assert_eq!(fs::read(&mark).unwrap().len(), older.len());
}

#[cfg(unix)]
#[tokio::test]
async fn the_index_of_the_write_ahead_log_is_not_a_file_that_could_be_emptied() {
    let folder = TempDir::new().unwrap();
    let log = Log::open(folder.path(), QUEUE).unwrap();
    log.append(chunk(&["one"])).await.unwrap();
    assert_eq!(read(&log, 1), numbered(&["one"], 1));
    assert!(!folder.path().join("log.sqlite-shm").exists());
}

/// Something that may happen to a log.
#[derive(Clone, Debug)]
enum Act {
    Append(Vec<String>),
    /// A share of the log, in percent.
    Forget(u64),
    Reopen,
    /// What was on disk at this moment is all that is left, as after a power cut.
    Crash,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let lines = prop::collection::vec("[a-c ]{0,8}", 1..5);
    let act = prop_oneof![
        6 => lines.prop_map(Act::Append),
        2 => (0u64..=100).prop_map(Act::Forget),
        1 => Just(Act::Reopen),
        1 => Just(Act::Crash),
    ];
    prop::collection::vec(act, 1..20)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn what_was_accepted_is_there_until_it_is_forgotten(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let folder = TempDir::new().unwrap();
        let mut data = folder.path().join("0");
        let mut log = Log::open(&data, QUEUE).unwrap();
        let mut lines: Vec<String> = Vec::new();
        let mut forgotten = 0;
        for (step, act) in acts.into_iter().enumerate() {
            match act {
                Act::Append(new) => {
                    let texts: Vec<&str> = new.iter().map(String::as_str).collect();
                    let numbers = runtime.block_on(log.append(chunk(&texts))).unwrap();
                    prop_assert_eq!(numbers.clone().count(), new.len());
                    prop_assert_eq!(*numbers.start(), lines.len() as u64 + 1);
                    lines.extend(new);
                }
                Act::Forget(hundredths) => {
                    forgotten = forgotten.max(lines.len() as u64 * hundredths / 100);
                    log.forget(forgotten);
                }
                Act::Reopen => {
                    drop(log);
                    log = Log::open(&data, QUEUE).unwrap();
                }
                Act::Crash => {
                    let copy = folder.path().join(format!("{}", step + 1));
                    fs::create_dir(&copy).unwrap();
                    copy_log(&data, &copy);
                    drop(log);
                    data = copy;
                    log = Log::open(&data, QUEUE).unwrap();
                }
            }
            let expected: Vec<(Seq, String)> = (1..).zip(lines.iter().cloned()).skip(forgotten as usize).collect();
            prop_assert_eq!(log.last(), lines.len() as u64);
            prop_assert_eq!(read(&log, forgotten + 1), expected);
        }
    }
}

#[tokio::test]
async fn the_last_line_number_of_all_is_refused_and_loses_nothing() {
    let folder = TempDir::new().unwrap();
    drop(Log::open(folder.path(), QUEUE).unwrap());
    let near = i64::MAX as Seq - 2;
    let database = rusqlite::Connection::open(folder.path().join("log.sqlite")).unwrap();
    database.execute("UPDATE counter SET next = ?1", [near]).unwrap();
    drop(database);
    let log = Log::open(folder.path(), QUEUE).unwrap();
    assert_eq!(log.append(chunk(&["one", "two"])).await.unwrap(), near..=near + 1);
    let error = log.append(chunk(&["three"])).await.unwrap_err();
    assert!(matches!(error, Error::NotReady(_)), "{error:?}");
    assert_eq!(log.last(), near + 1);
    drop(log);
    let log = Log::open(folder.path(), QUEUE).unwrap();
    assert_eq!(read(&log, near), numbered(&["one", "two"], near));
}
