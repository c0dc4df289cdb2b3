//! A body on its way into the log.

use std::mem;
use std::time::Duration;

use axum::body::Body;
use http_body_util::BodyExt;
use skipstream::corpus::InvalidUtf8;
use tokio::time::{Instant, timeout};

use super::gzip::Decoder;
use super::lines::Lines;
use super::problem::Problem;
use super::record::Kind;
use crate::error::Error;
use crate::http::ApiError;
use crate::log::{Accepted, Chunk, IdempotencyKey, Sending};
use crate::service::Service;

/// Lines of a body that comes slowly are logged after so long, also where they do not fill a chunk.
const LOG_AFTER: Duration = Duration::from_millis(200);

/// Whoever pipes a program's output here may have nothing to say for a while: nothing may come for so many times what a
/// request may take, an hour by default.
const IDLE_TIMES: u32 = 120;

/// Whether the service is stopping is looked at so often while nothing comes.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A body as it comes in.
pub struct Incoming<'a> {
    service: &'a Service,
    decoder: Decoder,
    collector: Collector,
    /// Bytes that came, before they were decompressed.
    bytes: u64,
}

impl<'a> Incoming<'a> {
    /// A body from its start.
    pub fn new(service: &'a Service, kind: Kind, decoder: Decoder) -> Incoming<'a> {
        let collector = Collector {
            kind,
            invalid_utf8: service.model().map(|model| model.text.invalid_utf8).unwrap_or_default(),
            lines: Some(Lines::new(service.settings.max_line_bytes)),
            chunks: vec![Chunk::default()],
            bytes: 0,
            most: service.settings.max_body_bytes,
        };
        Incoming { service, decoder, collector, bytes: 0 }
    }

    /// Logs all lines of a body. An error says which were accepted before it.
    pub async fn log(
        mut self,
        body: Body,
        key: Option<IdempotencyKey>,
    ) -> Result<Option<Accepted>, ApiError> {
        let mut sending = self.service.log.send(key).await?;
        let result = self.log_pieces(body, &mut sending).await;
        let accepted = sending.accepted();
        let result = match result {
            Ok(rest) => {
                let patience = self.patience(&sending);
                sending.finish(rest, patience).await.map_err(ApiError::from)
            }
            Err(error) => Err(error),
        };
        result.map_err(|mut error| {
            error.detail.accepted = Some(accepted.map(Into::into));
            error
        })
    }

    /// Logs the lines of all pieces, but for the last ones, which come back.
    async fn log_pieces(&mut self, mut body: Body, sending: &mut Sending<'_>) -> Result<Chunk, ApiError> {
        let patience = self.service.settings.request_timeout.saturating_mul(IDLE_TIMES);
        let mut came = Instant::now();
        loop {
            let left = patience.saturating_sub(came.elapsed()).min(LOOK_EVERY);
            let left = if self.collector.has_lines() { left.min(LOG_AFTER) } else { left };
            match timeout(left, body.frame()).await {
                Ok(None) => break,
                Ok(Some(Ok(frame))) => {
                    if let Some(piece) = frame.data_ref() {
                        for part in piece.chunks(self.decoder.step()) {
                            self.take(part)?;
                            self.log_chunks(sending, 1).await?;
                        }
                    }
                    // A body that never pauses must not hold up the end.
                    if self.service.is_stopping() {
                        return Err(Error::Stopping.into());
                    }
                    came = Instant::now();
                }
                Ok(Some(Err(error))) => {
                    return Err(
                        Problem::Broken { line: self.collector.line(), reason: error.to_string() }.into()
                    );
                }
                Err(_) if self.service.is_stopping() => return Err(Error::Stopping.into()),
                Err(_) if came.elapsed() >= patience => {
                    let seconds = patience.as_secs();
                    return Err(Problem::Stalled { line: self.collector.line(), seconds }.into());
                }
                Err(_) => self.log_chunks(sending, 0).await?,
            }
        }
        self.end()?;
        self.log_chunks(sending, 1).await?;
        Ok(self.collector.chunks.pop().unwrap_or_default())
    }

    /// Takes in what came.
    fn take(&mut self, piece: &[u8]) -> Result<(), Problem> {
        self.bytes += piece.len() as u64;
        let collector = &mut self.collector;
        // Members of gzip may be empty, and there may be many of them.
        if self.bytes > collector.most {
            return Err(collector.too_long());
        }
        let result = self.decoder.decode(piece, |part| collector.take(part));
        result.map_err(|error| self.collector.damaged(&error))?
    }

    /// Takes in that no more will come.
    fn end(&mut self) -> Result<(), Problem> {
        let collector = &mut self.collector;
        let result = mem::replace(&mut self.decoder, Decoder::Plain).finish(|part| collector.take(part));
        result.map_err(|error| self.collector.damaged(&error))??;
        self.collector.end()
    }

    /// Logs what was collected: chunks that are full, and the last one as well where none is to be left.
    async fn log_chunks(&mut self, sending: &mut Sending<'_>, leave: usize) -> Result<(), ApiError> {
        let full = self.collector.chunks.len().saturating_sub(leave);
        for chunk in self.collector.chunks.drain(..full) {
            if !chunk.is_empty() {
                let patience = patience(self.service, sending);
                sending.append(chunk, patience).await?;
            }
        }
        Ok(())
    }

    fn patience(&self, sending: &Sending<'_>) -> Duration {
        patience(self.service, sending)
    }
}

/// How long a full queue is waited for: whoever has sent nothing yet is told at once, so that they may go elsewhere.
fn patience(service: &Service, sending: &Sending<'_>) -> Duration {
    if sending.accepted().is_some() { service.settings.request_timeout } else { Duration::ZERO }
}

/// Bytes → lines → chunks.
struct Collector {
    kind: Kind,
    invalid_utf8: InvalidUtf8,
    /// Nothing once the body is over.
    lines: Option<Lines>,
    /// Chunks that are full, and one that is not.
    chunks: Vec<Chunk>,
    /// Bytes so far, decompressed.
    bytes: u64,
    /// Bytes that there may be.
    most: u64,
}

impl Collector {
    fn take(&mut self, part: &[u8]) -> Result<(), Problem> {
        self.bytes += part.len() as u64;
        if self.bytes > self.most {
            return Err(self.too_long());
        }
        let Collector { kind, invalid_utf8, lines, chunks, .. } = self;
        let Some(lines) = lines else { return Ok(()) };
        lines.take(part, |number, line| push(chunks, number, line, *kind, *invalid_utf8))
    }

    fn end(&mut self) -> Result<(), Problem> {
        let Some(lines) = self.lines.take() else { return Ok(()) };
        lines.finish(|number, line| push(&mut self.chunks, number, line, self.kind, self.invalid_utf8))
    }

    fn has_lines(&self) -> bool {
        self.chunks.iter().any(|chunk| !chunk.is_empty())
    }

    /// The line that comes next.
    fn line(&self) -> u64 {
        self.lines.as_ref().map_or(0, Lines::number)
    }

    fn too_long(&self) -> Problem {
        Problem::LongBody { line: self.line(), most: self.most }
    }

    fn damaged(&self, error: &std::io::Error) -> Problem {
        Problem::Gzip { line: self.line(), reason: error.to_string() }
    }
}

fn push(
    chunks: &mut Vec<Chunk>,
    number: u64,
    line: &[u8],
    kind: Kind,
    invalid_utf8: InvalidUtf8,
) -> Result<(), Problem> {
    let (text, time) = kind.read(number, line, invalid_utf8)?;
    if chunks.last().is_none_or(|chunk| chunk.weight() >= Chunk::BYTES) {
        chunks.push(Chunk::default());
    }
    let chunk = chunks.last_mut().expect("there is one by now");
    chunk.push(&text, time);
    Ok(())
}
