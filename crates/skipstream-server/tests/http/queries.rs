//! Queries give the library's answers.

use std::path::Path;

use axum::body::Body;
use axum::http::{Method, header};
use jiff::Timestamp;
use serde::Serialize;
use serde_json::{Value, json};
use skipstream::embeddings::{AnalogyRule, Neighbor};
use skipstream::formats::{self, Format};
use skipstream::{Config, Trainer, Vectors};
use skipstream_server::{Published, Seen};

use crate::client::{Client, TIME, WORDS, embeddings, request};

/// A value after a round trip through JSON, in which an `f32` of 0.1 is not an `f64` of 0.1.
fn as_sent(value: impl Serialize) -> Value {
    serde_json::from_str(&serde_json::to_string(&value).unwrap()).unwrap()
}

/// Neighbors as the service shows them.
fn shown(found: &[Neighbor<'_>]) -> Value {
    let rank = |word: &str| WORDS.iter().position(|known| known.0 == word).unwrap() + 1;
    found
        .iter()
        .map(|neighbor| {
            json!({
                "word": neighbor.word,
                "similarity": as_sent(neighbor.similarity),
                "count": neighbor.count,
                "rank": rank(neighbor.word),
                "first_seen": format!("1970-01-01T00:00:0{}Z", rank(neighbor.word) - 1),
            })
        })
        .collect()
}

fn snapshot() -> Value {
    json!({"seq": 7, "time": TIME, "vocabulary": 6, "words": 200})
}

#[tokio::test]
async fn neighbors_are_the_librarys() {
    let client = Client::new();
    let answer = client.get("/v1/words/king/neighbors?n=3").await.good();
    let expected = embeddings();
    let found = shown(&expected.neighbors("king", 3).unwrap());
    assert_eq!(answer, json!({"snapshot": snapshot(), "word": "king", "min_count": 1, "neighbors": found}));
    let all = client.get("/v1/words/king/neighbors").await.good();
    assert_eq!(all["neighbors"].as_array().unwrap().len(), 5);
}

#[tokio::test]
async fn a_word_in_a_path_may_have_any_letters() {
    let client = Client::new();
    let answer = client.get("/v1/words/a%2Fb%3Fc%3D%C3%BC%25%23").await.good();
    assert_eq!(answer["word"], "a/b?c=ü%#");
    let answer = client.get("/v1/words/a%2Fb%3Fc%3D%C3%BC%25%23/neighbors?n=1").await.good();
    assert_eq!(answer["neighbors"][0]["word"], "bread");
}

#[tokio::test]
async fn words_are_looked_up_as_the_model_has_them() {
    let client = Client::new();
    let mut config = Config { dimensions: 2, ..Config::default() };
    config.text.lowercase = true;
    let mut trainer = Trainer::new(config).unwrap();
    trainer.train_lines(&b"The Government and the people\nthe government of the people\n"[..]).unwrap();
    let embeddings = trainer.embeddings().unwrap();
    let now = Timestamp::now();
    let seen = vec![Seen { first: now, last: now }; embeddings.len()];
    client.service.publish(Published::new(8, now, embeddings, seen, trainer.progress()));
    let small = client.get("/v1/words/government/neighbors").await.good();
    let capital = client.get("/v1/words/Government/neighbors").await.good();
    assert_eq!(capital["neighbors"], small["neighbors"]);
    for path in [
        "words/GOVERNMENT",
        "similarity?a=Government&b=People",
        "analogy?expression=Government%20-%20The%20%2B%20Of",
    ] {
        client.get(&format!("/v1/{path}")).await.good();
    }
    let answer = client.post("/v1/neighbors", r#"{"words": ["Government"]}"#).await.good();
    assert_eq!(answer["results"][0]["neighbors"], small["neighbors"]);
    let completed = client.get("/v1/words?prefix=Gov").await.good();
    assert_eq!(completed["words"][0]["word"], "government");
    let watched = crate::change::put(&client, "/v1/watch/Government").await.good();
    assert_eq!(watched["words"], json!(["government"]));
}

#[tokio::test]
async fn an_unknown_word_has_suggestions() {
    let client = Client::new();
    for path in [
        "/v1/words/quene",
        "/v1/words/quene/neighbors",
        "/v1/words/quene/vector",
        "/v1/similarity?a=king&b=quene",
        "/v1/analogy?a=quene&b=king&c=man",
        "/v1/odd-one-out?word=king&word=quene&word=man",
    ] {
        let answer = client.get(path).await;
        answer.assert_refused(404, "unknown-word", "`quene` is not in the vocabulary");
        assert_eq!(answer.json()["error"]["word"], "quene");
        assert_eq!(answer.json()["error"]["suggestions"], json!(["queen"]));
    }
}

#[tokio::test]
async fn each_query_of_a_batch_has_an_answer_or_an_error() {
    let client = Client::new();
    let answer = client.post("/v1/neighbors", r#"{"words": ["king", "nobody", "man"], "n": 2}"#).await.good();
    let expected = embeddings();
    assert_eq!(answer["snapshot"], snapshot());
    assert_eq!(
        answer["results"][0],
        json!({"word": "king", "neighbors": shown(&expected.neighbors("king", 2).unwrap())})
    );
    assert_eq!(answer["results"][2]["neighbors"], shown(&expected.neighbors("man", 2).unwrap()));
    assert_eq!(
        answer["results"][1],
        json!({
            "word": "nobody",
            "error": {"code": "unknown-word", "message": "`nobody` is not in the vocabulary", "word": "nobody"},
        })
    );

    let answer = client.post("/v1/neighbors", r#"{"vectors": [[1, 0], [1], [0, 1]], "n": 1}"#).await.good();
    assert_eq!(answer["results"][0]["neighbors"][0]["word"], "king");
    let message = "the vector has 1 values; the published vectors have 2";
    assert_eq!(answer["results"][1], json!({"error": {"code": "bad-request", "message": message}}));
    assert_eq!(answer["results"][2]["neighbors"][0]["word"], "bread");
    let answer = client.post("/v1/neighbors", r#"{"vectors": [[1, 0], [1e39, 0]]}"#).await;
    answer.assert_refused(400, "bad-json", "the body, vectors[1][0]: number out of range");
}

#[tokio::test]
async fn analogies_are_the_librarys() {
    let client = Client::new();
    let expected = embeddings();
    for (name, rule) in [("add", AnalogyRule::Add), ("multiply", AnalogyRule::Multiply)] {
        let found = shown(&expected.analogy("man", "king", "woman", 2, rule).unwrap());
        let answer = client.get(&format!("/v1/analogy?a=man&b=king&c=woman&n=2&rule={name}")).await.good();
        let expression = "king - man + woman";
        let one = json!({"a": "man", "b": "king", "c": "woman", "expression": expression, "answers": found});
        let mut whole = one.clone();
        whole["snapshot"] = snapshot();
        whole["rule"] = name.into();
        whole["min_count"] = 1.into();
        assert_eq!(answer, whole);
        let questions = json!({
            "questions": [{"a": "man", "b": "king", "c": "woman"}, {"a": "nobody", "b": "king", "c": "man"}],
            "n": 2,
            "rule": name,
        });
        let answer = client.post("/v1/analogy", questions.to_string()).await.good();
        assert_eq!(answer["results"][0], one);
        assert_eq!(answer["results"][1]["error"]["code"], "unknown-word");
    }
}

#[tokio::test]
async fn an_expression_is_an_analogy_in_other_words() {
    let client = Client::new();
    let analogy = client.get("/v1/analogy?a=man&b=king&c=woman").await.good();
    for written in
        ["king%20-%20man%20%2B%20woman", "king+-man+%2Bwoman", "king%20%E2%88%92%20man%20%2B%20woman"]
    {
        let answer = client.get(&format!("/v1/analogy?expression={written}")).await.good();
        assert_eq!(answer["answers"], analogy["answers"], "{written}");
        assert_eq!((&answer["expression"], answer.get("a")), (&json!("king - man + woman"), None));
    }
    let questions =
        json!({"questions": [{"expression": "king - man + woman"}, {"expression": "king queen"}]});
    let answer = client.post("/v1/analogy", questions.to_string()).await.good();
    assert_eq!(answer["results"][0]["answers"], analogy["answers"]);
    assert_eq!(answer["results"][1]["error"]["code"], "bad-request");
    for query in ["a=man&b=king", "expression=king&a=man&b=king&c=woman", "n=3"] {
        let refused = client.get(&format!("/v1/analogy?{query}")).await;
        refused.assert_refused(400, "bad-request", "either the words `a`, `b` and `c`, or an `expression`");
    }
    let refused = client.get("/v1/analogy?expression=king%20-%20quene").await;
    refused.assert_refused(404, "unknown-word", "quene");
}

#[tokio::test]
async fn similarities_and_the_odd_one_are_the_librarys() {
    let client = Client::new();
    let expected = embeddings();
    let similarity = as_sent(expected.similarity("king", "bread").unwrap());
    let answer = client.get("/v1/similarity?a=king&b=bread").await.good();
    assert_eq!(answer, json!({"snapshot": snapshot(), "a": "king", "b": "bread", "similarity": similarity}));
    let answer =
        client.post("/v1/similarity", r#"{"pairs": [["king", "bread"], ["king", "nobody"]]}"#).await.good();
    assert_eq!(answer["results"][0], json!({"a": "king", "b": "bread", "similarity": similarity}));
    assert_eq!(answer["results"][1]["error"]["code"], "unknown-word");

    let fits = expected.odd_one_out(&["king", "bread", "queen"]).unwrap();
    let words: Value =
        fits.iter().map(|fit| json!({"word": fit.word, "similarity": as_sent(fit.similarity)})).collect();
    let answer = client.get("/v1/odd-one-out?word=king&word=bread&word=queen").await.good();
    assert_eq!(answer, json!({"snapshot": snapshot(), "odd": "bread", "words": words}));
    let questions = r#"{"questions": [["king", "bread", "queen"], ["king", "man", "nobody"]]}"#;
    let answer = client.post("/v1/odd-one-out", questions).await.good();
    assert_eq!(answer["results"][0], json!({"odd": "bread", "words": words}));
    assert_eq!(answer["results"][1]["error"]["code"], "unknown-word");
}

#[tokio::test]
async fn words_are_completed_and_described() {
    let client = Client::new();
    let king = json!({
        "word": "king", "count": 50, "rank": 1, "first_seen": "1970-01-01T00:00:00Z", "last_seen": TIME
    });
    assert_eq!(
        client.get("/v1/words?prefix=ki").await.good(),
        json!({"snapshot": snapshot(), "min_count": 1, "words": [king]})
    );
    let words = client.get("/v1/words?n=2").await.good()["words"].clone();
    assert_eq!((&words[0]["word"], &words[1]["word"]), (&json!("king"), &json!("queen")));
    assert_eq!(client.get("/v1/words?prefix=zz").await.good()["words"], json!([]));
    let mut whole = king.clone();
    whole["snapshot"] = snapshot();
    whole["share"] = json!(0.25);
    assert_eq!(client.get("/v1/words/king").await.good(), whole);
}

#[tokio::test]
async fn joined_vectors_are_answered_and_exported_with_twice_the_dimensions() {
    let mut trainer = Trainer::new(Config { dimensions: 3, subsample: 0.0, ..Config::default() }).unwrap();
    trainer.train([["tea", "with", "milk"], ["coffee", "with", "sugar"]].repeat(40)).unwrap();
    let joined = trainer.embeddings_of(Vectors::Joined).unwrap();
    let client = Client::with(|settings| settings.vectors = Vectors::Joined);
    let now = Timestamp::now();
    let seen = vec![Seen { first: now, last: now }; joined.len()];
    client.service.publish(Published::new(8, now, joined.clone(), seen, trainer.progress()));

    let vector = joined.vector("tea").unwrap().into_owned();
    assert_eq!(vector.len(), 6);
    let answer = client.get("/v1/words/tea/vector").await.good();
    assert_eq!(answer["vector"], as_sent(&vector));
    let answer = client.post("/v1/vectors", r#"{"words": ["tea"]}"#).await.good();
    assert_eq!(answer["dimensions"], 6);
    let answer = client.get("/v1/words/tea/neighbors?n=4").await.good();
    let similarities: Vec<Value> =
        answer["neighbors"].as_array().unwrap().iter().map(|found| found["similarity"].clone()).collect();
    let expected = joined.neighbors("tea", 4).unwrap();
    assert_eq!(similarities, expected.iter().map(|found| as_sent(found.similarity)).collect::<Vec<_>>());
    let body = json!({"vectors": [vector, [1, 2, 3]], "n": 1}).to_string();
    let answer = client.post("/v1/neighbors", body).await.good();
    assert_eq!(answer["results"][0]["neighbors"][0]["word"], "tea");
    let message = answer["results"][1]["error"]["message"].as_str().unwrap();
    assert!(message.contains("3 values; the published vectors have 6"), "{message}");
    let export = client.get("/v1/export?format=word2vec-text").await;
    let mut text = Vec::new();
    formats::write(&joined, Format::Word2vecText, &mut text, Path::new("text")).unwrap();
    assert_eq!(export.body, text);
    let answer = client.get("/v1/settings").await.good();
    let setting =
        answer["service"].as_array().unwrap().iter().find(|setting| setting["name"] == "vectors").unwrap();
    assert_eq!((&setting["value"], &setting["default"]), (&json!("joined"), &json!(Vectors::default())));
}

#[tokio::test]
async fn what_comes_next_is_that_of_joined_vectors() {
    let mut trainer =
        Trainer::new(Config { dimensions: 8, noise_exponent: 0.0, ..Config::default() }).unwrap();
    trainer.train([["cup", "saucer", "spoon"], ["nail", "hammer", "saw"]].repeat(100)).unwrap();
    let joined = trainer.embeddings_of(Vectors::Joined).unwrap();
    let client = Client::with(|settings| settings.vectors = Vectors::Joined);
    let now = Timestamp::now();
    let seen = vec![Seen { first: now, last: now }; joined.len()];
    client.service.publish(Published::new(8, now, joined.clone(), seen, trainer.progress()));

    let answer = client.get("/v1/predict-next?word=cup&word=spoon&n=2").await.good();
    assert_eq!((&answer["words"], &answer["min_count"]), (&json!(["cup", "spoon"]), &json!(1)));
    let found = |answer: &Value| -> Vec<(Value, Value)> {
        let next = answer["next"].as_array().unwrap().iter();
        next.map(|next| (next["word"].clone(), next["similarity"].clone())).collect()
    };
    let expected = joined.predict_next(&["cup", "spoon"], 2).unwrap();
    let expected: Vec<(Value, Value)> =
        expected.iter().map(|next| (json!(next.word), as_sent(next.similarity))).collect();
    assert_eq!(found(&answer), expected);
    let top = client.get("/v1/predict-next?word=cup&top=1").await.good();
    assert!(found(&top).iter().all(|(word, _)| word == joined.word(0)));
    client.get("/v1/predict-next?word=cup&word=none").await.assert_refused(404, "unknown-word", "none");
    client.get("/v1/predict-next").await.assert_refused(400, "bad-query", "word");

    let sum = Client::new().get("/v1/predict-next?word=king").await;
    sum.assert_refused(400, "bad-request", "needs a service that was started with --vectors joined");
}

#[tokio::test]
async fn vectors_are_json_or_bytes() {
    let client = Client::new();
    let answer = client.get("/v1/words/queen/vector").await.good();
    assert_eq!(answer, json!({"snapshot": snapshot(), "word": "queen", "vector": as_sent([0.9f32, 0.3])}));
    let answer =
        client.post("/v1/vectors", r#"{"words": ["king", "nobody"], "normalize": true}"#).await.good();
    assert_eq!(answer["dimensions"], 2);
    assert_eq!(answer["results"][0]["vector"], as_sent(embeddings().unit_vector(0)));
    assert_eq!(answer["results"][1]["error"]["code"], "unknown-word");

    let mut question = request(Method::POST, "/v1/vectors", Body::from(r#"{"words": ["king", "bread"]}"#));
    question.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    question.headers_mut().insert(header::ACCEPT, "application/octet-stream".parse().unwrap());
    let answer = client.send(question).await;
    let values = [1.0f32, 0.1, -0.2, 1.0].map(f32::to_le_bytes).concat();
    assert_eq!((answer.status.as_u16(), answer.body), (200, values));
    assert_eq!(answer.headers["x-skipstream-seq"], "7");
    assert_eq!(answer.headers["x-skipstream-time"], TIME);
    assert_eq!(answer.headers["x-skipstream-dimensions"], "2");

    let mut question = request(Method::POST, "/v1/vectors", Body::from(r#"{"words": ["nobody"]}"#));
    question.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    question.headers_mut().insert(header::ACCEPT, "application/octet-stream".parse().unwrap());
    client.send(question).await.assert_refused(404, "unknown-word", "nobody");
}

#[tokio::test]
async fn phrases_are_those_of_the_published_version() {
    let client = Client::new();
    assert_eq!(
        client.get("/v1/phrases").await.good(),
        json!({"snapshot": snapshot(), "total": 0, "phrases": []})
    );
    let mut trainer = Trainer::new(Config { dimensions: 2, ..Config::default() }).unwrap();
    trainer.add_phrases(["new york", "york city"]).unwrap();
    trainer.train([["new", "york"], ["york", "city"], ["new", "york"]]).unwrap();
    let (embeddings, progress) = (trainer.embeddings().unwrap(), trainer.progress());
    let times = Seen { first: Timestamp::UNIX_EPOCH, last: Timestamp::UNIX_EPOCH };
    let published = Published::new(8, TIME.parse().unwrap(), embeddings, vec![times; 2], progress);
    client.service.publish(Published { phrases: trainer.phrases().into(), ..published });
    let answer = client.get("/v1/phrases?n=1").await.good();
    let expected = json!({
        "phrase": "new york", "word": "new_york", "count": 2, "score": null, "found_at": null,
    });
    assert_eq!((&answer["total"], &answer["phrases"]), (&json!(2), &json!([expected])));
    assert_eq!(client.get("/v1/words/new%20york").await.good()["word"], "new_york");
    client.get("/v1/phrases?n=0").await.assert_refused(400, "bad-query", "n: 0 is out of range");
}
