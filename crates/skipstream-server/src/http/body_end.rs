//! Notices the end of a response: its body was sent, or the client disconnected.

use axum::body::{Body, Bytes};
use axum::response::Response;
use http_body::Frame;
use http_body_util::BodyExt;

/// Calls `at_end` with the number of bytes sent when the response ends.
pub fn on_body_end(response: Response, at_end: impl FnOnce(u64) + Send + 'static) -> Response {
    let mut counter = Counter { bytes: 0, at_end: Some(at_end) };
    response.map(|body| Body::new(body.inspect_frame(move |frame| counter.count(frame))))
}

/// Dropped together with the body.
struct Counter<F: FnOnce(u64)> {
    bytes: u64,
    at_end: Option<F>,
}

impl<F: FnOnce(u64)> Counter<F> {
    fn count(&mut self, frame: &Frame<Bytes>) {
        self.bytes += frame.data_ref().map_or(0, |data| data.len() as u64);
    }
}

impl<F: FnOnce(u64)> Drop for Counter<F> {
    fn drop(&mut self) {
        if let Some(at_end) = self.at_end.take() {
            at_end(self.bytes);
        }
    }
}
