//! Requests to the service: paths, queries and bodies, through the router and without a socket.

use std::cell::RefCell;

use arbitrary::{Arbitrary, Unstructured};
use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, Method, Request, StatusCode, Uri, header};
use jiff::Timestamp;
use serde_json::Value;
use skipstream::{Config, Progress, Totals};
use skipstream_server::{Log, Published, Seen, ServeSettings, Service, router};
use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};
use tower::ServiceExt;

use crate::evaluation::EMBEDDINGS;

/// All routes but those that wait for something that does not happen here: events, learned lines and checkpoints.
const ROUTES: [(Method, &str); 27] = [
    (Method::POST, "/v1/text"),
    (Method::POST, "/v1/neighbors"),
    (Method::POST, "/v1/analogy"),
    (Method::POST, "/v1/similarity"),
    (Method::POST, "/v1/odd-one-out"),
    (Method::POST, "/v1/vectors"),
    (Method::POST, "/v1/snapshots"),
    (Method::DELETE, "/v1/snapshots/"),
    (Method::PUT, "/v1/watch/"),
    (Method::DELETE, "/v1/watch/"),
    (Method::GET, "/v1/words/"),
    (Method::GET, "/v1/words"),
    (Method::GET, "/v1/words/tea/neighbors"),
    (Method::GET, "/v1/words/tea/vector"),
    (Method::GET, "/v1/words/tea/history"),
    (Method::GET, "/v1/analogy"),
    (Method::GET, "/v1/similarity"),
    (Method::GET, "/v1/odd-one-out"),
    (Method::GET, "/v1/map"),
    (Method::GET, "/v1/emerging"),
    (Method::GET, "/v1/movers"),
    (Method::GET, "/v1/snapshots"),
    (Method::GET, "/v1/export"),
    (Method::GET, "/v1/stats"),
    (Method::GET, "/page/"),
    (Method::GET, "/"),
    (Method::POST, "/v1/embeddings"),
];

#[derive(Arbitrary)]
struct Head {
    route: u8,
    kind: u8,
    encoding: u8,
    has_key: bool,
}

const KINDS: [&str; 5] =
    ["application/json", "text/plain", "application/x-ndjson", "application/json; charset=utf-8", "é"];

const ENCODINGS: [Option<&str>; 4] = [None, Some("gzip"), Some("identity"), Some("br")];

/// The rest of the path and the query are the first line; the body follows.
pub fn run(bytes: &[u8]) {
    let mut input = Unstructured::new(bytes);
    let Ok(head) = Head::arbitrary(&mut input) else { return };
    let rest = input.take_rest();
    let (line, body) = rest.split_at(rest.iter().position(|&byte| byte == b'\n').unwrap_or(rest.len()));
    let (method, start) = &ROUTES[usize::from(head.route) % ROUTES.len()];
    let Ok(uri) = Uri::try_from([start.as_bytes(), line].concat()) else { return };
    let mut request = Request::builder().method(method).uri(uri);
    request = request.header(header::CONTENT_TYPE, KINDS[usize::from(head.kind) % KINDS.len()]);
    if let Some(encoding) = ENCODINGS[usize::from(head.encoding) % ENCODINGS.len()] {
        request = request.header(header::CONTENT_ENCODING, encoding);
    }
    if head.has_key {
        request = request.header("idempotency-key", "key");
    }
    let body = Bytes::copy_from_slice(body.get(1..).unwrap_or_default());
    let request = request.body(Body::from(body)).expect("the parts are valid");
    APP.with_borrow_mut(|app| {
        let (status, headers, body) = app.get_or_insert_with(App::new).ask(request);
        check(status, &headers, &body);
        if status == StatusCode::TOO_MANY_REQUESTS {
            // The queue is full, and nobody learns here.
            *app = None;
        }
    });
}

/// No request is an internal error, and what is said to be JSON is JSON.
fn check(status: StatusCode, headers: &HeaderMap, body: &Bytes) {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    assert!(!status.is_server_error(), "{status}: {}", String::from_utf8_lossy(body));
    if kind.starts_with("application/json") {
        let answer: Value = serde_json::from_slice(body).expect("the answer is JSON");
        let has_message = answer["error"]["message"].as_str().is_some_and(|message| !message.is_empty());
        assert_eq!(status.is_client_error(), has_message, "{status}: {answer}");
    } else {
        assert!(!status.is_client_error(), "{status} without a message");
    }
}

thread_local! {
    static APP: RefCell<Option<App>> = const { RefCell::new(None) };
}

/// A service with a few words, which learns nothing.
struct App {
    router: Router,
    runtime: Runtime,
    _folder: TempDir,
}

impl App {
    fn new() -> App {
        let folder = tempfile::tempdir().expect("temporary folders can be created");
        let settings =
            ServeSettings { data: folder.path().to_owned(), queue_size: 8 << 20, ..ServeSettings::default() };
        let log = Log::open(folder.path(), settings.queue_size).expect("a new log can be opened");
        let (embeddings, time) = (EMBEDDINGS.clone(), Timestamp::UNIX_EPOCH);
        let seen = vec![Seen { first: time, last: time }; embeddings.len()];
        let vocabulary = embeddings.len();
        let progress = Progress { tokens: 1_000, totals: Totals::default(), vocabulary, evictions: 0 };
        let published = Published::new(1, time, embeddings, seen, progress);
        let service = Service::new(settings, log, published, Config::default(), 1);
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime can be started");
        App { router: router(service), runtime, _folder: folder }
    }

    fn ask(&self, request: Request<Body>) -> (StatusCode, HeaderMap, Bytes) {
        self.runtime.block_on(async {
            let Ok(response) = self.router.clone().oneshot(request).await;
            let (head, body) = response.into_parts();
            // A map of all words is the longest answer.
            let body = to_bytes(body, 1 << 20).await.expect("answers are short, and complete");
            (head.status, head.headers, body)
        })
    }
}
