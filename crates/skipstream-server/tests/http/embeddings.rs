//! Vectors of texts, in the shape of OpenAI's API.

use serde_json::{Value, json};
use skipstream::corpus::{Lines, TextOptions};
use skipstream::embeddings::{DocumentOptions, SubwordOptions, Subwords, Weighting};
use skipstream::vocabulary::Control;
use skipstream::{Config, Progress, Totals, Trainer};
use skipstream_server::{Published, Seen};

use crate::client::{Client, TIME, embeddings};

/// The vector of the library.
fn expected(text: &str, options: DocumentOptions<'_>) -> Vec<f32> {
    let mut vector = vec![0.0; 2];
    let mut lines = Lines::new(text.as_bytes(), "text", &TextOptions::default()).unwrap();
    embeddings().mean_vector(&mut lines, &options.weighting(Weighting::Sif), &mut vector).unwrap();
    vector
}

fn unit<'a>() -> DocumentOptions<'a> {
    DocumentOptions::default().normalize(true)
}

fn values(embedding: &Value) -> Vec<f32> {
    let values = embedding["embedding"].as_array().unwrap_or_else(|| panic!("{embedding}"));
    values.iter().map(|value| value.as_f64().unwrap() as f32).collect()
}

async fn embed(client: &Client, body: Value) -> Value {
    client.post("/v1/embeddings", body.to_string()).await.good()
}

#[tokio::test]
async fn texts_have_the_vectors_of_the_library_in_the_shape_of_openai() {
    let client = Client::new();
    let texts = ["king and queen", "bread\nman", "", "nobody knows", "bread bread", "KING Bread"];
    // Without a model, and with fields that OpenAI may add.
    let body = json!({"input": texts, "user": "u", "stream": true, "allow_null": true});
    let answer = client.post("/v1/embeddings", body.to_string()).await;
    assert_eq!(answer.headers["x-skipstream-seq"], "7");
    assert_eq!(answer.headers["x-skipstream-time"], TIME);
    let list = answer.good();
    assert_eq!((&list["object"], &list["model"]), (&json!("list"), &json!("skipstream")));
    assert_eq!(list["usage"], json!({"prompt_tokens": 11, "total_tokens": 11}));
    let data = list["data"].as_array().unwrap();
    assert_eq!(data.len(), texts.len());
    for (place, (embedding, (text, words))) in
        data.iter().zip(texts.iter().zip([2, 2, 0, 0, 2, 2])).enumerate()
    {
        assert_eq!((&embedding["object"], &embedding["index"]), (&json!("embedding"), &json!(place)));
        assert_eq!(embedding["words"], words, "{text}");
        if words == 0 {
            assert_eq!(embedding["embedding"], json!(null), "{text}");
            continue;
        }
        let found = values(embedding);
        assert_eq!(found, expected(&text.to_lowercase(), unit()), "{text}");
        let norm: f32 = found.iter().map(|value| value * value).sum::<f32>().sqrt();
        assert!((norm - 1.0).abs() < 1e-6, "{text}: {found:?}");
    }

    let one = embed(&client, json!({"model": "any", "input": texts[0], "dimensions": 2})).await;
    assert_eq!(one["data"], json!([data[0]]));
    let raw = embed(&client, json!({"input": texts[0], "normalize": false})).await;
    assert_eq!(values(&raw["data"][0]), expected(texts[0], DocumentOptions::default()));
    let none = embed(&client, json!({"model": "any", "input": []})).await;
    assert_eq!((&none["data"], &none["usage"]["total_tokens"]), (&json!([]), &json!(0)));
}

#[tokio::test]
async fn a_vector_can_be_sent_as_base64() {
    let client = Client::new();
    let body = json!({"model": "any", "input": "king and queen", "encoding_format": "base64"});
    let list = embed(&client, body).await;
    let text = list["data"][0]["embedding"].as_str().unwrap();
    // Two floats are 8 bytes, so 12 characters.
    assert_eq!(text.len(), 12);
    let expected: Vec<u8> =
        expected("king and queen", unit()).iter().flat_map(|value| value.to_le_bytes()).collect();
    use base64::Engine;
    assert_eq!(base64::prelude::BASE64_STANDARD.decode(text).unwrap(), expected);
}

#[tokio::test]
async fn texts_are_split_as_the_model_splits_text() {
    let mut config = Config { dimensions: 4, subsample: 0.0, ..Config::default() };
    config.text.lowercase = true;
    let mut trainer = Trainer::new(config.clone()).unwrap();
    trainer.train_source(&mut Lines::new("tea with milk".as_bytes(), "text", &config.text).unwrap()).unwrap();
    let client = Client::new();
    let (time, embeddings) = (TIME.parse().unwrap(), trainer.embeddings().unwrap());
    let progress = Progress { tokens: 3, totals: Totals::default(), vocabulary: 3, evictions: 0 };
    let seen = vec![Seen { first: time, last: time }; 3];
    client.service.publish(Published::new(8, time, embeddings, seen, progress));
    let list = embed(&client, json!({"model": "any", "input": ["TEA Milk", "tea milk"]})).await;
    assert_eq!(list["data"][0]["words"], 2);
    assert_eq!(list["data"][0]["embedding"], list["data"][1]["embedding"]);
}

#[tokio::test]
async fn unknown_words_are_estimated_if_the_service_has_a_table() {
    let options = SubwordOptions { buckets: 1_000, ..SubwordOptions::default() };
    let subwords = Subwords::fit(&embeddings(), &options, Some(1)).unwrap();
    let client = Client::with(|settings| settings.subword_buckets = 1_000);
    client.service.subwords.replace(subwords.clone(), 0);
    let list = embed(&client, json!({"model": "any", "input": "kings queens"})).await;
    assert_eq!(list["data"][0]["words"], 2);
    assert_eq!(values(&list["data"][0]), expected("kings queens", unit().subwords(Some(&subwords))));
}

#[tokio::test]
async fn a_text_without_a_known_word_is_an_error_that_has_its_words() {
    let client = Client::new();
    let body = json!({"model": "any", "input": ["king", "nobody knows nobody"]}).to_string();
    let answer = client.post("/v1/embeddings", body).await;
    answer.assert_refused(
        422,
        "unknown-words",
        "input[1] has no known word: `nobody`, `knows`; send \"allow_null\": true to get null for it",
    );
    assert_eq!(answer.json()["error"]["missed"], json!(["nobody", "knows"]));
    let empty = client.post("/v1/embeddings", json!({"input": ""}).to_string()).await;
    empty.assert_refused(422, "unknown-words", "input[0] has no words");
    assert_eq!(empty.json()["error"]["missed"], json!([]));
}

#[tokio::test]
async fn phrases_are_joined_and_merged_words_replaced() {
    let mut trainer = Trainer::new(Config { dimensions: 4, ..Config::default() }).unwrap();
    trainer.add_phrases(["new york"]).unwrap();
    let merge = Control::Merge { word: "colour".to_owned(), into: "color".to_owned() };
    trainer.control([merge]).unwrap();
    trainer.train_lines("new york has color new colour".as_bytes()).unwrap();
    let client = Client::new();
    let (time, embeddings) = (TIME.parse().unwrap(), trainer.embeddings().unwrap());
    let progress = trainer.progress();
    let seen = vec![Seen { first: time, last: time }; embeddings.len()];
    client.service.publish(Published::new(8, time, embeddings, seen, progress));
    let texts = ["New York", "new_york", "york new", "colour", "color"];
    let list = embed(&client, json!({"input": texts})).await;
    let [joined, phrase, others, merged, color] = [0, 1, 2, 3, 4].map(|place| values(&list["data"][place]));
    assert_eq!((joined, merged), (phrase.clone(), color));
    assert_ne!(phrase, others);
}

#[tokio::test]
async fn up_to_2048_texts_can_be_sent_at_once() {
    let client = Client::new();
    let list = embed(&client, json!({"input": vec!["king"; 2_048]})).await;
    assert_eq!(list["data"].as_array().unwrap().len(), 2_048);
}

#[tokio::test]
async fn the_model_is_listed_as_openai_does() {
    let list = Client::new().get("/v1/models").await.good();
    let created = TIME.parse::<jiff::Timestamp>().unwrap().as_second();
    let model = json!({"id": "skipstream", "object": "model", "created": created, "owned_by": "skipstream"});
    assert_eq!(list, json!({"object": "list", "data": [model]}));
}

#[tokio::test]
async fn invalid_requests_are_rejected() {
    let client = Client::new();
    let many = json!({"model": "any", "input": vec!["a"; 2_049]}).to_string();
    for (body, reason) in [
        ("{}", "missing field `input`"),
        (r#"{"model": "any"}"#, "missing field `input`"),
        (r#"{"model": "any", "input": 5}"#, "expected a text or a list of texts"),
        (r#"{"model": "any", "input": {"text": "a"}}"#, "expected a text or a list of texts"),
        (
            r#"{"model": "any", "input": [1, 2]}"#,
            "input[0]: invalid type: integer `1`, expected a text; token numbers",
        ),
        (r#"{"model": "any", "input": [[1, 2]]}"#, "invalid type: sequence, expected a text; token numbers"),
        (r#"{"model": "any", "input": ["a", null]}"#, "invalid type: null, expected a text"),
        (r#"{"model": "any", "input": "a", "encoding_format": "hex"}"#, "unknown variant `hex`"),
        (r#"{"model": "any", "input": "a", "dimensions": 0}"#, "0 is out of range"),
        (r#"{"input": "a", "normalize": "no"}"#, "normalize: invalid type: string"),
        (r#"{"input": [[1, 2]]}"#, "check_embedding_ctx_length=False"),
        (r#"{"input": [1, 2]}"#, "check_embedding_ctx_length=False"),
        (&many, "the list is longer than 2048"),
    ] {
        client.post("/v1/embeddings", body).await.assert_refused(400, "bad-json", reason);
    }
    let shorter = r#"{"model": "any", "input": "a", "dimensions": 64}"#;
    let message = "dimensions is 64; the model has 2, and its vectors cannot be shortened: omit it";
    client.post("/v1/embeddings", shorter).await.assert_refused(400, "bad-request", message);
    let long = json!({"model": "any", "input": "a ".repeat(3 << 20)}).to_string();
    client.post("/v1/embeddings", long).await.assert_refused(413, "too-large", "larger than 4194304 bytes");
}
