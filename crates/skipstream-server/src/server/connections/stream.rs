//! The socket below hyper.
//!
//! hyper closes a connection after its response if the body of the request was not read. If the client is still sending, the
//! system then resets the connection, and the response may be lost. So the socket is read a little longer.
//!
//! What hyper cannot parse it answers itself, without a body. Such an answer is replaced by one in JSON.

use std::future::Future;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use http_body::{Body, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::{Sleep, sleep};
use tokio_io_timeout::TimeoutStream;

use super::BUFFER_BYTES;
use crate::http::ApiError;

/// Limits on what is read after a response.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 256 << 20;

/// What the socket has to know about the requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    /// The service answers one.
    pub is_answering: AtomicBool,
    /// The client may still be sending something that nobody reads.
    is_unread: AtomicBool,
}

pub(super) struct Stream {
    socket: Pin<Box<TimeoutStream<TcpStream>>>,
    requests: Arc<Requests>,
    /// What is left of an answer that takes the place of hyper's.
    instead: Option<Vec<u8>>,
    /// Until when it is read after the response, and how much.
    linger: Option<(Pin<Box<Sleep>>, usize)>,
}

impl Stream {
    pub fn new(socket: TimeoutStream<TcpStream>, requests: Arc<Requests>) -> Stream {
        Stream { socket: Box::pin(socket), requests, instead: None, linger: None }
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_read(context, buffer)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let this = &mut *self;
        if this.instead.is_none() && !this.requests.is_answering.load(Relaxed) {
            this.instead = with_body(bytes);
        }
        let Some(instead) = &mut this.instead else {
            return this.socket.as_mut().poll_write(context, bytes);
        };
        while !instead.is_empty() {
            let n = ready!(this.socket.as_mut().poll_write(context, instead))?;
            if n == 0 {
                return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
            }
            instead.drain(..n);
        }
        this.instead = None;
        this.requests.is_unread.store(true, Relaxed);
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        match slices {
            [bytes] => self.poll_write(context, bytes),
            _ => self.socket.as_mut().poll_write_vectored(context, slices),
        }
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.socket.as_mut().poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Stream { socket, requests, linger, .. } = &mut *self;
        if linger.is_none() {
            ready!(socket.as_mut().poll_shutdown(context))?;
            if !requests.is_unread.load(Relaxed) {
                return Poll::Ready(Ok(()));
            }
        }
        let (time, bytes) = linger.get_or_insert_with(|| (Box::pin(sleep(LINGER)), LINGER_BYTES));
        let mut unread = [0; 16 << 10];
        while *bytes > 0 && time.as_mut().poll(context).is_pending() {
            let mut buffer = ReadBuf::new(&mut unread);
            let is_open = ready!(socket.as_mut().poll_read(context, &mut buffer)).is_ok();
            if !is_open || buffer.filled().is_empty() {
                break;
            }
            *bytes = bytes.saturating_sub(buffer.filled().len());
        }
        Poll::Ready(Ok(()))
    }
}

/// The answer that takes the place of these bytes, if they are one of hyper's own: a head without a body.
fn with_body(bytes: &[u8]) -> Option<Vec<u8>> {
    // Most bytes are not even the beginning of a head.
    let head = bytes.starts_with(b"HTTP/1.1 4").then(|| str::from_utf8(bytes).ok())??;
    let head = head.strip_suffix("\r\n\r\n")?;
    let (status, _) = head.strip_prefix("HTTP/1.1 ")?.split_once(' ')?;
    let (before, after) = head.split_once("content-length: 0")?;
    let error = match status {
        "400" => ApiError::bad_request("a request must be valid HTTP/1.1"),
        "414" | "431" => {
            let status = StatusCode::from_bytes(status.as_bytes()).ok()?;
            let message = format!("the request line and headers must fit into {BUFFER_BYTES} bytes");
            ApiError::new(status, "headers-too-large", message)
        }
        _ => return None,
    };
    let body = error.into_json();
    let length = body.len();
    let answer =
        format!("{before}content-type: application/json\r\ncontent-length: {length}{after}\r\n\r\n{body}");
    Some(answer.into_bytes())
}

/// The body of a request, which notes whether all of it was read.
pub(super) struct Watched {
    body: Incoming,
    requests: Arc<Requests>,
}

impl Watched {
    pub fn new(body: Incoming, requests: Arc<Requests>) -> Watched {
        requests.is_unread.store(!body.is_end_stream(), Relaxed);
        Watched { body, requests }
    }
}

impl Body for Watched {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if frame.is_none() || self.body.is_end_stream() {
            self.requests.is_unread.store(false, Relaxed);
        }
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
