//! A followed file, into the log.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use skipstream::corpus::{Tail, TailEnd};

use super::lines::LineBuffer;
use super::{LONG_PAUSE, PAUSE, append, pause};
use crate::error::{Error, Result};
use crate::log::{Chunk, SourcePosition};
use crate::service::Service;

/// Logs the lines of a followed file, each chunk with the position after it.
#[derive(Debug)]
pub struct Follower {
    service: Arc<Service>,
    path: PathBuf,
    /// The name of the source in the log.
    name: String,
    /// Nothing after an error: the file is then opened again at the position in the log.
    tail: Option<Tail>,
    /// What was read and is not a whole line yet.
    buffer: LineBuffer,
    /// Whether the rest of a file is read that another has replaced.
    is_rest: bool,
    block: Vec<u8>,
}

impl Follower {
    /// Continues where the log says that the file was left, or starts at its beginning.
    pub fn new(service: Arc<Service>, path: &Path) -> Result<Follower> {
        let wrong = |error: std::io::Error| Error::Data { path: path.to_owned(), reason: error.to_string() };
        let path = std::path::absolute(path).map_err(wrong)?;
        let name = format!("file:{}", path.display());
        let tail = Some(continued(&service, &path, &name)?);
        let buffer = LineBuffer::new(service.settings.max_line_size as usize);
        let block = vec![0; Chunk::BYTES];
        Ok(Follower { service, path, name, tail, buffer, is_rest: false, block })
    }

    /// Follows until the service stops.
    pub async fn run(mut self) {
        let mut warning = String::new();
        while !self.service.is_stopping() {
            match self.step().await {
                Ok(true) => warning.clear(),
                Ok(false) => {
                    warning.clear();
                    pause(&self.service, PAUSE).await;
                }
                Err(Error::Stopping) => return,
                Err(error) => {
                    self.tail = None;
                    let message = error.to_string();
                    if message != warning {
                        tracing::warn!(file = %self.path.display(), error = %message, "cannot follow a file now");
                        warning = message;
                    }
                    pause(&self.service, LONG_PAUSE).await;
                }
            }
        }
    }

    /// Reads and logs what there is; false if there is nothing now.
    async fn step(&mut self) -> Result<bool> {
        let tail = match &mut self.tail {
            Some(tail) => tail,
            None => {
                self.buffer.clear();
                self.is_rest = false;
                self.tail.insert(continued(&self.service, &self.path, &self.name)?)
            }
        };
        let length = tail.read(&mut self.block)?;
        for event in tail.take_events() {
            tracing::info!(file = %self.path.display(), "{event}");
        }
        self.buffer.push(&self.block[..length]);
        let is_last = self.is_rest && length == 0;
        let lines = if is_last { self.buffer.finish() } else { self.buffer.take() };
        if let Some((chunk, bytes)) = lines {
            let position = tail.position(self.buffer.len())?;
            let chunk = if position.offset == bytes as u64 { without_mark(chunk) } else { chunk };
            let position = serde_json::to_string(&position).expect("a position is a number and a string");
            let source = SourcePosition { name: self.name.clone(), position };
            append(&self.service, &chunk, Some(&source)).await?;
        }
        if length > 0 {
            return Ok(true);
        }
        let end = tail.at_end()?;
        match end {
            TailEnd::Pending => {}
            TailEnd::Rest => self.is_rest = true,
            TailEnd::Closed { .. } => {
                self.buffer.clear();
                self.is_rest = false;
            }
        }
        Ok(end != TailEnd::Pending)
    }
}

/// Follows a file from the position in the log.
fn continued(service: &Service, path: &Path, name: &str) -> Result<Tail> {
    let position = service.log.source(name)?.map(|position| serde_json::from_str(&position)).transpose();
    let position = position.map_err(|error| Error::Data {
        path: path.to_owned(),
        reason: format!("the saved read position is corrupt: {error}"),
    })?;
    Ok(Tail::new(path, position)?)
}

/// Some programs write a byte order mark at the start of a file, which is not text.
fn without_mark(mut chunk: Chunk) -> Chunk {
    if chunk.text.starts_with(b"\xEF\xBB\xBF") {
        chunk.text.drain(..3);
    }
    chunk
}

#[cfg(test)]
mod tests;
