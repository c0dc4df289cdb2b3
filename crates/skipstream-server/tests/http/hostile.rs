//! Malicious requests, and what the log says about them.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use axum::body::Body;
use axum::http::{HeaderName, HeaderValue, Method, header};

use crate::client::{ADMIN, Client, READ, request};

#[tokio::test]
async fn paths_cannot_lead_out() {
    let client = Client::new();
    for path in [
        "/../Cargo.toml",
        "/v1/../../etc/passwd",
        "/v1/words/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "/v1/words/..%2f..%2ftokens/neighbors",
        "/v1/words/%00",
        "/v1/words/a%00b/vector",
        "/v1/words/%ff",
        "/v1/words/%c0%ae%c0%ae",
        "/v1/words/%0d%0aset-cookie:%20a=b",
        "/v1/words/';%20DROP%20TABLE%20chunks;--",
        "/v1/words/\"%20OR%201=1",
        "/v1/words//neighbors",
        "/v1/snapshots/..%2f..%2fmodel.safetensors",
        "/page/..%2f..%2fsrc%2flib.rs",
        "/page/%ff",
        "//v1//stats",
        "/v1/export?format=../../etc/passwd",
        "/v1/text/1%27%20OR%201=1/wait",
        "/v1/text/99999999999999999999999/wait",
        "/v1/text/1e3/wait",
    ] {
        let answer = client.get(path).await;
        let (status, ..) = answer.refusal();
        assert!((400..500).contains(&status), "{path}: {status}");
        assert!(!answer.headers.contains_key(header::SET_COOKIE), "{path}");
    }
}

#[tokio::test]
async fn invalid_query_parameters_are_rejected() {
    let client = Client::new();
    for (path, reason) in [
        ("/v1/words?n=0", "n: 0 is out of range; it must be from 1 to 1000"),
        ("/v1/words?n=1001", "n: 1001 is out of range"),
        ("/v1/words?n=NaN", "a whole number from 1 to 1000"),
        ("/v1/words?n=1e400", "a whole number from 1 to 1000"),
        ("/v1/words?n=-1", "a whole number from 1 to 1000"),
        ("/v1/words?n=1;DROP%20TABLE", "a whole number from 1 to 1000"),
        ("/v1/words?n=1&n=2", "given 2 times"),
        ("/v1/words?prefix=%ff", "is not UTF-8"),
        ("/v1/words?wrong=1", "unknown field `wrong`"),
        ("/v1/similarity?a=king", "missing field `b`"),
        ("/v1/similarity?a=king&b=", "the word has 0 characters"),
        ("/v1/odd-one-out?word=a&word=b", "the list has length 2; it must be from 3 to 100"),
        ("/v1/analogy?a=king&b=man&c=queen&rule=divide", "unknown variant `divide`"),
        ("/v1/export?format=glove", "unknown variant `glove`"),
        ("/v1/export?top=0", "top: 0 is out of range"),
    ] {
        client.get(path).await.assert_refused(400, "bad-query", reason);
    }
    let long = format!("/v1/words?prefix={}", "x".repeat(1_001));
    client.get(&long).await.assert_refused(400, "bad-request", "the limit is 1000");
}

#[tokio::test]
async fn invalid_json_is_rejected() {
    let client = Client::new();
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    let many = format!(r#"{{"words": [{}]}}"#, vec!["\"a\""; 1_001].join(","));
    for (body, reason) in [
        ("", "EOF"),
        ("{", "EOF"),
        ("[]", "the body"),
        (r#"{"words": ["a"], "words": ["b"]}"#, "duplicate field `words`"),
        (r#"{"words": ["a"], "n": NaN}"#, "expected value"),
        (r#"{"words": ["a"], "n": 1e999}"#, "number out of range"),
        (r#"{"words": ["a"], "n": 1.5}"#, "a whole number from 1 to 1000"),
        (r#"{"words": ["a"], "n": "5"}"#, "a whole number from 1 to 1000"),
        (r#"{"words": ["a"], "n": 99999999999999999999}"#, "a whole number from 1 to 1000"),
        (r#"{"words": [7]}"#, "words[0]: invalid type"),
        (r#"{"words": ["\ud800"]}"#, "the body"),
        (r#"{"words": ["a"], "__proto__": {}}"#, "unknown field `__proto__`"),
        (r#"{"words": ["a"]} {"words": []}"#, "trailing characters"),
        (&deep, "the body"),
        (&many, "the list is longer than 1000"),
        (r#"{"vectors": [[1, null]]}"#, "vectors[0][1]"),
    ] {
        client.post("/v1/neighbors", body).await.assert_refused(400, "bad-json", reason);
    }
    client.post("/v1/neighbors", "{}").await.assert_refused(
        400,
        "bad-request",
        "neither of `words` and `vectors`",
    );
    let both = r#"{"words": [], "vectors": []}"#;
    client.post("/v1/neighbors", both).await.assert_refused(
        400,
        "bad-request",
        "both of `words` and `vectors`",
    );
    let too_many = format!(r#"{{"words": [{}], "n": 1000}}"#, vec!["\"king\""; 101].join(","));
    client.post("/v1/neighbors", too_many).await.assert_refused(400, "bad-request", "the limit is 100000");
    let huge = format!(r#"{{"words": ["{}"]}}"#, "x".repeat(17 << 20));
    client.post("/v1/neighbors", huge).await.assert_refused(413, "too-large", "larger than 4194304 bytes");
    let form = request(Method::POST, "/v1/neighbors", Body::from("words=a"));
    client.send(form).await.assert_refused(415, "unsupported-type", "it must be application/json");
}

#[tokio::test]
async fn a_request_id_is_kept_only_where_it_is_a_name() {
    let client = Client::with_tokens();
    let id = HeaderName::from_static("x-request-id");
    let ask = |value: &[u8]| {
        let mut asked = request(Method::GET, "/healthz", Body::empty());
        asked.headers_mut().insert(id.clone(), HeaderValue::from_bytes(value).unwrap());
        client.send(asked)
    };
    assert_eq!(ask(b"order-7.b_2").await.headers[&id], "order-7.b_2");
    let long = [b'x'; 65];
    for wrong in [&b"a b"[..], b"a\tb", b"<script>", b"\xff", b"{\"a\":1}", &long, ADMIN.as_bytes()] {
        let made = ask(wrong).await.headers[&id].clone();
        assert!(
            made.len() == 16 && made.to_str().unwrap().bytes().all(|byte| byte.is_ascii_hexdigit()),
            "{made:?}"
        );
    }
}

/// The log.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn no_token_and_no_word_is_logged() {
    let captured = Captured::default();
    let writer = captured.clone();
    let logging = tracing_subscriber::fmt()
        .with_max_level(tracing::level_filters::LevelFilter::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    // For all tests of this program: theirs must not show a secret either.
    tracing::subscriber::set_global_default(logging).unwrap();

    let client = Client::with_tokens();
    let bearer = format!("Bearer {ADMIN}");
    for path in [
        "/v1/words/secretword/neighbors?n=3".to_owned(),
        format!("/v1/words/{ADMIN}"),
        format!("/v1/words?prefix={ADMIN}"),
        format!("/v1/stats?token={ADMIN}"),
        format!("/{ADMIN}"),
        format!("/page/{ADMIN}.js"),
    ] {
        for token in [&bearer, &format!("Bearer {ADMIN}-wrong"), &format!("Basic {ADMIN}")] {
            let mut asked = request(Method::GET, &path, Body::empty());
            for name in [
                header::AUTHORIZATION,
                header::COOKIE,
                header::USER_AGENT,
                HeaderName::from_static("x-request-id"),
            ] {
                asked.headers_mut().insert(name, HeaderValue::from_str(token).unwrap());
            }
            client.send(asked).await;
        }
    }
    for (path, body) in [
        ("/v1/text", format!("secretword {ADMIN}\n")),
        ("/v1/neighbors", format!(r#"{{"words": ["{ADMIN}"]}}"#)),
        ("/v1/neighbors", format!(r#"{{"{ADMIN}": 1}}"#)),
    ] {
        let mut asked = request(Method::POST, path, Body::from(body));
        asked.headers_mut().insert(header::AUTHORIZATION, HeaderValue::from_str(&bearer).unwrap());
        asked.headers_mut().insert(
            header::CONTENT_TYPE,
            HeaderValue::from_static(if path == "/v1/text" { "text/plain" } else { "application/json" }),
        );
        asked
            .headers_mut()
            .insert(HeaderName::from_static("idempotency-key"), HeaderValue::from_static(ADMIN));
        client.send(asked).await;
    }
    // A file that makes no sense is complained about without showing it.
    std::fs::write(client.service.settings.tokens.as_ref().unwrap(), format!("{ADMIN} admin\n")).unwrap();
    assert!(skipstream_server::check(&client.service.settings).is_err());

    let log = String::from_utf8(captured.0.lock().unwrap().clone()).unwrap();
    assert!(log.contains("route=\"/v1/words/{word}/neighbors\"") && log.contains("status=404"), "{log}");
    for secret in [ADMIN, READ, "secretword", "?n="] {
        assert!(!log.contains(secret), "{secret} in {log}");
    }
}
