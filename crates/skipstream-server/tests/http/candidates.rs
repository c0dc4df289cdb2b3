//! Which words may be answers: those that occurred often enough, by one rule for all routes.

use jiff::Timestamp;
use serde_json::{Value, json};
use skipstream::{Embeddings, Progress, Totals};
use skipstream_server::{Published, Seen};

use crate::client::Client;

/// A thousand words, of which the last 700 are too rare for a stream of this length. Every rare word is very near to a
/// frequent one.
fn client() -> Client {
    let client = Client::new();
    let count =
        |number: usize| if number < 300 { 30_000 - 10 * number as u64 } else { 1 + (number as u64 % 19) };
    let angle = |number: usize| (number % 300) as f32 * 0.02 + (number / 300) as f32 * 0.001;
    let words: Vec<(String, u64)> = (0..1_000).map(|number| (format!("w{number}"), count(number))).collect();
    let vectors = (0..1_000).flat_map(|number| [angle(number).cos(), angle(number).sin()]).collect();
    let embeddings = Embeddings::new(2, words.iter().map(|(word, count)| (word.as_str(), *count)), vectors);
    let embeddings = embeddings.unwrap();
    assert_eq!(embeddings.default_min_count(), 20);
    let tokens = words.iter().map(|(_, count)| count).sum();
    let progress = Progress { tokens, totals: Totals::default(), vocabulary: 1_000, evictions: 0 };
    let now = Timestamp::now();
    let seen = vec![Seen { first: now, last: now }; 1_000];
    client.service.publish(Published::new(8, now, embeddings, seen, progress));
    client
}

#[track_caller]
fn assert_frequent(answers: &Value, n: usize) {
    let answers = answers.as_array().unwrap();
    assert_eq!(answers.len(), n);
    for answer in answers {
        assert!(answer["count"].as_u64().unwrap() >= 20, "{answer}");
    }
}

#[tokio::test]
async fn two_hundred_frequent_words_have_no_rare_answers() {
    let client = client();
    let words: Vec<String> = (0..200).map(|number| format!("w{number}")).collect();
    for word in &words {
        let answer = client.get(&format!("/v1/words/{word}/neighbors")).await.good();
        assert_eq!(answer["min_count"], 20);
        assert_frequent(&answer["neighbors"], 10);
    }
    let answer = client.post("/v1/neighbors", json!({"words": words}).to_string()).await.good();
    assert_eq!(answer["min_count"], 20);
    answer["results"].as_array().unwrap().iter().for_each(|one| assert_frequent(&one["neighbors"], 10));
    let questions: Vec<Value> = (0..200)
        .map(|n| json!({"a": words[n], "b": words[(n + 1) % 200], "c": words[(n + 7) % 200]}))
        .collect();
    for rule in ["add", "multiply"] {
        let body = json!({"questions": questions, "rule": rule}).to_string();
        let answer = client.post("/v1/analogy", body).await.good();
        answer["results"].as_array().unwrap().iter().for_each(|one| assert_frequent(&one["answers"], 10));
    }
}

#[tokio::test]
async fn the_rule_is_the_same_on_every_route() {
    let client = client();
    let answer = client.get("/v1/analogy?expression=w1%20-%20w2%20%2B%20w3").await.good();
    assert_eq!(answer["min_count"], 20);
    assert_frequent(&answer["answers"], 10);
    let answer = client.get("/v1/map?around=w5&n=40").await.good();
    assert_frequent(&answer["points"], 41);
    let answer = client.get("/v1/words?prefix=w&n=1000").await.good();
    assert_frequent(&answer["words"], 300);
    let answer = client.get("/v1/words?n=1000").await.good();
    assert_frequent(&answer["words"], 300);
    // The words of a history have no counts.
    let answer = client.get("/v1/words/w5/history").await.good();
    let near = answer["points"][0]["neighbors"].as_array().unwrap();
    assert!(near.iter().all(|near| near["word"].as_str().unwrap()[1..].parse::<u64>().unwrap() < 300));
}

#[tokio::test]
async fn other_limits_can_be_asked_for() {
    let client = client();
    let answer = client.get("/v1/words/w5/neighbors?min_count=0&n=3").await.good();
    assert_eq!(answer["min_count"], 0);
    assert_eq!(answer["neighbors"][0]["word"], "w305", "a rare word is nearest");
    let answer = client.get("/v1/words/w5/neighbors?top=4").await.good();
    assert_frequent(&answer["neighbors"], 4);
    let body = r#"{"vectors": [[1, 0]], "min_count": 29990, "n": 100}"#;
    let answer = client.post("/v1/neighbors", body).await.good();
    assert_eq!(
        (&answer["min_count"], answer["results"][0]["neighbors"].as_array().unwrap().len()),
        (&json!(29_990), 2)
    );
    assert_eq!(
        client.get("/v1/words?prefix=w9&min_count=0&n=1000").await.good()["words"].as_array().unwrap().len(),
        111
    );
    // A rare word that is asked about is answered.
    let answer = client.get("/v1/words/w999/neighbors").await.good();
    assert_frequent(&answer["neighbors"], 10);
    for path in ["/v1/words/w5/neighbors", "/v1/words", "/v1/map", "/v1/words/w5/history"] {
        client.get(&format!("{path}?min_count=-1")).await.assert_refused(400, "bad-query", "min_count");
        client.get(&format!("{path}?top=0")).await.assert_refused(400, "bad-query", "top");
    }
}

#[tokio::test]
async fn a_map_leaves_out_the_commonest_words() {
    let client = client();
    let answer = client.get("/v1/map?n=10").await.good();
    // All words are common here, and at most a tenth of them is left out.
    assert_eq!((&answer["skip"], &answer["points"][0]["word"]), (&json!(100), &json!("w100")));
    let answer = client.get("/v1/map?n=10&skip=0").await.good();
    assert_eq!((&answer["skip"], &answer["points"][0]["word"]), (&json!(0), &json!("w0")));
    assert_eq!(client.get("/v1/map?n=10&skip=500").await.good()["points"], json!([]));
}
