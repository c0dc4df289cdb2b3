//! Server-sent events.

use std::net::SocketAddr;

use axum::body::{Body, BodyDataStream};
use axum::extract::ConnectInfo;
use axum::http::{Method, StatusCode, header};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tower::ServiceExt;

use crate::client::{Client, READ, request};

/// A client that listens.
struct Stream {
    body: BodyDataStream,
    text: String,
}

/// An event as a browser would see it.
#[derive(Debug, PartialEq)]
struct Seen {
    name: String,
    id: Option<String>,
    data: Value,
}

impl Stream {
    async fn new(client: &Client, last: Option<&str>) -> Stream {
        let mut request = request(Method::GET, "/v1/events", Body::empty());
        if let Some(last) = last {
            request.headers_mut().insert("last-event-id", last.parse().unwrap());
        }
        let response = client.router.clone().oneshot(request).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(response.headers()[header::CONTENT_TYPE], "text/event-stream");
        Stream { body: response.into_body().into_data_stream(), text: String::new() }
    }

    /// The next event other than `progress`; `None` at the end.
    async fn next(&mut self) -> Option<Seen> {
        loop {
            let seen = self.next_of_any_kind().await?;
            if seen.name != "progress" {
                return Some(seen);
            }
        }
    }

    async fn next_of_any_kind(&mut self) -> Option<Seen> {
        loop {
            while let Some((block, rest)) = self.text.split_once("\n\n") {
                let field = |name: &str| {
                    let line = block.lines().find_map(|line| line.strip_prefix(name));
                    line.and_then(|line| line.strip_prefix(':')).map(|value| value.trim().to_owned())
                };
                let seen = field("event").map(|name| Seen {
                    name,
                    id: field("id"),
                    data: serde_json::from_str(&field("data").unwrap()).unwrap(),
                });
                self.text = rest.to_owned();
                if seen.is_some() {
                    return seen;
                }
            }
            let bytes = self.body.next().await?.unwrap();
            self.text.push_str(std::str::from_utf8(&bytes).unwrap());
        }
    }
}

fn problem(message: &str) -> Value {
    json!({ "message": message })
}

#[tokio::test]
async fn events_have_names_ids_and_json() {
    let client = Client::new();
    let mut stream = Stream::new(&client, None).await;
    client.service.events.send("problem", &problem("one\ntwo"));
    let seen = stream.next().await.unwrap();
    assert_eq!((seen.name.as_str(), seen.data), ("problem", json!({"message": "one\ntwo"})));
    assert!(seen.id.is_some());
}

#[tokio::test]
async fn progress_is_sent_at_once() {
    let client = Client::new();
    let seen = Stream::new(&client, None).await.next_of_any_kind().await.unwrap();
    assert_eq!((seen.name.as_str(), &seen.id), ("progress", &None));
    assert_eq!(seen.data["learned"], 7);
    assert_eq!(seen.data["queue"]["bytes"], 0);
    assert_eq!(seen.data["snapshot"]["vocabulary"], 6);
}

#[tokio::test]
async fn a_client_that_reconnects_receives_missed_events() {
    let client = Client::new();
    let mut stream = Stream::new(&client, None).await;
    client.service.events.send("problem", &problem("heard"));
    let heard = stream.next().await.unwrap();
    drop(stream);
    client.service.events.send("problem", &problem("missed"));
    let mut stream = Stream::new(&client, heard.id.as_deref()).await;
    assert_eq!(stream.next().await.unwrap().data["message"], "missed");

    let mut stream = Stream::new(&client, Some("1-5")).await;
    assert_eq!(
        stream.next().await,
        Some(Seen { name: "missed".to_owned(), id: None, data: json!({"n": null}) })
    );
    // An invalid id is ignored.
    let mut stream = Stream::new(&client, Some("../../etc/passwd")).await;
    client.service.events.send("problem", &problem("new"));
    assert_eq!(stream.next().await.unwrap().data["message"], "new");
}

#[tokio::test]
async fn the_stream_ends_with_the_service() {
    let client = Client::new();
    let mut stream = Stream::new(&client, None).await;
    client.service.stop();
    assert_eq!(stream.next().await, None);
}

#[tokio::test]
async fn too_many_listeners_are_refused() {
    let client = Client::new();
    let listen = async |address: u8| {
        let mut request = request(Method::GET, "/v1/events", Body::empty());
        request.extensions_mut().insert(ConnectInfo(SocketAddr::from(([192, 0, 2, address], 1))));
        client.router.clone().oneshot(request).await.unwrap()
    };
    let mut streams = Vec::new();
    for address in 1..=4 {
        for _ in 0..64 {
            let response = listen(address).await;
            assert_eq!(response.status(), StatusCode::OK, "{address}");
            streams.push(response);
        }
        // One address leaves room for others.
        assert_eq!(listen(address).await.status(), StatusCode::SERVICE_UNAVAILABLE, "{address}");
    }
    let refused = client.get("/v1/events").await;
    refused.assert_refused(503, "busy", "there are already 256 listeners, or 64 from this address");
    assert!(refused.headers.contains_key(header::RETRY_AFTER));
    drop(streams);
    Stream::new(&client, None).await;
}

#[tokio::test]
async fn a_listener_is_disconnected_when_its_token_is_revoked() {
    let client = Client::with_tokens();
    let mut request = request(Method::GET, "/v1/events", Body::empty());
    request.headers_mut().insert(header::AUTHORIZATION, format!("Bearer {READ}").parse().unwrap());
    let response = client.router.clone().oneshot(request).await.unwrap();
    let mut stream = Stream { body: response.into_body().into_data_stream(), text: String::new() };
    assert_eq!(stream.next_of_any_kind().await.unwrap().name, "progress");
    std::fs::write(client.service.settings.data.join("tokens"), "# nobody\n").unwrap();
    while stream.next_of_any_kind().await.is_some() {}
}
