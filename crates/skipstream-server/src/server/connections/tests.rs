//! Tests over sockets.

use axum::Extension;
use axum::body::Bytes;
use axum::http::HeaderMap;
use axum::routing::{get, post};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::task::JoinHandle;

use super::*;

/// Timeout of a test that would hang.
const PATIENCE: Duration = Duration::from_secs(20);

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3_600);

/// An upload of four bytes, without the bytes.
const HALF_UPLOAD: &[u8] =
    b"POST /length HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n";

/// Size of a response that no buffer holds.
const LARGE: usize = 32 << 20;

/// A running server.
struct Serving {
    address: SocketAddr,
    lifecycle: Lifecycle,
    end: JoinHandle<()>,
}

async fn serving(limits: Limits) -> Serving {
    let who = get(|spare: Option<Extension<Spare>>, ConnectInfo(peer): ConnectInfo<SocketAddr>| async move {
        if spare.is_some() { "spare".to_owned() } else { peer.to_string() }
    });
    let large = get(|| async { vec![b'x'; LARGE] });
    let length = post(|body: Bytes| async move { body.len().to_string() });
    let host = get(|headers: HeaderMap| async move { headers[header::HOST].to_str().unwrap().to_owned() });
    let router = Router::new().route("/who", who).route("/length", length).route("/large", large);
    let refuse = post(|| async { (axum::http::StatusCode::PAYLOAD_TOO_LARGE, "too large") });
    let router = router.route("/host", host).route("/refuse", refuse);
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let lifecycle = Lifecycle::default();
    let end = tokio::spawn(Connections::new(router, limits, lifecycle.clone()).serve(listener));
    Serving { address, lifecycle, end }
}

impl Serving {
    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }

    /// Stops it and waits.
    async fn stop(self) {
        self.lifecycle.stop();
        timeout(PATIENCE, self.end).await.unwrap().unwrap();
    }
}

fn places(total: usize, spare: usize) -> places::Limits {
    places::Limits { total, per_address: total, spare, idle: Duration::ZERO }
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
async fn idle_connections_shut_nobody_out() {
    let serving = serving(Limits { places: places(4, 0), headers: NEVER, ..Limits::default() }).await;
    let mut idle = Vec::new();
    for _ in 0..40 {
        idle.push(serving.connect().await);
    }
    let mut stream = serving.connect().await;
    assert_eq!(ask(&mut stream).await, stream.local_addr().unwrap().to_string());
    assert_eq!(closed(&mut idle[0]).await, "", "it was idle for longest");
    serving.stop().await;
}

#[tokio::test]
async fn while_all_connections_are_busy_a_spare_one_is_marked() {
    let serving = serving(Limits { places: places(1, 1), ..Limits::default() }).await;
    let mut busy = serving.connect().await;
    busy.write_all(HALF_UPLOAD).await.unwrap();
    begun(&mut busy).await;
    let mut spare = serving.connect().await;
    assert_eq!(ask(&mut spare).await, "spare");
    busy.write_all(b"text").await.unwrap();
    assert_eq!(answer(&mut busy).await, "4", "it was not disturbed");
    assert_ne!(ask(&mut serving.connect().await).await, "spare", "the busy one has become idle");
    serving.stop().await;
}

#[tokio::test]
async fn a_client_that_does_not_read_is_closed_and_one_that_reads_slowly_is_not() {
    let serving = serving(Limits { write: Duration::from_millis(300), ..Limits::default() }).await;
    let request = b"GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (mut deaf, mut slow) = (serving.connect().await, serving.connect().await);
    deaf.write_all(request).await.unwrap();
    slow.write_all(request).await.unwrap();
    let mut bytes = vec![0; 1 << 20];
    let mut received = 0;
    while received < LARGE {
        sleep(Duration::from_millis(30)).await;
        let n = timeout(PATIENCE, slow.read(&mut bytes)).await.unwrap().unwrap();
        assert!(n > 0, "closed after {received} bytes");
        received += n;
    }
    assert!(closed(&mut deaf).await.len() < LARGE);
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
    assert!(TcpStream::connect(address).await.is_err(), "no connection is accepted");
}

#[tokio::test]
async fn a_request_under_way_is_answered_after_the_stop() {
    let serving = serving(Limits { grace: NEVER, ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    stream.write_all(HALF_UPLOAD).await.unwrap();
    begun(&mut stream).await;
    serving.lifecycle.stop();
    stream.write_all(b"text").await.unwrap();
    assert_eq!(answer(&mut stream).await, "4");
    assert_eq!(closed(&mut stream).await, "");
    timeout(PATIENCE, serving.end).await.unwrap().unwrap();
}

#[tokio::test]
async fn a_slow_upload_is_dropped_when_the_grace_is_over() {
    let serving = serving(Limits { grace: Duration::from_millis(100), ..Limits::default() }).await;
    let mut stream = serving.connect().await;
    stream.write_all(HALF_UPLOAD).await.unwrap();
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

/// Sends raw bytes; returns the status of each response, until the server closes the connection or has answered this often.
async fn statuses(serving: &Serving, bytes: &[u8], responses: usize) -> (Vec<u16>, bool) {
    let mut stream = serving.connect().await;
    stream.write_all(bytes).await.unwrap();
    let mut received = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&received).into_owned();
        let found: Vec<u16> =
            text.split("HTTP/1.1 ").skip(1).map(|response| response[..3].parse().unwrap()).collect();
        // The last may close the connection after it.
        let mut piece = [0; 1_000];
        let wait = if found.len() < responses { PATIENCE } else { Duration::from_millis(200) };
        match timeout(wait, stream.read(&mut piece)).await {
            Ok(Ok(n)) if n > 0 => received.extend_from_slice(&piece[..n]),
            Err(_) => {
                assert_eq!(found.len(), responses, "no answer to {:?}", String::from_utf8_lossy(bytes));
                return (found, false);
            }
            _ => return (found, true),
        }
    }
}

#[tokio::test]
async fn requests_are_read_as_rfc_9112_says() {
    let serving = serving(Limits::default()).await;
    // A recipient may take a bare LF for the end of a line (2.2), in all lines but those of chunks (7.1).
    let good: [&[u8]; 5] = [
        b"GET /who HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /who HTTP/1.1\nHost: localhost\n\n",
        b"\r\nGET /who HTTP/1.1\r\nHost: localhost\n\r\n",
        b"POST /length HTTP/1.1\nHost: localhost\nContent-Length: 3\nContent-Length: 3\n\nabc",
        b"POST /length HTTP/1.1\r\nHost:\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n",
    ];
    for request in good {
        // A second request must begin where the first ended.
        let twice = [request, good[0]].concat();
        let answered = statuses(&serving, &twice, 2).await;
        assert_eq!(answered, (vec![200, 200], false), "{:?}", String::from_utf8_lossy(request));
    }
    let bad: [&[u8]; 19] = [
        // A bare CR (2.2).
        b"GET /who\rHTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /who HTTP/1.1\rHost: localhost\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost: localhost\rX: y\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost: localhost\r\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost\r: localhost\r\n\r\n",
        // White space before the first field (2.2), before a colon (5.1), and a folded line (5.2).
        b"GET /who HTTP/1.1\r\n Host: localhost\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost : localhost\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n",
        // No host, two hosts, and no valid host (3.2).
        b"GET /who HTTP/1.1\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n",
        b"GET /who HTTP/1.1\r\nHost: a b\r\n\r\n",
        // A length that is none, two lengths, and a last encoding that is not `chunked` (6.3).
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: +3\r\n\r\nabc",
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc",
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n",
        b"POST /length HTTP/1.0\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        // A bare LF or CR where a chunk needs CRLF (7.1).
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n",
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3;a\nabc\r\n0\r\n\r\n",
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\rabc\r\n0\r\n\r\n",
        b"POST /length HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n",
    ];
    for request in bad {
        let (found, _) = statuses(&serving, request, 1).await;
        assert_eq!(found, [400], "{:?}", String::from_utf8_lossy(request));
    }
    // Both kinds of length: the chunks count, and the connection is closed (6.1).
    let both = b"POST /length HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n\
        3\r\nabc\r\n0\r\n\r\nGET /who HTTP/1.1\r\nHost: localhost\r\n\r\n";
    assert_eq!(statuses(&serving, both, 1).await, (vec![200], true));
    serving.stop().await;
}

#[tokio::test]
async fn the_host_of_a_full_address_counts() {
    let serving = serving(Limits::default()).await;
    let mut stream = serving.connect().await;
    stream.write_all(b"GET http://other.example/host HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    assert_eq!(answer(&mut stream).await, "other.example");
    serving.stop().await;
}

#[tokio::test]
async fn a_client_that_is_still_sending_sees_that_it_is_refused() {
    let serving = serving(Limits::default()).await;
    for _ in 0..5 {
        let mut stream = serving.connect().await;
        let head = format!("POST /refuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: {LARGE}\r\n\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        // The answer is there long before the end of the body.
        timeout(PATIENCE, stream.write_all(&vec![b'x'; LARGE])).await.unwrap().unwrap();
        let said = closed(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 413") && said.ends_with("too large"), "{said}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn a_client_that_sends_without_end_is_disconnected() {
    let serving = serving(Limits::default()).await;
    let mut stream = serving.connect().await;
    stream
        .write_all(b"POST /refuse HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000000000000\r\n\r\n")
        .await
        .unwrap();
    let endless = async { while stream.write_all(&[b'x'; 1 << 16]).await.is_ok() {} };
    timeout(PATIENCE, endless).await.expect("it is disconnected");
    serving.stop().await;
}

#[tokio::test]
async fn what_cannot_be_parsed_is_answered_in_json() {
    let serving = serving(Limits::default()).await;
    let long = "x".repeat(BUFFER_BYTES + 1);
    for (request, status, code) in [
        ("GET /\0 HTTP/1.1\r\nHost: localhost\r\n\r\n".to_owned(), "400 Bad Request", "bad-request"),
        ("nonsense\r\n\r\n".to_owned(), "400 Bad Request", "bad-request"),
        (
            format!("GET /who HTTP/1.1\r\nHost: localhost\r\nCookie: {long}\r\n\r\n"),
            "431 Request Header Fields Too Large",
            "headers-too-large",
        ),
    ] {
        let mut stream = serving.connect().await;
        // Also after a request that was answered.
        ask(&mut stream).await;
        stream.write_all(request.as_bytes()).await.unwrap();
        let said = closed(&mut stream).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{said}");
        let (head, body) = said.split_once("\r\n\r\n").unwrap();
        assert!(head.contains("\r\ncontent-type: application/json\r\n"), "{said}");
        assert!(head.contains(&format!("\r\ncontent-length: {}\r\n", body.len())), "{said}");
        let body: serde_json::Value = serde_json::from_str(body).unwrap();
        assert_eq!(body["error"]["code"], code);
    }
    serving.stop().await;
}

#[tokio::test]
async fn a_transfer_coding_other_than_chunked_is_refused() {
    let serving = serving(Limits::default()).await;
    for (coding, status) in [
        ("chunked", "200"),
        ("Chunked", "200"),
        ("x, chunked", "400"),
        ("gzip, chunked", "400"),
        ("chunked, chunked", "400"),
        ("identity\r\nTransfer-Encoding: chunked", "400"),
    ] {
        let mut stream = serving.connect().await;
        let request = format!(
            "POST /length HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nTransfer-Encoding: {coding}\r\n\r\n\
             4\r\nfour\r\n0\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await.unwrap();
        let said = closed(&mut stream).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{coding}: {said}");
    }
    serving.stop().await;
}
