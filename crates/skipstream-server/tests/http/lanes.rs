//! Heavy work, abandoned work, slow readers and unread answers, on a real port.

use std::time::{Duration, Instant};

use serde_json::json;

use crate::real::{Real, Reply, Waiting};

/// Questions that are answered at once.
const CHEAP: [&str; 6] = [
    "/v1/similarity?a=w1&b=w2",
    "/v1/words/w3",
    "/v1/words/nobody",
    "/v1/words?prefix=w1&min_count=0",
    "/v1/words/w4/neighbors?min_count=0",
    "/v1/stats",
];

/// Asks some cheap questions.
fn ask(real: &Real) {
    for path in CHEAP {
        let status = real.get(path).status;
        assert_eq!(status, if path.ends_with("nobody") { 404 } else { 200 }, "{path}");
    }
}

/// Maps that take about a second each, none of which is another.
fn maps(real: &Real) -> Vec<Waiting> {
    (0..20)
        .map(|n| real.begin("GET", &format!("/v1/map?n={}&min_count=0", 481 + n), "text/plain", ""))
        .collect()
}

/// Waits for the first answer, asks cheap questions, and returns how many heavy requests were unanswered then.
fn unanswered_after_cheap_ones(real: &Real, mut heavy: Vec<Waiting>) -> usize {
    let last = heavy.split_off(1);
    assert_eq!(heavy.pop().unwrap().head().status, 200);
    ask(real);
    last.iter().filter(|heavy| heavy.is_unanswered()).count()
}

#[test]
fn cheap_questions_do_not_wait_for_maps() {
    let real = Real::with_words(2_000, |_| {});
    let heavy = maps(&real);
    assert!(unanswered_after_cheap_ones(&real, heavy) > 0);
}

#[test]
fn cheap_questions_do_not_wait_for_batches() {
    let real = Real::with_words(20_000, |_| {});
    let question = json!({ "a": "w1", "b": "w2", "c": "w3" });
    let batch = json!({ "questions": vec![question; 1_000], "rule": "multiply", "min_count": 0 }).to_string();
    let batches = || (0..40).map(|_| real.begin("POST", "/v1/analogy", "application/json", &batch)).collect();
    assert!(unanswered_after_cheap_ones(&real, batches()) > 0);
}

/// A number in the metrics.
fn metric(real: &Real, name: &str) -> u64 {
    let metrics = String::from_utf8(real.get("/metrics").body().unwrap()).unwrap();
    let value = metrics.lines().find_map(|line| line.strip_prefix(name)).expect(name);
    value.trim().parse().unwrap()
}

/// Waits for an event, which comes soon on any machine.
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(120);
    while !condition() {
        assert!(Instant::now() < deadline, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

const RUNNING: &str = "skipstream_work{lane=\"cpu\"}";
const CANCELLED: &str = "skipstream_work_cancelled_total{lane=\"cpu\"}";

#[test]
fn an_abandoned_map_stops_in_the_middle() {
    let real = Real::with_words(2_000, |_| {});
    // Work that has noticed that nobody waits for it counts as cancelled; work that ends by itself does not. A machine
    // that is too slow may abandon a map after its end, and tries again.
    let stops = (0..20).any(|n| {
        let map = real.begin("GET", &format!("/v1/map?n={}&min_count=0", 481 + n), "text/plain", "");
        wait_until("the map is drawn", || metric(&real, RUNNING) == 1 || !map.is_unanswered());
        drop(map);
        wait_until("the lane is free", || metric(&real, RUNNING) == 0);
        metric(&real, CANCELLED) > 0
    });
    assert!(stops, "abandoned maps are drawn to their end");
}

#[test]
fn abandoned_batches_are_not_searched() {
    let real = Real::with_words(20_000, |_| {});
    let question = json!({ "a": "w1", "b": "w2", "c": "w3" });
    let batch = json!({ "questions": vec![question; 1_000], "rule": "multiply", "min_count": 0 }).to_string();
    let batches: Vec<Waiting> =
        (0..12).map(|_| real.begin("POST", "/v1/analogy", "application/json", &batch)).collect();
    wait_until("a search begins", || metric(&real, "skipstream_searches_total ") > 0);
    drop(batches);
    wait_until("the lane is free", || metric(&real, RUNNING) == 0);
    // It waits in the same queue as what was abandoned before it.
    assert_eq!(real.get("/v1/words/w4/neighbors?min_count=0").status, 200);
    let searches = metric(&real, "skipstream_searches_total ");
    assert!(searches < 6_000, "{searches} of 12,000 abandoned searches were finished");
}

#[test]
fn downloads_do_not_wait_for_slow_readers_and_are_not_cut_off_in_silence() {
    let real = Real::with_words(20_000, |settings| settings.request_timeout = Duration::from_secs(2));
    let download = || real.get("/v1/export?format=word2vec-text");
    // Twice as many as one address may have. They read the head and no more: the rest does not fit into any buffer.
    let mut slow: Vec<Reply> = Vec::new();
    let deadline = Instant::now() + Duration::from_secs(120);
    while slow.len() < 8 {
        ask(&real);
        let reply = download();
        match reply.status {
            200 => slow.push(reply),
            status => assert_eq!(status, 503),
        }
        assert!(Instant::now() < deadline, "{} downloads began", slow.len());
    }
    let whole = loop {
        let reply = download();
        if reply.status == 200 {
            break reply.body().unwrap();
        }
        assert!(Instant::now() < deadline);
    };
    assert!(whole.len() > 16 << 20, "{}", whole.len());
    for cut_off in slow {
        assert!(cut_off.body().is_err(), "a body that is cut off looks complete");
    }
}

#[test]
fn unread_answers_are_limited_and_what_they_hold_is_returned() {
    let real = Real::with_words(5_000, |_| {});
    let words: Vec<String> = (0..1_000).map(|word| format!("w{word}")).collect();
    let batch = json!({ "words": words, "n": 100, "min_count": 0 }).to_string();
    let ask_much = || real.send("POST", "/v1/neighbors", "application/json", &batch);
    let mut unread = Vec::new();
    let refused = loop {
        let reply = ask_much();
        if reply.status != 200 {
            break reply;
        }
        unread.push(reply);
        assert!(unread.len() < 40, "any number of answers is in memory");
    };
    assert_eq!(refused.status, 503);
    assert!(
        String::from_utf8(refused.body().unwrap()).unwrap().contains("too many long requests and answers")
    );
    ask(&real);
    // Whoever goes away returns the memory.
    unread.clear();
    let deadline = Instant::now() + Duration::from_secs(120);
    while ask_much().status != 200 {
        assert!(Instant::now() < deadline);
    }
}
