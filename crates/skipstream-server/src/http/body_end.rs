//! Notices the end of a response: its body was sent, or the client disconnected.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::Error;
use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http_body::{Frame, SizeHint};

/// Calls `at_end` with the number of bytes sent when the response ends.
pub fn on_body_end(response: Response, at_end: impl FnOnce(u64) + Send + 'static) -> Response {
    response.map(|body| Body::new(CountedBody { body, bytes: 0, at_end: Some(Box::new(at_end)) }))
}

struct CountedBody {
    body: Body,
    bytes: u64,
    at_end: Option<Box<dyn FnOnce(u64) + Send>>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        if let Some(Ok(frame)) = &frame {
            self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
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

impl Drop for CountedBody {
    fn drop(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end(self.bytes);
        }
    }
}
