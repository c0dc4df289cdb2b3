//! A whole service on a real port.

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::thread;
use std::time::Instant;

use serde_json::Value;
use skipstream::train::{Initial, InitialSource};
use skipstream::{Embeddings, MiniBatchOptions, Strategy, Vectors};
use tempfile::TempDir;

use super::*;
use crate::lifecycle::{LEARNER, LOG, Task};

/// Timeout of a test that would hang.
const PATIENCE: Duration = Duration::from_secs(60);

/// A running service in a folder of its own.
struct Running {
    folder: Arc<TempDir>,
    service: Arc<Service>,
    address: SocketAddr,
    end: Option<JoinHandle<Result<()>>>,
}

/// A response.
#[derive(Debug)]
struct Answer {
    status: u16,
    headers: String,
    body: String,
}

/// A small model with small batches.
fn config() -> Config {
    let options = MiniBatchOptions { batch_words: 40, replay_words: 200, ..MiniBatchOptions::default() };
    let strategy = Strategy::MiniBatch(options);
    Config { dimensions: 4, max_vocabulary: 100, threads: Some(1), strategy, ..Config::default() }
}

fn start() -> Running {
    start_with(|_| {})
}

fn start_with(change: impl FnOnce(&mut ServeSettings)) -> Running {
    let folder = Arc::new(TempDir::new().unwrap());
    let mut settings = ServeSettings {
        data: folder.path().join("data"),
        listen: "127.0.0.1:0".parse().unwrap(),
        publish_every: Duration::from_millis(1),
        ..ServeSettings::default()
    };
    change(&mut settings);
    let server = Server::open(settings, Some(1), &|| Ok(config()), &|_| Ok(())).unwrap();
    let (service, address) = (server.service.clone(), server.address().unwrap());
    let end = Some(thread::spawn(move || server.run()));
    Running { folder, service, address, end }
}

impl Running {
    /// Sends a request on a connection of its own.
    fn send(&self, method: &str, path: &str, body: &str) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let length = body.len();
        let head = format!("{method} {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n");
        stream.write_all((head + body).as_bytes()).unwrap();
        answer(&mut stream)
    }

    fn get(&self, path: &str) -> Answer {
        self.send("GET", path, "")
    }

    /// Learns text, so that there are words to ask for.
    fn learn(&self) {
        let answer = self.send("POST", "/v1/text?wait=learned", "tea with milk\ncoffee with milk\n");
        assert_eq!(answer.status, 200, "{answer:?}");
    }

    /// Waits until the service is not ready, and returns the reason.
    fn reason(&self) -> String {
        let start = Instant::now();
        loop {
            let answer = self.get("/readyz");
            if answer.status != 200 {
                let body: Value = serde_json::from_str(&answer.body).unwrap();
                return body["error"]["message"].as_str().unwrap().to_owned();
            }
            assert!(start.elapsed() < PATIENCE, "it stays ready");
            thread::sleep(Duration::from_millis(10));
        }
    }

    /// Stops, and returns how it ended.
    fn stop(mut self) -> Result<()> {
        self.end_of_run()
    }

    fn end_of_run(&mut self) -> Result<()> {
        self.service.stop();
        self.end.take().unwrap().join().unwrap()
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.service.stop();
        if let Some(end) = self.end.take() {
            let _ = end.join();
        }
    }
}

/// Reads a response with a length.
fn answer(stream: &mut TcpStream) -> Answer {
    let mut bytes = Vec::new();
    loop {
        let mut piece = [0; 4_096];
        let n = stream.read(&mut piece).unwrap();
        assert!(n > 0, "closed after {:?}", String::from_utf8_lossy(&bytes));
        bytes.extend_from_slice(&piece[..n]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((headers, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
        if body.len() == length.parse::<usize>().unwrap() {
            let status = headers[9..12].parse().unwrap();
            return Answer { status, headers: headers.to_owned(), body: body.to_owned() };
        }
    }
}

/// Several batches.
fn text() -> String {
    (0..200).map(|n| format!("w{} w{} w{}\n", n % 7, n % 5, n % 3)).collect()
}

const QUESTION: &str = "/v1/similarity?a=tea&b=milk";

#[test]
fn a_service_that_drains_is_not_ready_refuses_text_and_answers_questions() {
    let running = start();
    running.learn();
    let mut kept = TcpStream::connect(running.address).unwrap();
    let request = format!("GET {QUESTION} HTTP/1.1\r\nHost: localhost\r\n\r\n");
    kept.write_all(request.as_bytes()).unwrap();
    assert!(!answer(&mut kept).headers.contains("connection: close"));
    running.service.drain();

    let ready = running.get("/readyz");
    assert_eq!(ready.status, 503);
    assert!(ready.body.contains("the service is stopping"), "{ready:?}");
    let text = running.send("POST", "/v1/text", "more\n");
    assert_eq!(text.status, 503);
    assert!(text.body.contains("\"stopping\""), "{text:?}");
    assert_eq!(running.get("/healthz").status, 200);
    // An existing connection and a new one are both answered with `Connection: close`.
    kept.write_all(request.as_bytes()).unwrap();
    for answer in [answer(&mut kept), running.get(QUESTION)] {
        assert_eq!(answer.status, 200, "{answer:?}");
        assert!(answer.headers.contains("connection: close"), "{answer:?}");
    }
    assert_eq!(kept.read(&mut [0; 9]).unwrap(), 0, "it was closed");

    let address = running.address;
    running.stop().unwrap();
    assert!(TcpStream::connect(address).is_err(), "the port is closed");
}

#[test]
fn an_upload_in_progress_may_finish_while_the_service_drains() {
    let running = start();
    let mut upload = TcpStream::connect(running.address).unwrap();
    upload.write_all(b"POST /v1/text HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\none\n").unwrap();
    let start = Instant::now();
    while running.service.log.last() == 0 {
        assert!(start.elapsed() < PATIENCE);
        thread::yield_now();
    }
    running.service.drain();
    upload.write_all(b"two\n").unwrap();
    let answer = answer(&mut upload);
    assert_eq!(answer.status, 200, "{answer:?}");
    running.stop().unwrap();
}

#[tokio::test]
async fn draining_ends_after_its_time_or_when_the_service_is_stopped() {
    let lifecycle = Lifecycle::default();
    drain_and_stop(&lifecycle, Duration::from_millis(1)).await;
    assert!(lifecycle.is_stopping());
    let lifecycle = Lifecycle::default();
    let stop = async {
        lifecycle.draining().await;
        assert!(!lifecycle.is_stopping());
        lifecycle.stop();
    };
    let never = Duration::from_secs(3_600);
    let drained = async { tokio::join!(drain_and_stop(&lifecycle, never), stop) };
    timeout(PATIENCE, drained).await.expect("a stop ends it");
}

#[test]
fn the_death_of_each_thread_is_visible_and_questions_are_answered() {
    let exec = "sleep 1000".to_owned();
    let threads = [LOG, LEARNER, "monitor", "follow-1", "exec-1"];
    for name in threads {
        let running = start_with(|settings| {
            let followed = settings.data.with_file_name("followed.txt");
            fs::write(&followed, "").unwrap();
            settings.follow = vec![followed];
            settings.exec = vec![exec.clone()];
        });
        running.learn();
        assert_eq!(running.get("/readyz").status, 200);
        let metrics = running.get("/metrics").body;
        for thread in threads {
            assert!(metrics.contains(&format!("thread_up{{thread=\"{thread}\"}} 1\n")), "{metrics}");
        }
        running.service.lifecycle.kill(name);
        // The two that wait for text look when there is some.
        let _ = running.send("POST", "/v1/text", "wake up\n");
        running.service.log.news().notify_one();
        let reason = running.reason();
        assert!(reason.starts_with(&format!("the thread `{name}` has ended")), "{reason}");
        let metrics = running.get("/metrics").body;
        assert!(metrics.contains(&format!("thread_up{{thread=\"{name}\"}} 0\n")), "{metrics}");
        assert!(metrics.contains("skipstream_problem 1"), "{metrics}");
        assert_eq!(running.get(QUESTION).status, 200, "{name}");
        assert_eq!(running.get("/healthz").status, 200);
        let text = running.send("POST", "/v1/text?wait=learned", "more text\n");
        let is_needed = [LOG, LEARNER].contains(&name);
        assert_eq!(text.status, if is_needed { 503 } else { 200 }, "{name}: {text:?}");
        let checkpoint = running.send("POST", "/v1/checkpoint", "");
        assert_eq!(checkpoint.status, if name == LEARNER { 503 } else { 200 }, "{name}: {checkpoint:?}");
        assert_eq!(running.stop().is_err(), name == LEARNER, "{name}");
    }
}

/// Checks that a service with a damaged log says so, refuses text and answers questions.
fn assert_damaged(running: &Running, reason: &str) {
    let text = running.send("POST", "/v1/text", "more text\n");
    assert_eq!(text.status, 503, "{text:?}");
    let told = running.reason();
    assert!(told.contains(reason), "{told}");
    assert!(!told.contains(running.folder.path().to_str().unwrap()), "{told}");
    assert_eq!(running.get(QUESTION).status, 200);
    assert_eq!(running.send("POST", "/v1/text", "more text\n").status, 503);
    let threads = running.service.lifecycle.list_threads();
    assert!(threads.iter().all(|(_, runs)| *runs), "{threads:?}");
}

#[cfg(unix)]
#[test]
fn a_log_that_is_damaged_while_in_use_is_noticed_and_nothing_panics() {
    type Damage = fn(&Path);
    let cases: [(&str, &str, Damage); 6] = [
        ("log.sqlite", "overwritten", |file| overwrite(file, 0)),
        ("log.sqlite", "overwritten", |file| drop(fs::File::create(file).unwrap())),
        ("log.sqlite", "deleted or replaced", |file| fs::remove_file(file).unwrap()),
        ("log.sqlite-wal", "overwritten", |file| overwrite(file, 0)),
        ("log.sqlite-wal", "deleted or replaced", |file| fs::remove_file(file).unwrap()),
        ("log.sqlite-wal", "overwritten", |file| drop(fs::File::create(file).unwrap())),
    ];
    for (name, reason, damage) in cases {
        let running = start();
        running.learn();
        damage(&running.service.settings.data.join(name));
        assert_damaged(&running, reason);
    }
}

/// Fills a file with other bytes from an offset on.
fn overwrite(file: &Path, from: u64) {
    use std::io::{Seek, SeekFrom};
    let length = fs::metadata(file).unwrap().len();
    let mut file = fs::OpenOptions::new().write(true).open(file).unwrap();
    file.seek(SeekFrom::Start(from)).unwrap();
    file.write_all(&vec![0xA5; (length - from) as usize]).unwrap();
}

#[test]
fn a_wrong_number_of_lines_is_damage_and_not_a_panic() {
    let running = start();
    running.learn();
    let connection = rusqlite::Connection::open(running.service.settings.data.join("log.sqlite")).unwrap();
    connection.execute("UPDATE chunks SET lines = lines + 7", []).unwrap();
    drop(connection);
    let message = running.service.log.reader(2).unwrap().read().unwrap_err().to_string();
    assert!(message.contains("the lines from number 1 are corrupt"), "{message}");
}

#[test]
fn a_model_that_diverges_is_reported_and_the_last_good_version_answers() {
    // Vectors that are far too long. Training has no infinite steps, but their distance from the mean is infinite.
    let low = ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8", "n9"];
    let words = low.into_iter().map(|word| (word, 2)).chain([("boom", 1)]);
    let values = [vec![-3.4e38; 4 * low.len()], vec![3.4e38; 4]].concat();
    let vectors = Embeddings::new(4, words, values).unwrap();
    let source = InitialSource { file: "v.txt".to_owned(), fingerprint: "0".repeat(64) };
    let mut running = start_with(|settings| {
        settings.vectors = Vectors::Joined;
        fs::create_dir(&settings.data).unwrap();
        let initial = Initial { vectors, source };
        Trainer::starting_from(config(), initial).unwrap().save(Model::path(&settings.data)).unwrap();
    });
    running.learn();
    assert_eq!(running.get(QUESTION).status, 200);
    let before = running.service.published();
    let _ = running.send("POST", "/v1/text", &format!("{} boom\n", low.join(" ")));
    let reason = running.reason();
    assert!(reason.starts_with("the model has diverged"), "{reason}");
    let refused = running.send("POST", "/v1/text", "more text\n");
    assert_eq!(refused.status, 503, "it would never be learned: {refused:?}");
    assert!(refused.body.contains("the model has diverged"), "{refused:?}");
    assert_eq!(running.send("POST", "/v1/checkpoint", "").status, 503);
    let now = running.service.published();
    assert!(Arc::ptr_eq(&before, &now), "the last good version is still there");
    assert_eq!(running.get(QUESTION).status, 200);
    let data = running.service.settings.data.clone();
    let end = running.end_of_run();
    assert!(end.is_err(), "it is not saved");
    drop((before, now));
    Trainer::load(Model::path(&data), None).expect("the model on disk is a good one");
}

#[test]
fn the_time_of_a_checkpoint_is_when_it_was_saved() {
    let mut running = start();
    running.learn();
    assert_eq!(running.send("POST", "/v1/text?wait=learned", &text()).status, 200);
    let saved = running.send("POST", "/v1/checkpoint", "").body;
    let saved: Value = serde_json::from_str(&saved).unwrap();
    running.end_of_run().unwrap();
    let settings = running.service.settings.clone();
    let _folder = running.folder.clone();
    drop(running);
    // As long ago as the file says, and not when the service was started again.
    let then = std::time::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    fs::File::open(Model::path(&settings.data)).unwrap().set_modified(then).unwrap();
    let server = Server::open(settings, Some(1), &|| unreachable!(), &|_| Ok(())).unwrap();
    let checkpoint = server.service.status.load().checkpoint.unwrap();
    server.service.stop();
    server.run().unwrap();
    assert_eq!(saved["seq"], checkpoint.seq);
    assert_eq!(checkpoint.time.as_second(), 1_000_000_000);
}

#[test]
fn a_problem_is_shown_to_readers_without_paths() {
    let running = start();
    running.learn();
    fs::create_dir(running.service.settings.data.join(".model.safetensors.partial")).unwrap();
    assert_eq!(running.send("POST", "/v1/text?wait=learned", &text()).status, 200);
    assert_eq!(running.send("POST", "/v1/checkpoint", "").status, 500);
    let reason = running.reason();
    assert!(reason.contains("could not save the model"), "{reason}");
    let folder = running.folder.path().to_str().unwrap();
    for path in ["/readyz", "/v1/stats", "/v1/stats/history", "/v1/settings", "/metrics", "/v1/snapshots"] {
        let answer = running.get(path);
        assert!(!answer.body.contains(folder), "{path}: {answer:?}");
        assert!(!answer.body.contains("safetensors"), "{path}: {answer:?}");
    }
    running.service.lifecycle.set_problem(Task::Save, None);
    assert_eq!(running.get("/readyz").status, 200);
}

#[test]
fn a_service_with_the_least_and_the_greatest_settings_answers() {
    for end in [0, 1] {
        let extreme = ServeSettings::at_end(end);
        let running = start_with(|settings| {
            let ServeSettings { data, listen, .. } = settings.clone();
            *settings = ServeSettings { data, listen, ..extreme };
        });
        let stats = running.get("/healthz");
        // A request may take at most the least timeout.
        assert!([200, 408].contains(&stats.status), "{stats:?}");
        assert!(running.service.memory_bound > 100 << 20);
        running.stop().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn nobody_else_can_read_the_data() {
    use std::os::unix::fs::PermissionsExt;
    fn check(path: &Path) -> usize {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
        let children = if path.is_dir() { fs::read_dir(path).unwrap().collect() } else { Vec::new() };
        1 + children.into_iter().map(|child| check(&child.unwrap().path())).sum::<usize>()
    }
    let running = start();
    running.learn();
    assert_eq!(running.send("POST", "/v1/checkpoint", "").status, 200);
    assert!(check(&running.service.settings.data) > 5);
}

#[test]
fn a_log_that_was_lost_is_refused_until_the_loss_is_accepted() {
    let running = start();
    running.learn();
    let (folder, data) = (running.folder.clone(), running.service.settings.data.clone());
    running.stop().unwrap();
    fs::remove_file(data.join("log.sqlite")).unwrap();
    let open = |accept_loss| {
        let listen = "127.0.0.1:0".parse().unwrap();
        let settings = ServeSettings { data: data.clone(), listen, accept_loss, ..ServeSettings::default() };
        Server::open(settings, Some(1), &|| Ok(config()), &|_| Ok(()))
    };
    for wrong in [None, Some(1)] {
        let error = open(wrong).map(drop).unwrap_err().to_string();
        assert!(error.contains("acknowledged text is lost: lines 1 to 2; "), "{error}");
        assert!(error.contains("--accept-loss 2 "), "{error}");
    }
    let server = open(Some(2)).unwrap();
    assert_eq!(server.service.log.last(), 2);
    server.service.stop();
    server.run().unwrap();
    drop(folder);
}
