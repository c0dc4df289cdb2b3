//! Downloads of the vectors, written while they are sent.
//!
//! A thread writes the file into a few pages of memory, from which the connection takes them. If it cannot go on, the body ends
//! early, which a client sees: the length is wrong, or the last chunk is missing.

use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use axum::Extension;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use skipstream::Embeddings;
use skipstream::formats::{self, Format};
use tokio::runtime::Handle;
use tokio::sync::{mpsc, oneshot};
use tokio::task;
use tokio::time::{Instant, sleep_until};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::extract::{Number, Parameters};
use super::query::vectors::version_headers;
use crate::places::Place;
use crate::published::Published;
use crate::service::Service;
use crate::settings::DOWNLOADED_VERSIONS;

/// Size of a page in bytes, and how many wait for the connection.
const PAGE_BYTES: usize = 64 << 10;
const PAGES: usize = 3;

/// A client that reads fewer bytes per second than this on average is disconnected, after the request timeout at the
/// earliest: it keeps a published version in memory.
const MIN_RATE: f64 = 16.0 * 1024.0;

/// What to download
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// The format; `word2vec-text` by default. `npy` and `projector` consist of two files, in a tar archive
    #[serde(default)]
    #[param(inline)]
    format: Kind,
    /// Number of words, most frequent first; all by default
    #[param(inline)]
    top: Option<Top>,
}

type Top = Number<1, 100_000_000>;

/// A format
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Kind {
    #[default]
    Word2vecText,
    Word2vecBinary,
    Safetensors,
    Npy,
    Finalfusion,
    Projector,
    Parquet,
}

impl Kind {
    /// The format, the name of the file or folder to write, and the name and type of the download.
    fn describe(self) -> (Format, &'static str, &'static str, &'static str) {
        const BYTES: &str = "application/octet-stream";
        const TAR: &str = "application/x-tar";
        const PARQUET: &str = "application/vnd.apache.parquet";
        let (format, file, media_type) = match self {
            Kind::Word2vecText => (Format::Word2vecText, "vectors.txt", "text/plain; charset=utf-8"),
            Kind::Word2vecBinary => (Format::Word2vecBinary, "vectors.bin", BYTES),
            Kind::Safetensors => (Format::Safetensors, "vectors.safetensors", BYTES),
            Kind::Finalfusion => (Format::Finalfusion, "vectors.fifu", BYTES),
            Kind::Parquet => (Format::Parquet, "vectors.parquet", PARQUET),
            Kind::Npy => return (Format::Npy, "vectors.npy", "vectors-npy.tar", TAR),
            Kind::Projector => return (Format::Projector, "vectors", "vectors-projector.tar", TAR),
        };
        (format, file, file, media_type)
    }

    /// Whether it is cheap to find the length: numbers as bytes, neither as text nor compressed.
    fn has_known_length(self) -> bool {
        !matches!(self, Kind::Word2vecText | Kind::Projector | Kind::Parquet)
    }
}

/// Download the vectors
///
/// They are sent while they are written. A client that reads less than 16 KiB per second is disconnected, and so is one that
/// has paused for 5 seconds while others wait. The length is known beforehand, except for
/// text and Parquet.
#[utoipa::path(
    get, path = "/v1/export", tag = "operations", params(Query),
    responses(
        (
            status = 200, description = "The file; the headers x-skipstream-seq and x-skipstream-time identify the version",
            content(
                (String = "text/plain"), (Vec<u8> = "application/octet-stream"), (Vec<u8> = "application/x-tar"),
                (Vec<u8> = "application/vnd.apache.parquet")
            )
        )
    )
)]
pub async fn export(
    State(service): State<Arc<Service>>,
    Extension(place): Extension<Arc<Place>>,
    Extension(versions): Extension<Arc<Versions>>,
    Parameters(Query { format, top }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let version = versions.read(service.published());
    let (_, _, name, media_type) = format.describe();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_DISPOSITION, disposition.expect("the names are visible ASCII")),
    ];
    let version_headers = version_headers(&version.0);
    let (send, pages) = mpsc::channel(PAGES);
    let (begin, begun) = oneshot::channel();
    let to = Pages {
        page: Vec::new(),
        send,
        begin: Some(begin),
        length: None,
        place: place.clone(),
        runtime: Handle::current(),
        deadline: Instant::now() + service.settings.request_timeout,
    };
    task::spawn_blocking(move || produce(&version.0, format, top.map_or(usize::MAX, Top::get), to));
    let length = begun.await.map_err(ApiError::internal)??;
    let mut response = (headers, version_headers, Body::from_stream(body(pages, place))).into_response();
    if let Some(length) = length {
        response.headers_mut().insert(header::CONTENT_LENGTH, HeaderValue::from(length));
    }
    Ok(response)
}

/// The versions that downloads read. A few of them share each, because they keep it in memory.
#[derive(Debug, Default)]
pub struct Versions(Mutex<Vec<Weak<Version>>>);

#[derive(Debug)]
struct Version(Arc<Published>);

impl Versions {
    /// The version to read: the current one or, if downloads read too many others already, the newest of those.
    fn read(&self, current: Arc<Published>) -> Arc<Version> {
        let mut read = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        read.retain(|version| version.strong_count() > 0);
        let same = read.iter().filter_map(Weak::upgrade).find(|version| Arc::ptr_eq(&version.0, &current));
        let is_full = read.len() >= DOWNLOADED_VERSIONS;
        let newest = || read.last().filter(|_| is_full).and_then(Weak::upgrade);
        same.or_else(newest).unwrap_or_else(|| {
            let version = Arc::new(Version(current));
            read.push(Arc::downgrade(&version));
            version
        })
    }
}

/// Pages of the body, and its end: without that, it was cut off.
enum Piece {
    Page(Bytes),
    End,
}

/// The body. A download is idle while the client takes its time to read a page.
fn body(
    pages: mpsc::Receiver<Piece>,
    place: Arc<Place>,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    futures_util::stream::try_unfold((pages, place), |(mut pages, place)| async move {
        place.set_busy();
        let page = pages.recv().await;
        place.set_idle();
        match page {
            Some(Piece::Page(bytes)) => Ok(Some((bytes, (pages, place)))),
            Some(Piece::End) => Ok(None),
            None => Err(io::Error::other("the download was cut off")),
        }
    })
}

/// Writes the whole file, unless the client disconnects or must give way.
fn produce(published: &Published, kind: Kind, top: usize, mut to: Pages) {
    let download = Download {
        embeddings: published.embeddings.top(top),
        kind,
        time: published.time.as_second().max(0) as u64,
        send: to.send.clone(),
    };
    let mut write = || {
        if kind.has_known_length() {
            to.length = Some(download.length(|counter| download.write(counter))?);
        }
        download.write(&mut to)?;
        to.finish().map_err(failed(Path::new(kind.describe().1)))
    };
    if let Err(error) = write() {
        match to.begin.take() {
            // Nothing was sent yet, so the error has a status.
            Some(begin) if !to.send.is_closed() => drop(begin.send(Err(error.into()))),
            _ => tracing::debug!(%error, "a download ended early"),
        }
    }
}

struct Download {
    embeddings: Embeddings,
    kind: Kind,
    /// For the entries of an archive, in Unix seconds.
    time: u64,
    /// Closed when the client disconnects.
    send: mpsc::Sender<Piece>,
}

impl Download {
    /// Writes a file, or an archive of files.
    fn write(&self, to: &mut dyn Write) -> skipstream::Result<()> {
        let (format, name, ..) = self.kind.describe();
        let files = format.files(name);
        if let [file] = &files[..] {
            return formats::write_file(&self.embeddings, format, 0, to, file);
        }
        // The words first, because the size of the vectors may take a while to find.
        for (number, file) in files.iter().enumerate().rev() {
            let write = |to: &mut dyn Write| formats::write_file(&self.embeddings, format, number, to, file);
            let size = self.length(write)?;
            let head = self.tar_header(file, size).map_err(failed(file))?;
            to.write_all(head.as_bytes()).map_err(failed(file))?;
            write(to)?;
            let padding = size.next_multiple_of(TAR_BLOCK as u64) - size;
            to.write_all(&[0; TAR_BLOCK][..padding as usize]).map_err(failed(file))?;
        }
        to.write_all(&[0; 2 * TAR_BLOCK]).map_err(failed(Path::new(name)))
    }

    fn tar_header(&self, file: &Path, size: u64) -> io::Result<tar::Header> {
        let mut header = tar::Header::new_gnu();
        header.set_path(Path::new(file.file_name().unwrap_or_default()))?;
        header.set_size(size);
        header.set_mode(0o644);
        header.set_mtime(self.time);
        header.set_cksum();
        Ok(header)
    }

    /// The number of bytes that are written.
    fn length(
        &self,
        write: impl FnOnce(&mut dyn Write) -> skipstream::Result<()>,
    ) -> skipstream::Result<u64> {
        let mut counter = Counter { bytes: 0, send: &self.send };
        write(&mut counter)?;
        Ok(counter.bytes)
    }
}

const TAR_BLOCK: usize = 512;

fn failed(path: &Path) -> impl FnOnce(io::Error) -> skipstream::Error {
    move |source| skipstream::Error::Io { path: path.to_owned(), source }
}

/// Counts bytes while the client waits for them.
struct Counter<'a> {
    bytes: u64,
    send: &'a mpsc::Sender<Piece>,
}

impl Write for Counter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.send.is_closed() {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        self.bytes += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Collects bytes in pages and hands them to the connection.
struct Pages {
    page: Vec<u8>,
    send: mpsc::Sender<Piece>,
    /// Where to say that the response can begin, until it has.
    begin: Option<oneshot::Sender<Result<Option<u64>, ApiError>>>,
    length: Option<u64>,
    place: Arc<Place>,
    runtime: Handle,
    /// By when the connection must take the next page. Each page that it took puts it off.
    deadline: Instant,
}

impl Pages {
    fn send(&mut self, piece: Piece) -> io::Result<()> {
        if let Some(begin) = self.begin.take() {
            // If nobody waits for it, sending fails, too.
            let _ = begin.send(Ok(self.length));
        }
        let (send, place, deadline) = (&self.send, &self.place, self.deadline);
        self.runtime.block_on(async {
            tokio::select! {
                // The timer last: to ask it after the service has stopped is a panic.
                biased;
                () = place.needed() => Err(io::Error::other("it gave way to another")),
                sent = send.send(piece) => sent.map_err(|_| io::ErrorKind::BrokenPipe.into()),
                () = sleep_until(deadline) => Err(io::ErrorKind::TimedOut.into()),
            }
        })?;
        self.deadline += Duration::from_secs_f64(PAGE_BYTES as f64 / MIN_RATE);
        Ok(())
    }

    fn send_page(&mut self) -> io::Result<()> {
        let page = std::mem::replace(&mut self.page, Vec::with_capacity(PAGE_BYTES));
        self.send(Piece::Page(page.into()))
    }

    /// Sends the rest.
    fn finish(&mut self) -> io::Result<()> {
        self.send_page()?;
        self.send(Piece::End)
    }
}

impl Write for Pages {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(PAGE_BYTES - self.page.len());
        self.page.extend_from_slice(&bytes[..n]);
        if self.page.len() == PAGE_BYTES {
            self.send_page()?;
        }
        Ok(n)
    }

    /// Pages are sent when they are full.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::published;

    #[test]
    fn downloads_share_a_few_versions() {
        let versions = Versions::default();
        let read: Vec<Arc<Version>> = (0..5).map(|_| versions.read(published(1, 1))).collect();
        let distinct = read.windows(2).filter(|pair| !Arc::ptr_eq(&pair[0], &pair[1])).count() + 1;
        assert_eq!(distinct, DOWNLOADED_VERSIONS);
        drop(read);
        let current = published(1, 1);
        assert!(Arc::ptr_eq(&versions.read(current.clone()).0, &current), "nothing else is read any more");
    }
}
