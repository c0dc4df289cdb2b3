//! Vectors of texts, in the shape of OpenAI's API.

use serde_json::{Value, json};
use skipstream::corpus::{Lines, TextOptions};
use skipstream::embeddings::{DocumentOptions, SubwordOptions, Subwords, Weighting};
use skipstream::{Config, Progress, Totals, Trainer};
use skipstream_server::{Published, Seen};

use crate::client::{Client, TIME, embeddings};

/// The vector of the library.
fn expected(text: &str, subwords: Option<&Subwords>) -> Vec<f32> {
    let mut vector = vec![0.0; 2];
    let mut lines = Lines::new(text.as_bytes(), "text", &TextOptions::default()).unwrap();
    let options = DocumentOptions::default().weighting(Weighting::Sif).subwords(subwords);
    embeddings().mean_vector(&mut lines, &options, &mut vector).unwrap();
    vector
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
    let texts = ["king and queen", "bread\nman", "", "nobody knows", "bread bread"];
    let answer =
        client.post("/v1/embeddings", json!({"model": "any", "input": texts, "user": "u"}).to_string()).await;
    assert_eq!(answer.headers["x-skipstream-seq"], "7");
    assert_eq!(answer.headers["x-skipstream-time"], TIME);
    let list = answer.good();
    assert_eq!((&list["object"], &list["model"]), (&json!("list"), &json!("skipstream")));
    assert_eq!(list["usage"], json!({"prompt_tokens": 9, "total_tokens": 9}));
    let data = list["data"].as_array().unwrap();
    assert_eq!(data.len(), texts.len());
    for (place, (embedding, (text, words))) in data.iter().zip(texts.iter().zip([2, 2, 0, 0, 2])).enumerate()
    {
        assert_eq!((&embedding["object"], &embedding["index"]), (&json!("embedding"), &json!(place)));
        assert_eq!(embedding["words"], words, "{text}");
        assert_eq!(values(embedding), expected(text, None), "{text}");
    }
    assert_eq!(values(&data[3]), [0.0, 0.0]);

    let one = embed(&client, json!({"model": "any", "input": texts[0], "dimensions": 2})).await;
    assert_eq!(one["data"], json!([data[0]]));
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
        expected("king and queen", None).iter().flat_map(|value| value.to_le_bytes()).collect();
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
    assert_eq!(values(&list["data"][0]), expected("kings queens", Some(&subwords)));
}

#[tokio::test]
async fn invalid_requests_are_rejected() {
    let client = Client::new();
    let many = json!({"model": "any", "input": vec!["a"; 1_001]}).to_string();
    for (body, reason) in [
        ("{}", "missing field `model`"),
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
        (r#"{"model": "any", "input": "a", "stream": true}"#, "unknown field `stream`"),
        (&many, "the list is longer than 1000"),
    ] {
        client.post("/v1/embeddings", body).await.assert_refused(400, "bad-json", reason);
    }
    let shorter = r#"{"model": "any", "input": "a", "dimensions": 64}"#;
    let message = "dimensions is 64; the model has 2, and its vectors cannot be shortened: omit it";
    client.post("/v1/embeddings", shorter).await.assert_refused(400, "bad-request", message);
    let long = json!({"model": "any", "input": "a ".repeat(3 << 20)}).to_string();
    client.post("/v1/embeddings", long).await.assert_refused(413, "too-large", "larger than 4194304 bytes");
}
