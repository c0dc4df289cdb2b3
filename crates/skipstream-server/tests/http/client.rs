//! A service with a few words, and its client.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use jiff::Timestamp;
use serde_json::Value;
use skipstream::{Config, Embeddings, Progress, Totals};
use skipstream_server::{Log, Published, Seen, ServeSettings, Service, router};
use tempfile::TempDir;
use tower::ServiceExt;

/// A service in a folder of its own.
pub struct Client {
    pub service: Arc<Service>,
    pub router: Router,
    _folder: TempDir,
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

/// Words in two dimensions, most frequent first; the last must be percent-encoded in a path.
pub const WORDS: [(&str, u64, [f32; 2]); 6] = [
    ("king", 50, [1.0, 0.1]),
    ("queen", 40, [0.9, 0.3]),
    ("man", 30, [0.8, -0.5]),
    ("woman", 20, [0.7, -0.2]),
    ("bread", 10, [-0.2, 1.0]),
    ("a/b?c=ü%#", 5, [-0.9, 0.4]),
];

/// Tokens of the three roles.
pub const READ: &str = "read-4f0d1c5a9be27";
pub const WRITE: &str = "write-77a1e04bb3c95";
pub const ADMIN: &str = "admin-c0ffee5ca1ab1e";

/// When the last of the words was published.
pub const TIME: &str = "2026-11-15T20:00:00Z";

/// The vectors of the service.
pub fn embeddings() -> Embeddings {
    let vectors = WORDS.iter().flat_map(|word| word.2).collect();
    Embeddings::new(2, WORDS.map(|(word, count, _)| (word, count)), vectors).unwrap()
}

fn published() -> Published {
    let embeddings = embeddings();
    let time: Timestamp = TIME.parse().unwrap();
    let seen = |row: usize| Seen { first: Timestamp::from_second(row as i64).unwrap(), last: time };
    let seen = (0..embeddings.len()).map(seen).collect();
    let progress =
        Progress { tokens: 200, totals: Totals::default(), vocabulary: embeddings.len(), evictions: 3 };
    Published::new(7, time, embeddings, seen, progress)
}

impl Client {
    /// A service with default settings.
    pub fn new() -> Client {
        Client::with(|_| {})
    }

    /// A service with other settings.
    pub fn with(change: impl FnOnce(&mut ServeSettings)) -> Client {
        let folder = tempfile::tempdir().unwrap();
        let mut settings = ServeSettings { data: folder.path().to_owned(), ..ServeSettings::default() };
        change(&mut settings);
        let log = Log::open(folder.path(), settings.queue_size).unwrap();
        let service = Service::new(settings, log, published(), Config::default(), 99);
        Client { router: router(service.clone()), service, _folder: folder }
    }

    /// A service with a token for each role.
    pub fn with_tokens() -> Client {
        Client::with(|settings| {
            let path = settings.data.join("tokens");
            std::fs::write(&path, format!("read {READ}\nwrite {WRITE}\nadmin {ADMIN}\n")).unwrap();
            settings.tokens = Some(path);
        })
    }

    /// Sends a request.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let body = body.collect().await.unwrap().to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }

    /// Sends a GET request.
    pub async fn get(&self, path: &str) -> Answer {
        self.send(request(Method::GET, path, Body::empty())).await
    }

    /// Sends JSON.
    pub async fn post(&self, path: &str, json: impl Into<String>) -> Answer {
        let mut request = request(Method::POST, path, Body::from(json.into()));
        request.headers_mut().insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
        self.send(request).await
    }
}

/// A request from the same machine.
pub fn request(method: Method, path: &str, body: Body) -> Request<Body> {
    Request::builder().method(method).uri(path).header(header::HOST, "localhost:8321").body(body).unwrap()
}

impl Answer {
    /// The body, which must be JSON.
    pub fn json(&self) -> Value {
        assert_eq!(self.headers[header::CONTENT_TYPE], "application/json", "{self:?}");
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The JSON of a successful response.
    #[track_caller]
    pub fn good(&self) -> Value {
        assert_eq!(self.status, StatusCode::OK, "{}", String::from_utf8_lossy(&self.body));
        self.json()
    }

    /// The status, code and message of an error.
    #[track_caller]
    pub fn refusal(&self) -> (u16, String, String) {
        let json = self.json();
        let text = |name: &str| json["error"][name].as_str().unwrap_or_else(|| panic!("{json}")).to_owned();
        (self.status.as_u16(), text("code"), text("message"))
    }

    /// Asserts that it is this error and that its message contains this text.
    #[track_caller]
    pub fn assert_refused(&self, status: u16, code: &str, message: &str) {
        let refusal = self.refusal();
        assert_eq!((refusal.0, refusal.1.as_str()), (status, code), "{}", refusal.2);
        assert!(refusal.2.contains(message), "{}", refusal.2);
    }
}
