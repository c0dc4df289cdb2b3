//! Queries about words that are estimated from their spelling.

use serde_json::{Value, json};
use skipstream::Embeddings;
use skipstream::embeddings::{AnalogyRule, SubwordOptions, Subwords};

use crate::client::{Client, embeddings};
use crate::real::Real;

const ROUTES: [&str; 5] = [
    "words/kings/neighbors?n=3",
    "words/kings/vector?",
    "similarity?a=kings&b=queens",
    "analogy?a=man&b=kings&c=woman&n=2",
    "odd-one-out?word=kings&word=queen&word=bread",
];

fn subwords() -> Subwords {
    let options = SubwordOptions { buckets: 1_000, ..SubwordOptions::default() };
    Subwords::fit(&embeddings(), &options, Some(1)).unwrap()
}

/// A service with a table.
fn fitted() -> Client {
    let client = Client::with(|settings| settings.subword_buckets = 1_000);
    client.service.subwords.replace(subwords(), 0);
    client
}

fn library(words: &[&str]) -> Embeddings {
    embeddings().with_estimates(&subwords(), words)
}

fn is_near(found: &Value, expected: f32) -> bool {
    (found.as_f64().unwrap() - f64::from(expected)).abs() < 1e-6
}

#[tokio::test]
async fn answers_about_unknown_words_are_the_librarys_and_say_so() {
    let client = fitted();
    let library = library(&["kings", "queens", "queen", "man", "woman", "bread"]);
    let get = async |route: &str| client.get(&format!("/v1/{route}&subwords=true")).await.good();

    let answer = get(ROUTES[0]).await;
    assert_eq!(answer["sources"], json!({"kings": "subwords"}));
    let expected = library.neighbors("kings", 3).unwrap();
    for (found, expected) in answer["neighbors"].as_array().unwrap().iter().zip(&expected) {
        assert!(
            found["word"] == expected.word && is_near(&found["similarity"], expected.similarity),
            "{answer}"
        );
    }
    let answer = get(ROUTES[1]).await;
    let vector = answer["vector"].as_array().unwrap();
    assert!(
        vector.iter().zip(&*library.vector("kings").unwrap()).all(|(found, &value)| is_near(found, value))
    );
    let answer = get(ROUTES[2]).await;
    assert!(is_near(&answer["similarity"], library.similarity("kings", "queens").unwrap()));
    assert_eq!(answer["sources"], json!({"kings": "subwords", "queens": "subwords"}));
    let answer = get(ROUTES[3]).await;
    let expected = library.analogy("man", "kings", "woman", 2, AnalogyRule::Add).unwrap();
    assert_eq!(answer["answers"][0]["word"], expected[0].word);
    // The words of the service are rare.
    assert_eq!(answer["sources"], json!({"kings": "subwords", "man": "blend", "woman": "blend"}));
    let answer = get(ROUTES[4]).await;
    let expected = library.odd_one_out(&["kings", "queen", "bread"]).unwrap();
    assert_eq!(answer["odd"], expected[0].word);
}

#[tokio::test]
async fn batches_about_unknown_words_have_the_answers_of_single_queries() {
    let client = fitted();
    let library = library(&["kings", "queens", "queen", "man", "woman", "bread"]);
    let post =
        async |route: &str, body: Value| client.post(&format!("/v1/{route}"), body.to_string()).await.good();
    let get = async |route: &str| client.get(&format!("/v1/{route}&subwords=true")).await.good();
    let vector_of = |word: &str| library.vector(word).unwrap().into_owned();

    let answer = post("neighbors", json!({"words": ["kings", "queen"], "n": 3, "subwords": true})).await;
    assert_eq!(answer["sources"], json!({"kings": "subwords", "queen": "blend"}));
    for (place, word) in [(0, "kings"), (1, "queen")] {
        let single = get(&format!("words/{word}/neighbors?n=3")).await;
        assert_eq!(answer["results"][place]["neighbors"], single["neighbors"]);
    }
    let answer = post("vectors", json!({"words": ["bread", "kings"], "subwords": true})).await;
    for (place, word) in [(0, "bread"), (1, "kings")] {
        let values = answer["results"][place]["vector"].as_array().unwrap();
        assert!(values.iter().zip(vector_of(word)).all(|(found, value)| is_near(found, value)), "{answer}");
    }
    let answer =
        post("similarity", json!({"pairs": [["kings", "queens"], ["king", "kings"]], "subwords": true}))
            .await;
    let similarities = [["kings", "queens"], ["king", "kings"]];
    for (place, [a, b]) in similarities.into_iter().enumerate() {
        let single = get(&format!("similarity?a={a}&b={b}")).await;
        assert_eq!(answer["results"][place]["similarity"], single["similarity"]);
    }
    let questions = json!([{"a": "man", "b": "kings", "c": "woman"}, {"expression": "queens - woman + man"}]);
    let answer = post("analogy", json!({"questions": questions, "n": 2, "subwords": true})).await;
    assert_eq!(answer["results"][0]["answers"], get(ROUTES[3]).await["answers"]);
    let expected = library.analogy("woman", "queens", "man", 1, AnalogyRule::Add).unwrap();
    assert_eq!(answer["results"][1]["answers"][0]["word"], expected[0].word);
    let sources = json!({"kings": "subwords", "queens": "subwords", "man": "blend", "woman": "blend"});
    assert_eq!(answer["sources"], sources);
    let questions = json!([["kings", "queen", "bread"], ["man", "woman", "bread"]]);
    let answer = post("odd-one-out", json!({"questions": questions, "subwords": true})).await;
    assert_eq!(answer["results"][0]["odd"], get(ROUTES[4]).await["odd"]);
    assert_eq!(answer["sources"]["kings"], "subwords");

    // Without the setting, an unknown word has an error of its own, and estimates need a table.
    let answer = post("neighbors", json!({"words": ["kings", "queen"]})).await;
    assert_eq!(answer["results"][0]["error"]["code"], "unknown-word");
    assert!(answer["results"][1]["neighbors"].is_array() && answer.get("sources").is_none());
    let body = json!({"words": ["kings"], "subwords": true});
    for route in ["neighbors", "vectors"] {
        let refused = Client::new().post(&format!("/v1/{route}"), body.to_string()).await;
        refused.assert_refused(400, "bad-request", "--subword-buckets");
    }
}

#[tokio::test]
async fn without_the_parameter_or_a_table_an_unknown_word_is_unknown() {
    let (client, unfitted) = (fitted(), Client::with(|settings| settings.subword_buckets = 1_000));
    for route in ROUTES {
        for path in [format!("/v1/{route}"), format!("/v1/{route}&subwords=false")] {
            client.get(&path).await.assert_refused(404, "unknown-word", "`kings` is not in the vocabulary");
        }
        let path = format!("/v1/{route}&subwords=true");
        unfitted.get(&path).await.assert_refused(404, "unknown-word", "`kings` is not in the vocabulary");
        Client::new().get(&path).await.assert_refused(400, "bad-request", "--subword-buckets");
    }
    let plain = client.get("/v1/similarity?a=king&b=man").await.good();
    assert!(is_near(&plain["similarity"], embeddings().similarity("king", "man").unwrap()));
    assert!(plain.get("sources").is_none());
}

#[tokio::test]
async fn after_words_were_forgotten_there_is_no_table() {
    let client = fitted();
    client.service.subwords.forget();
    let path = "/v1/words/kings/vector?subwords=true";
    client.get(path).await.assert_refused(404, "unknown-word", "`kings`");
    let answer = client.get("/v1/words/%00/vector?subwords=maybe").await;
    answer.assert_refused(400, "bad-query", "subwords");
}

#[test]
fn a_running_service_fits_what_it_publishes() {
    let real = Real::with_words(200, |settings| settings.subword_buckets = 1_000);
    let path = "/v1/words/w1x/neighbors?n=1&subwords=true";
    // The fit takes milliseconds; a busy machine may take longer.
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(120);
    while real.get(path).status != 200 {
        assert!(std::time::Instant::now() < deadline, "there is no table");
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(real.get(path).rest().contains(r#""sources":{"w1x":"subwords"}"#));
    assert_eq!(real.get("/v1/words/w1x/neighbors").status, 404);
}
