//! A file that is followed as it grows.

use std::fs::{self, File, Metadata};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::lines::LineBuffer;
use super::place::{Identity, MARK_BYTES, Place, stands_before};
use super::{LONG_PAUSE, PAUSE, append, pause};
use crate::error::{Error, Result};
use crate::log::{Chunk, SourcePosition};
use crate::service::Service;

/// Follows a path, whichever file it leads to.
#[derive(Debug)]
pub struct Follower {
    service: Arc<Service>,
    path: PathBuf,
    /// By which the log knows it.
    name: String,
    /// How far it was logged, of the file that was read last.
    place: Option<Place>,
    open: Option<Open>,
    /// What stands behind the place and is not a line yet.
    buffer: LineBuffer,
}

#[derive(Debug)]
struct Open {
    file: File,
    identity: Identity,
    /// The place behind what is in the buffer.
    offset: u64,
    /// Another file has taken its place. It is read once more, as its writer may not have noticed, and left at its end.
    is_old: bool,
}

/// What a look at the file has shown.
enum Look {
    /// There was something.
    Something,
    /// There is nothing more now.
    Nothing,
}

impl Follower {
    /// Goes on where the log says that the file was left, or begins at its start.
    pub fn new(service: Arc<Service>, path: &Path) -> Result<Follower> {
        let wrong = |reason: String| Error::Data { path: path.to_owned(), reason };
        let absolute = std::path::absolute(path).map_err(|error| wrong(error.to_string()))?;
        if let Ok(metadata) = fs::metadata(path) {
            check(&metadata).map_err(|error| wrong(error.to_string()))?;
        }
        let name = format!("file:{}", absolute.display());
        let place =
            match service.log.source(&name)? {
                Some(place) => Some(serde_json::from_str(&place).map_err(|error| {
                    wrong(format!("how far it was read is not to be understood: {error}"))
                })?),
                None => None,
            };
        let buffer = LineBuffer::new(service.settings.max_line_bytes);
        Ok(Follower { service, path: absolute, name, place, open: None, buffer })
    }

    /// Follows until the service stops.
    pub fn run(mut self) {
        let mut told = String::new();
        while !self.service.is_stopping() {
            match self.look() {
                Ok(Look::Something) => told.clear(),
                Ok(Look::Nothing) => {
                    told.clear();
                    pause(&self.service, PAUSE);
                }
                Err(Error::Stopping) => return,
                Err(error) => {
                    // It is opened again at the place that is logged.
                    self.open = None;
                    let message = error.to_string();
                    if message != told {
                        tracing::warn!(file = %self.path.display(), error = %message, "a file cannot be followed now");
                        told = message;
                    }
                    pause(&self.service, LONG_PAUSE);
                }
            }
        }
    }

    fn look(&mut self) -> Result<Look> {
        let failed = failure(&self.path);
        if self.open.is_none() {
            self.open = self.find().map_err(&failed)?;
        }
        let Some(open) = &mut self.open else { return Ok(Look::Nothing) };
        let is_place_there = match &self.place {
            Some(place) => place.is_in(&mut open.file).map_err(&failed)?,
            None => true,
        };
        let unfinished = self.buffer.last(MARK_BYTES);
        if !is_place_there || !stands_before(&mut open.file, open.offset, unfinished).map_err(&failed)? {
            tracing::warn!(file = %self.path.display(), "the file was cut, and is read from its start");
            self.place = None;
            self.buffer.clear();
            open.offset = 0;
        }
        let mut block = vec![0; Chunk::BYTES];
        open.file.seek(SeekFrom::Start(open.offset)).map_err(&failed)?;
        let length = open.file.read(&mut block).map_err(&failed)?;
        open.offset += length as u64;
        self.buffer.push(&block[..length]);
        if let Some((chunk, bytes)) = self.buffer.take() {
            self.log(chunk, bytes)?;
        }
        if length > 0 {
            return Ok(Look::Something);
        }
        self.at_end()
    }

    /// Nothing more is in the file now: is there another one?
    fn at_end(&mut self) -> Result<Look> {
        let Some(open) = &mut self.open else { return Ok(Look::Nothing) };
        if open.is_old {
            if let Some((chunk, bytes)) = self.buffer.finish() {
                self.log(chunk, bytes)?;
            }
            self.open = None;
            self.place = None;
            return Ok(Look::Something);
        }
        let there = if_there(fs::metadata(&self.path)).map_err(failure(&self.path))?;
        open.is_old = there.is_some_and(|metadata| Identity::of(&metadata) != open.identity);
        Ok(Look::Nothing)
    }

    /// Logs lines with the place behind them.
    fn log(&mut self, chunk: Chunk, bytes: usize) -> Result<()> {
        let Some(open) = &mut self.open else { return Ok(()) };
        let start = self.place.as_ref().map_or(0, |place| place.offset);
        let chunk = if start == 0 { without_mark(chunk) } else { chunk };
        let place = Place::at(&mut open.file, start + bytes as u64).map_err(failure(&self.path))?;
        let position = serde_json::to_string(&place).expect("a place is numbers and letters");
        append(&self.service, &chunk, Some(&SourcePosition { name: self.name.clone(), position }))?;
        self.place = Some(place);
        Ok(())
    }

    /// The file that is to be read: the one that was read last, wherever it is now, or else the one at the path.
    fn find(&mut self) -> io::Result<Option<Open>> {
        self.buffer.clear();
        let current = if_there(open(&self.path))?;
        let Some(place) = &self.place else {
            return current.map(|file| opened(file, 0, false)).transpose();
        };
        let (identity, offset) = (place.identity, place.offset);
        if let Some(mut file) = current {
            if Identity::of(&file.metadata()?) == identity {
                // If it was cut meanwhile, reading will notice.
                return opened(file, offset, false).map(Some);
            }
            if let Some(renamed) = self.renamed(identity)? {
                return opened(renamed, offset, true).map(Some);
            }
            // A copy that took the place of the original goes on where that was left.
            if place.is_in(&mut file)? && offset > 0 {
                return opened(file, offset, false).map(Some);
            }
            tracing::warn!(file = %self.path.display(), "another file is there, and what was read before is gone");
            self.place = None;
            return opened(file, 0, false).map(Some);
        }
        // Between two files: the old one may have more until the new one is there.
        self.renamed(identity)?.map(|file| opened(file, offset, false)).transpose()
    }

    /// A file in the same folder that was read under this path before, and has all that was read.
    fn renamed(&self, identity: Identity) -> io::Result<Option<File>> {
        let (Some(folder), Some(place)) = (self.path.parent(), &self.place) else { return Ok(None) };
        for entry in fs::read_dir(folder)?.flatten() {
            let is_it = entry
                .metadata()
                .is_ok_and(|metadata| metadata.is_file() && Identity::of(&metadata) == identity);
            if is_it
                && let Ok(mut file) = open(&entry.path())
                && place.is_in(&mut file)?
            {
                return Ok(Some(file));
            }
        }
        Ok(None)
    }
}

/// Opens a file, and nothing else. A pipe may have taken its place, whose writer would be waited for: the open file itself
/// is looked at, and opening does not wait.
fn open(path: &Path) -> io::Result<File> {
    check(&fs::metadata(path)?)?;
    let mut options = File::options();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits().cast_signed());
    }
    let file = options.open(path)?;
    check(&file.metadata()?)?;
    Ok(file)
}

fn check(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_file() {
        return Ok(());
    }
    Err(io::Error::other("this is not a file, and cannot be followed"))
}

fn opened(file: File, offset: u64, is_old: bool) -> io::Result<Open> {
    let identity = Identity::of(&file.metadata()?);
    Ok(Open { file, identity, offset, is_old })
}

/// What a caller is told where a file cannot be read.
fn failure(path: &Path) -> impl Fn(io::Error) -> Error + use<> {
    let path = path.to_owned();
    move |error| Error::Data { path: path.clone(), reason: error.to_string() }
}

/// Nothing where there is no such file.
fn if_there<T>(result: io::Result<T>) -> io::Result<Option<T>> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Some programs begin a file with a byte order mark, which is no part of its text.
fn without_mark(mut chunk: Chunk) -> Chunk {
    if chunk.text.starts_with(b"\xEF\xBB\xBF") {
        chunk.text.drain(..3);
    }
    chunk
}

#[cfg(test)]
mod tests;
