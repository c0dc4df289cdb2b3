//! The vectors as a file, in any format that is written.
//!
//! The file is made first and sent then, so that a download either is whole or did not begin: its length is known, and what
//! a format cannot hold is said with a status. Formats of two files come as one tar.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::stream;
use serde::Deserialize;
use skipstream::formats::{self, Format};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::answer::compute;
use super::extract::{Number, Parameters};
use crate::error::Error;
use crate::published::Published;
use crate::service::Service;

/// The folder, within that of the service, in which files are made.
const FOLDER: &str = "export";

/// Bytes that are read at a time.
const STEP: usize = 256 << 10;

/// What is wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Wanted {
    /// The format; `word2vec-text` by default. Those of two files, `npy` and `projector`, come as a tar
    #[serde(default)]
    #[param(inline)]
    format: Kind,
    /// How many words, the most frequent ones; all by default
    #[param(inline)]
    top: Option<Top>,
}

type Top = Number<1, 100_000_000>;

/// A format that is written
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
}

impl Kind {
    fn format(self) -> Format {
        match self {
            Kind::Word2vecText => Format::Word2vecText,
            Kind::Word2vecBinary => Format::Word2vecBinary,
            Kind::Safetensors => Format::Safetensors,
            Kind::Npy => Format::Npy,
            Kind::Finalfusion => Format::Finalfusion,
            Kind::Projector => Format::Projector,
        }
    }

    /// The name of the file, or of the folder where it is one.
    fn file_name(self) -> &'static str {
        match self {
            Kind::Word2vecText => "vectors.txt",
            Kind::Word2vecBinary => "vectors.bin",
            Kind::Safetensors => "vectors.safetensors",
            Kind::Npy => "vectors.npy",
            Kind::Finalfusion => "vectors.fifu",
            Kind::Projector => "vectors",
        }
    }

    /// The name and the type of the download.
    fn download(self) -> (&'static str, &'static str) {
        match self {
            Kind::Word2vecText => (self.file_name(), "text/plain; charset=utf-8"),
            Kind::Npy => ("vectors-npy.tar", "application/x-tar"),
            Kind::Projector => ("vectors-projector.tar", "application/x-tar"),
            _ => (self.file_name(), "application/octet-stream"),
        }
    }
}

/// The vectors as a file
#[utoipa::path(
    get, path = "/v1/export", tag = "operations", params(Wanted),
    responses(
        (
            status = 200, description = "The file; its snapshot is in the headers x-skipstream-seq and x-skipstream-time",
            content(
                (String = "text/plain"), (Vec<u8> = "application/octet-stream"), (Vec<u8> = "application/x-tar")
            )
        ),
        (status = 507, description = "There is no room on the disk")
    ),
    security(("token" = ["read"]))
)]
pub async fn export(
    State(service): State<Arc<Service>>,
    Parameters(Wanted { format, top }): Parameters<Wanted>,
) -> Result<Response, ApiError> {
    let published = service.published();
    let top = top.map_or(usize::MAX, Top::get);
    let file = compute({
        let (service, published) = (service.clone(), published.clone());
        move || make(&service, &published, format, top)
    });
    let file = file.await?;
    let length = file.metadata().map_err(ApiError::internal)?.len();
    let (name, kind) = format.download();
    let disposition = format!("attachment; filename=\"{name}\"");
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(kind)),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (
            header::CONTENT_DISPOSITION,
            HeaderValue::from_str(&disposition).expect("our names are visible ASCII"),
        ),
    ];
    let time = HeaderValue::from_str(&published.time.to_string()).expect("a time is visible ASCII");
    let snapshot = [("x-skipstream-seq", HeaderValue::from(published.seq)), ("x-skipstream-time", time)];
    Ok((StatusCode::OK, headers, snapshot, sent(file)).into_response())
}

/// Removes what a process that was killed has left.
pub fn tidy(data: &Path) {
    match fs::remove_dir_all(data.join(FOLDER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "files of broken downloads stay where they are");
        }
        _ => {}
    }
}

/// Makes the file. It has no name any more when it comes back, so that nobody has to remove it.
fn make(service: &Service, published: &Published, kind: Kind, top: usize) -> Result<File, ApiError> {
    let folder = service.settings.data.join(FOLDER);
    fs::create_dir_all(&folder).map_err(refused)?;
    let place = tempfile::tempdir_in(&folder).map_err(refused)?;
    let path = place.path().join(kind.file_name());
    let embeddings = published.embeddings.top(top);
    let result = formats::save(&embeddings, kind.format(), &path);
    result.map_err(|error| match error {
        skipstream::Error::Io { source, .. } => refused(source),
        error => error.into(),
    })?;
    let files = kind.format().files(&path);
    if let [file] = &files[..] {
        return File::open(file).map_err(refused);
    }
    pack(place.path(), &files.iter().map(AsRef::as_ref).collect::<Vec<_>>()).map_err(refused)
}

fn pack(place: &Path, files: &[&Path]) -> io::Result<File> {
    let packed = place.join("packed.tar");
    let mut archive = tar::Builder::new(File::create(&packed)?);
    for file in files {
        let name = file.file_name().ok_or_else(|| io::Error::other("a file has a name"))?;
        archive.append_path_with_name(file, name)?;
    }
    archive.into_inner()?;
    File::open(&packed)
}

fn refused(error: io::Error) -> ApiError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Error::DiskFull.into(),
        _ => ApiError::internal(error),
    }
}

/// The bytes of a file, read as they are sent.
fn sent(file: File) -> Body {
    Body::from_stream(stream::try_unfold(file, |mut file| async move {
        let (bytes, file) = tokio::task::spawn_blocking(move || {
            let mut bytes = vec![0; STEP];
            file.read(&mut bytes).map(|n| {
                bytes.truncate(n);
                (bytes, file)
            })
        })
        .await
        .map_err(io::Error::other)??;
        Ok::<_, io::Error>((!bytes.is_empty()).then(|| (Bytes::from(bytes), file)))
    }))
}
