use tempfile::TempDir;

use super::*;
use crate::change::testing::{of_embeddings, published_at, two_heaps};
use crate::events::{Listener, Received};
use crate::log::Log;
use crate::settings::ServeSettings;
use crate::turns::testing::client;

fn time(minute: i64) -> Timestamp {
    Timestamp::from_second(1_000_000 + minute * 60).unwrap()
}

fn service(folder: &TempDir, first: Published, watch: &[&str]) -> Arc<Service> {
    let settings = ServeSettings {
        data: folder.path().to_owned(),
        snapshot_every: Duration::from_secs(3_600),
        keep_recent: 2,
        keep_days: 0,
        watch: watch.iter().map(|&word| word.to_owned()).collect(),
        ..ServeSettings::default()
    };
    let log = Log::open(folder.path(), settings.queue_size).unwrap();
    Service::new(settings, log, first, skipstream::Config::default(), 0)
}

/// All events so far, as name and JSON.
async fn events(listener: &mut Listener, service: &Service) -> Vec<(String, serde_json::Value)> {
    let mut events = Vec::new();
    service.events.send("end", &());
    loop {
        let Some(Received::Event(event)) = listener.next().await else { panic!("an event was sent") };
        if event.name == "end" {
            return events;
        }
        events.push((event.name.to_owned(), serde_json::from_str(&event.data).unwrap()));
    }
}

fn names(events: &[(String, serde_json::Value)]) -> Vec<&str> {
    events.iter().map(|(name, _)| name.as_str()).collect()
}

#[tokio::test]
async fn snapshots_are_saved_when_they_are_due_and_there_is_new_text() {
    let folder = TempDir::new().unwrap();
    let service = service(&folder, published_at(time(0), 0, &[]), &[]);
    let mut listener = service.events.listen(None, client(1)).unwrap();
    let mut state = State::new(service.clone());
    state.due = time(60);

    let words = [("tea", 5, [1.0, 0.0])];
    state.look_at(&Arc::new(published_at(time(10), 3, &words)), time(10));
    let sent = events(&mut listener, &service).await;
    assert_eq!(names(&sent), ["arrived"]);
    assert_eq!(sent[0].1, serde_json::json!({"words": ["tea"], "n": 1, "returned": 0}));

    let published = Arc::new(published_at(time(60), 5, &words));
    state.look_at(&published, time(60));
    let sent = events(&mut listener, &service).await;
    assert_eq!(names(&sent), ["kept"]);
    assert_eq!(sent[0].1["seq"], 5);
    // Nothing new came in the next hour.
    state.look_at(&published, time(121));
    assert!(events(&mut listener, &service).await.is_empty());
    for hour in 2..6 {
        let published = published_at(time(hour * 60 + 2), 5 + hour as u64, &words);
        state.look_at(&Arc::new(published), time(hour * 60 + 2));
    }
    assert_eq!(names(&events(&mut listener, &service).await), ["kept"; 4]);
    let seqs: Vec<u64> = service.snapshots.list().iter().map(|info| info.seq).collect();
    assert_eq!(seqs, [9, 10], "older ones expired");

    // After a restart the next one is due an hour after the last.
    let again = State::new(service.clone());
    assert_eq!((again.due, again.saved_seq), (time(6 * 60 + 2), Some(10)));
}

#[test]
fn a_clock_that_was_wrong_does_not_stop_snapshots() {
    let folder = TempDir::new().unwrap();
    let words = [("tea", 5, [1.0, 0.0])];
    let service = service(&folder, published_at(time(0), 0, &[]), &[]);
    let hour = SignedDuration::from_hours(1);
    let future = Timestamp::now() + hour * 24 * 365;
    for later in 0..2 {
        service
            .snapshots
            .save(&published_at(future + hour * later, 1 + later as u64, &words), None, 9)
            .unwrap();
    }
    let mut state = State::new(service.clone());
    assert!(state.due <= Timestamp::now() + hour);

    // Set back while running, by many years: within an hour the next one is kept, and stays.
    state.look_at(&Arc::new(published_at(time(0), 3, &words)), time(0));
    assert_eq!(state.due, time(60));
    for next in 1..5 {
        let published = published_at(time(next * 60), 3 + next as u64, &words);
        state.look_at(&Arc::new(published), time(next * 60));
    }
    let seqs: Vec<u64> = service.snapshots.list().iter().map(|info| info.seq).collect();
    assert_eq!(seqs, [6, 7, 1, 2]);
}

#[tokio::test]
async fn a_failed_snapshot_is_reported_and_retried() {
    let folder = TempDir::new().unwrap();
    let service = service(&folder, published_at(time(0), 0, &[]), &[]);
    let mut state = State::new(service.clone());
    state.due = time(0);
    // A file blocks the folder.
    std::fs::write(folder.path().join("snapshots"), "").unwrap();
    let published = Arc::new(published_at(time(1), 3, &[("tea", 5, [1.0, 0.0])]));
    let mut listener = service.events.listen(None, client(1)).unwrap();
    state.look_at(&published, time(1));
    let sent = events(&mut listener, &service).await;
    assert_eq!(names(&sent), ["arrived", "problem"]);
    assert!(sent[1].1["message"].as_str().unwrap().starts_with("cannot save a snapshot: "));
    assert_eq!(state.due, time(2));

    std::fs::remove_file(folder.path().join("snapshots")).unwrap();
    state.look_at(&published, time(2));
    assert_eq!(names(&events(&mut listener, &service).await), ["kept"]);
}

fn heaps(minute: i64, turned: bool) -> Published {
    of_embeddings(time(minute), minute as u64, two_heaps(minute as u64, turned), Timestamp::UNIX_EPOCH)
}

#[tokio::test]
async fn a_watched_word_that_moved_is_reported_once_per_snapshot() {
    let folder = TempDir::new().unwrap();
    let service = service(&folder, heaps(0, false), &["turns", "w20", "unknown"]);
    service.snapshots.save(&heaps(1, false), None, 1_000).unwrap();
    let mut state = State::new(service.clone());
    let mut listener = service.events.listen(None, client(1)).unwrap();
    let turned = Arc::new(heaps(2, true));
    for _ in 0..2 {
        state.check_watched(&turned);
    }
    let sent = events(&mut listener, &service).await;
    assert_eq!(names(&sent), ["drift"]);
    let alert = &sent[0].1;
    assert_eq!(alert["word"], "turns");
    assert_eq!(alert["since"], service.snapshots.list()[0].name.as_str());
    assert!(alert["overlap"].as_f64().unwrap() < 0.2 && alert["cosine"].as_f64().unwrap() < 0.9);

    // Since another snapshot nothing happened.
    service.snapshots.save(&heaps(3, true), None, 1_000).unwrap();
    state.check_watched(&Arc::new(heaps(4, true)));
    assert!(events(&mut listener, &service).await.is_empty());
}

#[tokio::test]
async fn the_thread_reports_what_is_published_and_ends_with_the_service() {
    let folder = TempDir::new().unwrap();
    let service = service(&folder, published_at(time(0), 0, &[]), &[]);
    let mut listener = service.events.listen(None, client(1)).unwrap();
    let monitor = start(service.clone()).unwrap();
    service.publish(published_at(time(1), 1, &[("tea", 5, [1.0, 0.0])]));
    for expected in ["published", "arrived"] {
        let Some(Received::Event(event)) = listener.next().await else { panic!("an event was sent") };
        assert_eq!(event.name, expected);
    }
    service.stop();
    monitor.join().unwrap();
    assert_eq!(Arc::strong_count(&service), 1, "the thread is gone");
}
