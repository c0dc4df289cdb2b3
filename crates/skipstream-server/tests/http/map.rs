//! Maps of words.

use serde_json::{Value, json};

use crate::client::Client;

fn words(answer: &Value) -> Vec<&str> {
    answer["points"].as_array().unwrap().iter().map(|point| point["word"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn words_have_places_on_a_map() {
    let client = Client::new();
    for method in ["pca", "tsne"] {
        let answer = client.get(&format!("/v1/map?n=4&method={method}")).await.good();
        assert_eq!((&answer["method"], &answer["snapshot"]["seq"]), (&json!(method), &json!(7)));
        assert_eq!(words(&answer), ["king", "queen", "man", "woman"]);
        let first = &answer["points"][0];
        assert_eq!((&first["count"], &first["rank"]), (&json!(50), &json!(1)));
        for point in answer["points"].as_array().unwrap() {
            let within = |axis: &str| (-1.0..=1.0).contains(&point[axis].as_f64().unwrap());
            assert!(within("x") && within("y"), "{point}");
        }
        let around = client.get(&format!("/v1/map?n=2&around=queen&method={method}")).await.good();
        assert_eq!(words(&around), ["queen", "king", "woman"]);
    }
    assert_eq!(words(&client.get("/v1/map").await.good()).len(), 6);
}

#[tokio::test]
async fn a_map_has_limits() {
    let client = Client::new();
    client.get("/v1/map?n=501&method=tsne").await.assert_refused(400, "bad-request", "from 1 to 500");
    client.get("/v1/map?n=501").await.assert_refused(400, "bad-request", "from 1 to 500");
    client.get("/v1/map?n=2001").await.assert_refused(400, "bad-query", "from 1 to 2000");
    client.get("/v1/map?around=nobody").await.assert_refused(404, "unknown-word", "nobody");
    client.get("/v1/map?method=umap").await.assert_refused(400, "bad-query", "method");
}
