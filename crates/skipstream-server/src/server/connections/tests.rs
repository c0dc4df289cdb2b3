//! Tests over sockets.

use axum::body::Bytes;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::sync::oneshot;
use tokio::task::JoinHandle;

use super::*;

/// Timeout of a test that would hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3_600);

/// A running server.
struct Serving {
    address: SocketAddr,
    stop: oneshot::Sender<()>,
    end: JoinHandle<()>,
}

async fn serving(limits: Limits) -> Serving {
    let who = get(|ConnectInfo(peer): ConnectInfo<SocketAddr>| async move { peer.to_string() });
    let length = post(|body: Bytes| async move { body.len().to_string() });
    let router = Router::new().route("/who", who).route("/length", length);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stopped = async { stopped.await.unwrap() };
    let end = tokio::spawn(Connections::new(router, limits).serve(listener, stopped));
    Serving { address, stop, end }
}

impl Serving {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Stops it and waits.
    async fn stop(self) {
        self.stop.send(()).unwrap();
        timeout(PATIENCE, self.end).await.unwrap().unwrap();
    }
}

/// Sends a request and leaves the connection open.
async fn ask(stream: &mut TcpStream) -> String {
    stream.write_all(b"GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    answer(stream).await
}

/// The body of the next response, which has no line feed.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = String::new();
    let whole = |text: &str| {
        let (headers, body) = text.split_once("\r\n\r\n")?;
        let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "))?;
        (body.len() == length.parse::<usize>().unwrap()).then(|| body.to_owned())
    };
    loop {
        let mut bytes = [0; 1_000];
        let n = timeout(PATIENCE, stream.read(&mut bytes)).await.unwrap().unwrap();
        assert!(n > 0, "closed after {text:?}");
        text.push_str(str::from_utf8(&bytes[..n]).unwrap());
        if let Some(body) = whole(&text) {
            return body;
        }
    }
}

/// Waits until the server closes the connection; returns what it sent.
async fn closed(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    // A reset closes it as well.
    let _ = timeout(PATIENCE, stream.read_to_end(&mut bytes)).await.expect("it stays open");
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn a_connection_knows_whose_it_is_and_serves_many_requests() {
    let serving = serving(Limits::default()).await;
    let mut stream = serving.connect().await;
    for _ in 0..3 {
        assert_eq!(ask(&mut stream).await, stream.local_addr().unwrap().to_string());
    }
    serving.stop().await;
}

#[tokio::test]
async fn half_a_header_is_not_waited_for_any_longer_than_the_limit() {
    let serving = serving(Limits { headers: Duration::from_millis(100), ..Limits::default() }).await;
    for begun in ["", "GET /who HT", "GET /who HTTP/1.1\r\nHost: local"] {
        let mut stream = serving.connect().await;
        stream.write_all(begun.as_bytes()).await.unwrap();
        let said = closed(&mut stream).await;
        assert!(said.is_empty() || said.starts_with("HTTP/1.1 408"), "{said}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn a_connection_that_falls_silent_between_requests_is_closed() {
    let serving = serving(Limits { headers: Duration::from_millis(300), ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    ask(&mut stream).await;
    assert_eq!(closed(&mut stream).await, "");
    serving.stop().await;
}

#[tokio::test]
async fn headers_that_do_not_fit_are_refused() {
    let serving = serving(Limits { buffer_bytes: 8 << 10, ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    let long = "x".repeat(9 << 10);
    let request = format!("GET /who HTTP/1.1\r\nHost: localhost\r\nCookie: {long}\r\n\r\n");
    // It may be refused before all of it is sent.
    let _ = stream.write_all(request.as_bytes()).await;
    let said = closed(&mut stream).await;
    assert!(said.is_empty() || said.starts_with("HTTP/1.1 431"), "{said}");
    assert!(!ask(&mut serving.connect().await).await.is_empty(), "others are answered");
    serving.stop().await;
}

#[tokio::test]
async fn connections_beyond_the_limit_are_served_when_others_close() {
    let serving = serving(Limits { connections: 2, headers: NEVER, ..Limits::default() }).await;
    let (mut first, mut second) = (serving.connect().await, serving.connect().await);
    ask(&mut first).await;
    ask(&mut second).await;
    // The system takes it; it is not served.
    let mut third = serving.connect().await;
    third.write_all(b"GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let early = timeout(Duration::from_millis(200), third.readable()).await;
    assert!(early.is_err(), "two are served, which is the limit");
    ask(&mut second).await;
    drop(first);
    assert_eq!(answer(&mut third).await, third.local_addr().unwrap().to_string());
    serving.stop().await;
}

#[tokio::test]
async fn idle_connections_do_not_hold_up_the_end() {
    // Were they waited for, it would take longer than the test's patience.
    let serving = serving(Limits { headers: NEVER, grace: NEVER, ..Limits::default() }).await;
    let mut used = serving.connect().await;
    ask(&mut used).await;
    let address = serving.address;
    serving.stop().await;
    assert_eq!(closed(&mut used).await, "");
    assert!(TcpStream::connect(address).await.is_err(), "nobody is taken any more");
}

#[tokio::test]
async fn a_request_under_way_is_answered_after_the_stop() {
    let serving = serving(Limits { grace: NEVER, ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    let head =
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    stream.write_all(head).await.unwrap();
    begun(&mut stream).await;
    serving.stop.send(()).unwrap();
    stream.write_all(b"text").await.unwrap();
    assert_eq!(answer(&mut stream).await, "4");
    assert_eq!(closed(&mut stream).await, "");
    timeout(PATIENCE, serving.end).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_upload_is_dropped_when_the_grace_is_over() {
    let serving = serving(Limits { grace: Duration::from_millis(100), ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    let head =
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";
    stream.write_all(head).await.unwrap();
    begun(&mut stream).await;
    stream.write_all(b"te").await.unwrap();
    serving.stop().await;
    assert_eq!(closed(&mut stream).await, "");
}

/// Waits until the server reads the body, which it announces.
async fn begun(stream: &mut TcpStream) {
    const CONTINUE: &[u8] = b"HTTP/1.1 100 Continue\r\n\r\n";
    let mut said = [0; CONTINUE.len()];
    timeout(PATIENCE, stream.read_exact(&mut said)).await.unwrap().unwrap();
    assert_eq!(said, CONTINUE);
}
