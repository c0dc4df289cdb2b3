//! Snapshots, and comparisons with them.

use axum::body::Body;
use axum::http::Method;
use jiff::Timestamp;
use serde_json::{Value, json};
use skipstream::{Embeddings, Progress, Totals};
use skipstream_server::{Published, Seen};

use crate::client::{Answer, Client, request};
use crate::real::Real;

async fn delete(client: &Client, path: &str) -> Answer {
    client.send(request(Method::DELETE, path, Body::empty())).await
}

pub async fn put(client: &Client, path: &str) -> Answer {
    client.send(request(Method::PUT, path, Body::empty())).await
}

/// Words in two dimensions, published now with all lines up to `seq`.
fn publish(client: &Client, seq: u64, words: &[(&str, u64, [f32; 2])]) {
    let vectors = words.iter().flat_map(|word| word.2).collect();
    let embeddings = Embeddings::new(2, words.iter().map(|word| (word.0, word.1)), vectors).unwrap();
    let now = Timestamp::now();
    // Words that the client began with were there before.
    let first = |word: &str| {
        let is_old = client.service.published().embeddings.index_of(word).is_some();
        if is_old { Timestamp::UNIX_EPOCH } else { now }
    };
    let seen = embeddings.words().map(|word| Seen { first: first(word), last: now }).collect();
    let tokens = words.iter().map(|word| word.1).sum();
    let progress = Progress { tokens, totals: Totals::default(), vocabulary: words.len(), evictions: 0 };
    client.service.publish(Published::new(seq, now, embeddings, seen, progress));
}

#[tokio::test]
async fn a_snapshot_is_kept_listed_and_deleted() {
    let client = Client::new();
    assert_eq!(client.get("/v1/snapshots").await.good(), json!({"snapshots": []}));
    let kept = client.post("/v1/snapshots", r#"{"name": "before-launch"}"#).await;
    assert_eq!(kept.status.as_u16(), 201);
    let info = json!({
        "name": "before-launch", "time": "2026-11-15T20:00:00Z", "seq": 7, "vocabulary": 6, "words": 200,
        "pinned": true, "state": false
    });
    assert_eq!(kept.json(), info);
    assert_eq!(client.get("/v1/snapshots").await.good(), json!({"snapshots": [info]}));
    let again = client.post("/v1/snapshots", r#"{"name": "before-launch"}"#).await;
    again.assert_refused(409, "name-taken", "before-launch");

    assert_eq!(delete(&client, "/v1/snapshots/before-launch").await.status.as_u16(), 204);
    delete(&client, "/v1/snapshots/before-launch").await.assert_refused(
        404,
        "unknown-snapshot",
        "no snapshot",
    );
    assert_eq!(client.get("/v1/snapshots").await.good(), json!({"snapshots": []}));
}

#[test]
fn the_service_returns_to_a_snapshot_with_a_state() {
    let real = Real::with_words(40, |_| {});
    let post = |path: &str, body: &str| real.send("POST", path, "application/json", body);
    let kept = post("/v1/snapshots", r#"{"name": "before", "state": true}"#);
    assert_eq!(kept.status, 201);
    assert_eq!(post("/v1/snapshots", r#"{"name": "before", "state": true}"#).status, 409);
    real.send("POST", "/v1/text?wait=learned", "text/plain", "spam spam\n").rest();
    assert_eq!(real.get("/v1/words/spam").status, 200);
    assert_eq!(post("/v1/rollback", r#"{"snapshot": "never"}"#).status, 404);
    let back = post("/v1/rollback", r#"{"snapshot": "before"}"#).rest();
    assert_eq!(back.trim_end(), r#"{"snapshot":"before","learned":2,"seq":3}"#);
    assert_eq!(real.get("/v1/words/spam").status, 404);
    assert_eq!(real.get("/v1/words/w7").status, 200);
    let next = real.send("POST", "/v1/text?wait=learned", "text/plain", "more text\n").rest();
    assert!(next.contains(r#""learned":true"#), "{next}");
}

#[tokio::test]
async fn a_name_that_is_a_path_is_rejected() {
    let client = Client::new();
    for name in ["..", "../up", ".hidden", "a/b", "", "nul\\u0000", "ü", &"x".repeat(65)] {
        let refused = client.post("/v1/snapshots", format!(r#"{{"name": "{name}"}}"#)).await;
        refused.assert_refused(400, "bad-json", "invalid snapshot name");
    }
    client.post("/v1/snapshots", "{}").await.assert_refused(400, "bad-json", "missing field `name`");
    for path in ["%2e%2e", "..%2f..%2fetc%2fpasswd", "%00", ".lock", "a%2Fb"] {
        delete(&client, &format!("/v1/snapshots/{path}")).await.assert_refused(
            400,
            "bad-path",
            "invalid snapshot name",
        );
    }
    assert_eq!(client.get("/v1/snapshots").await.good(), json!({"snapshots": []}));
}

#[tokio::test]
async fn a_word_has_a_history() {
    let client = Client::new();
    client.post("/v1/snapshots", r#"{"name": "first"}"#).await;
    publish(&client, 9, &[("king", 90, [0.1, 1.0]), ("bread", 20, [-0.2, 1.0]), ("queen", 40, [0.9, 0.3])]);
    let answer = client.get("/v1/words/king/history?n=1").await.good();
    assert_eq!((&answer["word"], &answer["snapshot"]["seq"]), (&json!("king"), &json!(9)));
    let points = answer["points"].as_array().unwrap();
    assert_eq!(points.len(), 2);
    assert_eq!((&points[0]["name"], &points[1]["name"]), (&json!("first"), &Value::Null));
    assert_eq!(points[0]["neighbors"][0]["word"], "queen");
    assert_eq!(points[1]["neighbors"][0]["word"], "bread");
    assert_eq!((&points[0]["movement"], &points[1]["overlap"]), (&Value::Null, &json!(0.0)));
    // (1, 0.1) and (0.1, 1): a cosine of 0.2 / 1.01.
    let movement = points[1]["movement"].as_f64().unwrap();
    assert!((movement - (1.0 - 0.2 / 1.01)).abs() < 1e-6, "{movement}");

    // A word that left has a history, too.
    let gone = client.get("/v1/words/man/history").await.good();
    assert_eq!((&gone["points"][0]["known"], &gone["points"][1]["known"]), (&json!(true), &json!(false)));
    client.get("/v1/words/nobody/history").await.assert_refused(404, "unknown-word", "nobody");
    client.get("/v1/words/king/history?n=0").await.assert_refused(400, "bad-query", "from 1 to 100");
}

#[tokio::test]
async fn words_that_rise_are_listed() {
    let client = Client::new();
    client.post("/v1/snapshots", r#"{"name": "first"}"#).await;
    let words = [
        ("king", 100, [1.0, 0.1]),
        ("queen", 80, [0.9, 0.3]),
        ("man", 60, [0.8, -0.5]),
        ("woman", 40, [0.7, -0.2]),
        ("bread", 100, [-0.2, 1.0]),
        ("butter", 30, [-0.3, 1.0]),
    ];
    publish(&client, 9, &words);
    let answer = client.get("/v1/emerging?since=first").await.good();
    assert_eq!(answer["since"], json!({"name": "first", "time": "2026-11-15T20:00:00Z"}));
    let listed = |answer: &Value| -> Vec<(String, bool, u64)> {
        let words = answer["words"].as_array().unwrap().iter();
        words
            .map(|word| {
                (
                    word["word"].as_str().unwrap().to_owned(),
                    word["new"].as_bool().unwrap(),
                    word["before"].as_u64().unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(listed(&answer), [("bread".to_owned(), false, 10), ("butter".to_owned(), true, 0)]);
    let factor = |number: usize| answer["words"][number]["factor"].as_f64().unwrap();
    assert!(factor(0) >= factor(1) && factor(1) >= 1.5, "sorted by what is shown");
    assert_eq!(listed(&client.get("/v1/emerging?n=1").await.good()).len(), 1);
    assert_eq!(
        listed(&client.get("/v1/emerging?min_gain=31").await.good()),
        [("bread".to_owned(), false, 10)]
    );
    client.get("/v1/emerging?since=second").await.assert_refused(
        404,
        "unknown-snapshot",
        "no snapshot with this name",
    );
    client.get("/v1/emerging?since=a%20b").await.assert_refused(400, "bad-query", "use a duration (24h, 7d)");
    for (since, is_older) in
        [("99999d", true), ("2026-11-15T20:00:00Z", false), ("1s", false), ("first", false)]
    {
        for list in ["emerging", "movers"] {
            let answer = client.get(&format!("/v1/{list}?since={since}")).await.good();
            assert_eq!(answer["since"]["name"], "first");
            let note = "no snapshot is that old; the oldest is `first` of 2026-11-15T20:00:00Z";
            assert_eq!(answer["note"], if is_older { json!(note) } else { Value::Null }, "{list} {since}");
        }
    }
}

/// Of the words that rose, one is in ten lines; a new one and a known one rose more, each in a single line.
#[test]
fn words_that_burst_in_one_line_emerge_after_words_in_several() {
    let real = Real::with_words(40, |_| {});
    let learn = |text: String| real.send("POST", "/v1/text?wait=learned", "text/plain", &text).rest();
    let line = |words: std::ops::Range<u64>| words.map(|word| format!("w{word} ")).collect::<String>();
    learn(format!("{}\n{}\n", line(0..20), line(20..40)).repeat(50));
    let kept = real.send("POST", "/v1/snapshots", "application/json", r#"{"name": "before"}"#);
    assert_eq!(kept.status, 201);
    learn(
        format!("{}spread spread\n{}\n", line(0..19), line(20..40)).repeat(10)
            + &"burst ".repeat(40)
            + "\n"
            + &"w19 ".repeat(200)
            + "\n",
    );
    for (since, expected) in [
        ("before", json!([["spread", 20, 10], ["burst", 40, 1], ["w19", 251, 1]])),
        // Without the limit of the list, or with it.
        ("before&n=1", json!([["spread", 20, 10]])),
    ] {
        let answer = real.get(&format!("/v1/emerging?since={since}")).rest();
        let answer: Value = serde_json::from_str(&answer).unwrap();
        let words = answer["words"].as_array().unwrap().iter();
        let listed: Value = words.map(|one| json!([one["word"], one["count"], one["documents"]])).collect();
        assert_eq!(listed, expected);
    }
}

#[tokio::test]
async fn without_a_snapshot_new_words_are_listed_and_none_moved() {
    let client = Client::new();
    publish(&client, 9, &[("king", 100, [1.0, 0.1]), ("butter", 30, [-0.3, 1.0])]);
    let answer = client.get("/v1/emerging?since=1h").await.good();
    assert_eq!(answer["since"]["name"], Value::Null);
    assert_eq!((&answer["words"][0]["word"], &answer["words"][1]), (&json!("butter"), &Value::Null));
    let answer = client.get("/v1/movers").await.good();
    assert_eq!((&answer["since"], &answer["movers"]), (&Value::Null, &json!([])));
    assert_eq!(answer["note"], "there is no snapshot yet");
}

/// Three hundred words in two groups; `w7` is in the first, or in the second.
fn groups(counts: u64, has_moved: bool) -> Vec<(String, u64, [f32; 2])> {
    let word = |number: u64| {
        let is_second = if number == 7 { has_moved } else { number.is_multiple_of(2) };
        // Words differ from each other, and all of them move a little.
        let own = (number * 37 % 100) as f32 / 100.0 + ((number * 53 + counts) % 17) as f32 / 500.0;
        let vector = if is_second { [0.2 * own, 1.0] } else { [1.0, 0.2 * own] };
        (format!("w{number}"), 1_000 - number + counts, vector)
    };
    (0..300).map(word).collect()
}

fn publish_groups(client: &Client, seq: u64, groups: &[(String, u64, [f32; 2])]) {
    let words: Vec<(&str, u64, [f32; 2])> =
        groups.iter().map(|(word, count, vector)| (word.as_str(), *count, *vector)).collect();
    publish(client, seq, &words);
}

#[tokio::test]
async fn words_that_moved_are_listed_with_their_company() {
    let client = Client::new();
    publish_groups(&client, 8, &groups(0, false));
    client.post("/v1/snapshots", r#"{"name": "first"}"#).await;
    publish_groups(&client, 9, &groups(50, true));
    let answer = client.get("/v1/movers?since=first&n=2").await.good();
    assert_eq!((&answer["snapshot"]["seq"], &answer["since"]["name"]), (&json!(9), &json!("first")));
    assert_eq!((&answer["ranked"], &answer["warnings"]), (&json!(300), &json!([])));
    let movers = answer["movers"].as_array().unwrap();
    assert_eq!((&movers[0]["word"], &movers[0]["above_floor"]), (&json!("w7"), &json!(true)));
    assert_eq!((&movers[0]["old_count"], &movers[0]["new_occurrences"]), (&json!(993), &json!(50)));
    let number = |word: &Value| word.as_str().unwrap()[1..].parse::<u64>().unwrap();
    assert!(
        movers[0]["neighbors_after"].as_array().unwrap().iter().all(|word| number(word).is_multiple_of(2))
    );
    client.get("/v1/movers?since=second").await.assert_refused(
        404,
        "unknown-snapshot",
        "no snapshot with this name",
    );
    client.get("/v1/movers?n=101").await.assert_refused(400, "bad-query", "from 1 to 100");
}

#[tokio::test]
async fn a_line_of_text_moves_no_word() {
    let client = Client::new();
    publish_groups(&client, 8, &groups(0, false));
    client.post("/v1/snapshots", r#"{"name": "first"}"#).await;
    // The vector of a word that did not occur has changed, and five words occurred.
    let mut after = groups(0, true);
    after[..5].iter_mut().for_each(|word| word.1 += 6);
    publish_groups(&client, 9, &after);
    let answer = client.get("/v1/movers?since=first").await.good();
    assert_eq!((&answer["movers"], &answer["warnings"]), (&json!([]), &json!(["too-little-text"])));
    assert_eq!(answer["ranked"], 5);
}

#[tokio::test]
async fn words_are_watched_until_they_are_not() {
    let client = Client::with(|settings| settings.watch = vec!["king".to_owned()]);
    assert_eq!(client.get("/v1/watch").await.good(), json!({"words": ["king"]}));
    assert_eq!(put(&client, "/v1/watch/a%2F..%2Fb").await.good(), json!({"words": ["a/../b", "king"]}));
    assert_eq!(put(&client, "/v1/watch/king").await.good(), json!({"words": ["a/../b", "king"]}));
    assert_eq!(delete(&client, "/v1/watch/king").await.good(), json!({"words": ["a/../b"]}));
    delete(&client, "/v1/watch/king").await.assert_refused(404, "not-watched", "`king` is not watched");
}
