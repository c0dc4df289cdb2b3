//! Health, stats, and the OpenAPI document.

use axum::body::Body;
use axum::http::{Method, header};
use serde_json::{Value, json};

use crate::client::{Client, request};
use crate::real::{Real, Reply};

#[tokio::test]
async fn a_service_is_alive_and_ready_until_it_stops() {
    let client = Client::new();
    assert_eq!(client.get("/healthz").await.body, b"ok\n");
    // Whoever has no token may know this, and no more.
    assert_eq!(client.get("/readyz").await.body, b"ok\n");
    client.service.stop();
    client.get("/readyz").await.assert_refused(503, "stopping", "the service is stopping");
    assert_eq!(client.get("/healthz").await.body, b"ok\n");
}

#[cfg(unix)]
#[tokio::test]
async fn text_is_refused_after_the_data_folder_was_deleted() {
    let client = Client::new();
    let text = || request(Method::POST, "/v1/text", Body::from("tea"));
    assert_eq!(client.send(text()).await.status, 200);
    std::fs::remove_dir_all(&client.service.settings.data).unwrap();
    client.send(text()).await.assert_refused(503, "not-ready", "could not write to the log");
    let refused = client.get("/readyz").await;
    refused.assert_refused(503, "not-ready", "the log was deleted or replaced while in use");
    assert!(!String::from_utf8_lossy(&refused.body).contains('/'), "no path");
}

#[tokio::test]
async fn stats_tell_how_the_service_does() {
    let client = Client::new();
    let stats = client.get("/v1/stats").await.good();
    assert_eq!(
        (&stats["words"], &stats["vocabulary"], &stats["evictions"]),
        (&json!(200), &json!(6), &json!(3))
    );
    assert_eq!(stats["queue"], json!({"bytes": 0, "limit_bytes": 256 << 20, "lines": 0}));
    assert_eq!((&stats["checkpoint"], &stats["problem"]), (&json!(null), &json!(null)));
    assert_eq!(stats["memory"]["bound_bytes"], 99);
    assert_eq!((&stats["max_vocabulary"], &stats["settings"]["dimensions"]), (&json!(100_000), &json!(100)));
}

#[tokio::test]
async fn every_response_has_security_headers() {
    let client = Client::new();
    for path in ["/v1/stats", "/nothing", "/v1/words/nobody", "/healthz", "/openapi.json"] {
        let answer = client.get(path).await;
        assert_eq!(answer.headers[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
        assert_eq!(answer.headers[header::REFERRER_POLICY], "no-referrer");
        let policy = answer.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap();
        assert!(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"));
        assert!(answer.headers.contains_key("x-request-id"));
    }
    let page = client.get("/").await;
    assert!(page.headers[header::CONTENT_SECURITY_POLICY].to_str().unwrap().contains("script-src 'self'"));
}

#[tokio::test]
async fn unknown_paths_and_methods_are_json_errors() {
    let client = Client::new();
    client.get("/v2").await.assert_refused(404, "not-found", "/openapi.json lists all paths");
    let answer = client.post("/v1/stats", "{}").await;
    answer.assert_refused(405, "method-not-allowed", "POST is not allowed");
    assert_eq!(answer.headers[header::ALLOW], "GET,HEAD");
}

/// All schemas within a value.
fn schemas<'a>(value: &'a Value, found: &mut Vec<&'a Value>) {
    found.push(value);
    match value {
        Value::Array(values) => values.iter().for_each(|value| schemas(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| schemas(value, found)),
        _ => {}
    }
}

#[tokio::test]
async fn every_operation_has_a_unique_id_and_described_responses() {
    let document = Client::new().get("/openapi.json").await.good();
    let mut names = std::collections::HashSet::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let name = operation["operationId"].as_str().unwrap();
            assert!(names.insert(name.to_owned()), "{name} of {method} {path} is there twice");
            for (status, answer) in operation["responses"].as_object().unwrap() {
                let description = answer["description"].as_str().unwrap_or_default();
                assert!(!description.is_empty(), "{status} of {method} {path}");
            }
        }
    }
    assert!(names.contains("get_words_word_neighbors") && names.contains("post_text"), "{names:?}");
}

#[tokio::test]
async fn the_schemas_are_consistent() {
    let document = Client::new().get("/openapi.json").await.good();
    let mut found = Vec::new();
    schemas(&document, &mut found);
    for schema in found {
        let note = schema["allOf"].as_array().and_then(|parts| {
            parts.iter().find(|part| part["type"] == "object" && part["properties"].is_null())
        });
        assert!(note.is_none(), "{schema}");
        if let Some(reference) = schema["$ref"].as_str() {
            assert!(document.pointer(&reference[1..]).is_some(), "{reference}");
        }
    }
    let answers = &document["components"]["schemas"]["AnalogyQuestions"]["properties"]["questions"];
    assert_eq!((&answers["type"], &answers["maxItems"]), (&json!("array"), &json!(1000)));
    assert_eq!(document["paths"]["/v1/text"]["post"]["requestBody"]["required"], false);
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let statuses = operation["responses"].as_object().unwrap();
            let is_public = path == "/healthz" || path == "/readyz";
            assert_eq!(!is_public, statuses.contains_key("401"), "{method} {path}");
        }
    }
}

#[tokio::test]
async fn measurements_are_kept() {
    let client = Client::new();
    assert_eq!(client.get("/v1/stats/history").await.good(), json!({"samples": []}));
    client.service.samples.measure(&client.service);
    let sample = client.get("/v1/stats/history").await.good()["samples"][0].clone();
    assert_eq!((&sample["words"], &sample["vocabulary"]), (&json!(200), &json!(6)));
    assert!(sample["requests_per_second"].as_f64().unwrap() > 0.0 && sample["latency_ms"].is_number());
    assert!(sample["disk_bytes"].as_u64().unwrap() > 0);
}

#[tokio::test]
async fn settings_are_listed_with_their_meaning_and_without_secrets() {
    let client = Client::with(|settings| {
        settings.keep_recent = 3;
        settings.exec = vec!["curl -H secret".to_owned()];
    });
    let answer = client.get("/v1/settings").await;
    assert!(!String::from_utf8_lossy(&answer.body).contains("secret"));
    let all = answer.good();
    let find = |kind: &str, name: &str| -> Value {
        let mut list = all[kind].as_array().unwrap().iter();
        list.find(|setting| setting["name"] == name).cloned().unwrap_or_default()
    };
    let keep = find("service", "keep_recent");
    assert_eq!((&keep["value"], &keep["default"]), (&json!(3), &json!(48)));
    assert_eq!(keep["help"], "Number of recent snapshots to keep");
    assert_eq!(find("service", "publish_every")["value"], "2s");
    assert_eq!(find("service", "queue_size")["value"], "256Mi");
    assert_eq!(find("service", "exec"), Value::Null);
    let dimensions = find("model", "dimensions");
    assert_eq!((&dimensions["value"], &dimensions["default"]), (&json!(100), &json!(100)));
}

#[test]
fn a_pinned_word_that_has_not_occurred_was_never_seen() {
    let real = Real::with_words(100, |_| {});
    let pin = r#"{"controls":[{"pin":{"word":"cocoa"}}]}"#;
    real.send("POST", "/v1/controls", "application/json", pin).body().unwrap();
    let word = |path: &str| String::from_utf8(real.get(path).body().unwrap()).unwrap();
    let cocoa = word("/v1/words/cocoa");
    assert!(
        cocoa.contains(r#""count":0,"#) && cocoa.contains(r#""first_seen":null,"last_seen":null"#),
        "{cocoa}"
    );
    let seen = word("/v1/words/w7");
    assert!(seen.contains(r#""first_seen":"2"#) && !seen.contains("null"), "{seen}");
}

#[test]
fn words_are_pinned_blocked_merged_and_forgotten() {
    let real = Real::with_words(100, |_| {});
    let text = |reply: Reply| String::from_utf8(reply.body().unwrap()).unwrap();
    let control = |json: &str| text(real.send("POST", "/v1/controls", "application/json", json));
    let done = control(r#"{"controls":[{"pin":{"word":"cocoa"}},{"block":{"word":"w7"}}]}"#);
    let expected =
        r#"{"controls":[{"word":"cocoa","changed":true,"left":null},{"word":"w7","changed":true,"left":1}]}"#;
    assert!(done.contains(expected), "{done}");
    // They are published when the response is sent.
    assert!(text(real.get("/v1/words/w7")).contains("unknown-word"));
    assert!(!text(real.get("/v1/words/cocoa")).contains("unknown-word"));
    control(
        r#"{"controls":[{"merge":{"word":"w8","into":"w9"}},{"forget":{"word":"w10","keep_out":true}}]}"#,
    );
    let lists = text(real.get("/v1/controls"));
    let expected = r#"{"pinned":["cocoa"],"blocked":["w7"],"kept_out":1,"merged":{"w8":"w9"}}"#;
    assert!(lists.contains(expected), "{lists}");
    let refused = control(r#"{"controls":[{"block":{"word":"cocoa"}}]}"#);
    assert!(refused.contains("control-refused") && refused.contains("`cocoa` is pinned"), "{refused}");
    assert!(control(r#"{"controls":[{"block":{"word":"two words"}}]}"#).contains("not-a-token"));
    assert!(control(r#"{"controls":[]}"#).contains("bad-request"));
    assert!(control(r#"{"controls":[{"praise":{"word":"w1"}}]}"#).contains("bad-json"));
}
