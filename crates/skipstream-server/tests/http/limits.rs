//! Limits, metrics and downloads.

use std::convert::Infallible;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, header};
use futures_util::{StreamExt, stream};
use skipstream::Vectors;
use skipstream::formats;
use tower::ServiceExt;

use crate::client::{Client, embeddings, request};

/// A request body that never ends.
fn endless(path: &str) -> Request<Body> {
    let body = Body::from_stream(stream::pending::<Result<Bytes, Infallible>>());
    let mut request = request(Method::POST, path, body);
    request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    request
}

#[tokio::test]
async fn a_question_that_takes_too_long_ends_and_one_too_many_is_turned_away() {
    let client = Client::with(|settings| {
        settings.max_requests = 1;
        settings.request_timeout = Duration::from_millis(300);
    });
    let others = async {
        tokio::task::yield_now().await;
        let busy = client.post("/v1/vectors", r#"{"words": []}"#).await;
        busy.assert_refused(503, "busy", "there are already 1 requests of this kind, which is the limit");
        assert_eq!(busy.headers[header::RETRY_AFTER], "1");
        // The other lanes have places of their own.
        for path in ["/healthz", "/v1/words/king", "/v1/words", "/v1/words/king/neighbors", "/v1/export"] {
            assert_eq!(client.get(path).await.status, 200, "{path}");
        }
        assert_eq!(client.send(request(Method::POST, "/v1/text", Body::from("tea"))).await.status, 200);
    };
    let (late, ()) = tokio::join!(client.send(endless("/v1/similarity")), others);
    late.assert_refused(408, "timeout", "no answer within the timeout of 0.3 seconds");
    assert_eq!(client.post("/v1/vectors", r#"{"words": []}"#).await.status, 200);
}

#[tokio::test]
async fn slow_bodies_keep_no_long_one_waiting() {
    let client = Client::new();
    let slow: Vec<_> = (0..20)
        .map(|_| {
            let begun = stream::iter([Ok::<_, Infallible>(Bytes::from("[".repeat(70 << 10)))]);
            let body = Body::from_stream(begun.chain(stream::pending()));
            let mut request = request(Method::POST, "/v1/similarity", body);
            request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
            tokio::spawn(client.router.clone().oneshot(request))
        })
        .collect();
    tokio::task::yield_now().await;
    let words = serde_json::json!({ "words": vec!["king"; 1_000], "n": 1, "min_count": 0 });
    let body = format!("{words}{}", " ".repeat(3 << 20));
    let mut long = request(Method::POST, "/v1/neighbors", Body::from(body));
    long.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    assert_eq!(client.send(long).await.status, 200);
    slow.into_iter().for_each(|one| one.abort());
}

#[tokio::test]
async fn an_upload_that_pauses_gives_way_to_others_and_keeps_what_was_accepted() {
    let client = Client::with(|settings| {
        settings.max_requests = 1;
        settings.request_timeout = Duration::from_millis(300);
    });
    let begun = stream::iter([Ok::<_, Infallible>(Bytes::from("one\ntwo\nthr"))]);
    let body = Body::from_stream(begun.chain(stream::pending()));
    let upload = request(Method::POST, "/v1/text", body);
    let other = || request(Method::POST, "/v1/text", Body::from("tea"));
    let others = async {
        tokio::task::yield_now().await;
        client.send(other()).await.assert_refused(503, "busy", "which is the limit");
        tokio::time::sleep(Duration::from_millis(600)).await;
        assert_eq!(client.send(other()).await.status, 200);
    };
    let (stalled, ()) = tokio::join!(client.send(upload), others);
    stalled.assert_refused(408, "stalled", "and other uploads need the place");
    assert_eq!(client.service.log.last(), 3);
}

#[tokio::test]
async fn an_upload_that_drips_gives_way_to_others() {
    let client = Client::with(|settings| {
        settings.max_requests = 1;
        settings.request_timeout = Duration::from_millis(300);
    });
    let drops = stream::unfold((), |()| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        Some((Ok::<_, Infallible>(Bytes::from("tea\n")), ()))
    });
    let upload = request(Method::POST, "/v1/text", Body::from_stream(drops));
    let others = async {
        let other = || request(Method::POST, "/v1/text", Body::from("milk"));
        while client.send(other()).await.status != 200 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let both = async { tokio::join!(client.send(upload), others) };
    let (dripped, ()) = tokio::time::timeout(Duration::from_secs(30), both).await.unwrap();
    dripped.assert_refused(408, "stalled", "less than 16 KiB per second for");
    assert!(client.service.log.last() > 1, "what arrived is logged");
}

#[tokio::test]
async fn listeners_do_not_block_uploads() {
    let client = Client::with(|settings| settings.max_requests = 1);
    let listening = request(Method::GET, "/v1/events", Body::empty());
    let _stream = client.router.clone().oneshot(listening).await.unwrap();
    client.get("/v1/events").await.assert_refused(503, "busy", "");
    assert_eq!(client.send(request(Method::POST, "/v1/text", Body::from("tea"))).await.status, 200);
}

#[tokio::test]
async fn metrics_are_what_prometheus_reads() {
    let client = Client::new();
    client.get("/v1/words/king").await.good();
    client.get("/v1/words/nobody").await;
    client.get("/no/such/path").await;
    let answer = client.get("/metrics").await;
    assert_eq!(
        answer.headers[header::CONTENT_TYPE],
        "application/openmetrics-text; version=1.0.0; charset=utf-8"
    );
    let text = String::from_utf8(answer.body).unwrap();
    assert!(text.ends_with("# EOF\n"));
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let (name, value) = line.rsplit_once(' ').unwrap();
        value.parse::<f64>().unwrap_or_else(|_| panic!("{line}"));
        let bare = name.split('{').next().unwrap();
        assert!(
            bare.starts_with("skipstream_")
                && bare.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        );
        assert_eq!(name.contains('{'), name.ends_with('}'), "{line}");
        assert!(!name.contains("king") && !name.contains("nobody"), "{line}");
    }
    for line in [
        "skipstream_words_learned_total 200",
        "skipstream_evictions_total 3",
        "skipstream_vocabulary 6.0",
        "skipstream_published_seq 7.0",
        "skipstream_queue_bytes 0.0",
        r#"skipstream_http_requests_total{method="GET",route="/v1/words/{word}",status="200"} 1"#,
        r#"skipstream_http_requests_total{method="GET",route="/v1/words/{word}",status="404"} 1"#,
        r#"skipstream_http_requests_total{method="GET",route="none",status="404"} 1"#,
        r#"skipstream_http_request_duration_seconds_count{route="/v1/words/{word}"} 2"#,
    ] {
        assert!(text.lines().any(|found| found == line), "{line} in {text}");
    }
    for name in [
        "words_per_second",
        "loss",
        "snapshot_age_seconds",
        "logged_seq",
        "checkpoint_seq",
        "resident_memory_bytes",
    ] {
        assert!(text.contains(&format!("\nskipstream_{name} ")), "{name} in {text}");
    }
}

#[tokio::test]
async fn a_download_is_a_file_that_the_library_reads() {
    let client = Client::new();
    let folder = tempfile::tempdir().unwrap();
    for (format, name) in [
        ("safetensors", "vectors.safetensors"),
        ("word2vec-binary", "vectors.bin"),
        ("finalfusion", "vectors.fifu"),
        ("npy", "vectors-npy.tar"),
        ("projector", "vectors-projector.tar"),
    ] {
        let answer = client.get(&format!("/v1/export?format={format}&top=5")).await;
        assert_eq!(answer.status, 200, "{format}");
        let disposition = answer.headers[header::CONTENT_DISPOSITION].to_str().unwrap();
        assert_eq!(disposition, format!("attachment; filename=\"{name}\""));
        assert_eq!(answer.headers["x-skipstream-seq"], "7");
        // The length of text is found by writing it.
        let length = answer.headers.get(header::CONTENT_LENGTH);
        let length = length.map(|length| length.to_str().unwrap().parse::<usize>().unwrap());
        assert_eq!(length, (format != "projector").then_some(answer.body.len()), "{format}");
        let path = if name.ends_with(".tar") {
            let place = folder.path().join(format);
            tar::Archive::new(&answer.body[..]).unpack(&place).unwrap();
            if format == "npy" { place.join("vectors.npy") } else { place }
        } else {
            let path = folder.path().join(name);
            std::fs::write(&path, &answer.body).unwrap();
            path
        };
        let back = formats::load(&path, Vectors::default()).unwrap();
        assert_eq!(
            back.words().collect::<Vec<_>>(),
            embeddings().top(5).words().collect::<Vec<_>>(),
            "{format}"
        );
    }
    let parquet = client.get("/v1/export?format=parquet&top=5").await;
    assert_eq!(parquet.headers[header::CONTENT_TYPE], "application/vnd.apache.parquet");
    let mut expected = Vec::new();
    formats::write(&embeddings().top(5), formats::Format::Parquet, &mut expected, "v".as_ref()).unwrap();
    assert_eq!(parquet.body, expected);
    let text = client.get("/v1/export").await;
    assert!(text.body.starts_with(b"6 2\nking 1 0.1\n"), "{}", String::from_utf8_lossy(&text.body));
    // It is not written to the disk.
    assert!(!client.service.settings.data.join("export").exists());
}
