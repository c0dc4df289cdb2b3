//! Downloads of the vectors.
//!
//! The file is written first and then sent: its length is known, and errors have a status. Formats of two files are sent as
//! a tar archive.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderValue, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use skipstream::formats::{self, Format};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::answer::compute;
use super::extract::{Number, Parameters};
use super::query::vectors::version_headers;
use crate::published::Published;
use crate::service::Service;

/// Folder for these files, in the data folder.
const FOLDER: &str = "export";

/// Size of the pieces that are read.
const STEP: usize = 256 << 10;

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
}

impl Kind {
    /// The format, the name of the file or folder to write, and the name and type of the download.
    fn describe(self) -> (Format, &'static str, &'static str, &'static str) {
        const BYTES: &str = "application/octet-stream";
        const TAR: &str = "application/x-tar";
        let (format, file, media_type) = match self {
            Kind::Word2vecText => (Format::Word2vecText, "vectors.txt", "text/plain; charset=utf-8"),
            Kind::Word2vecBinary => (Format::Word2vecBinary, "vectors.bin", BYTES),
            Kind::Safetensors => (Format::Safetensors, "vectors.safetensors", BYTES),
            Kind::Finalfusion => (Format::Finalfusion, "vectors.fifu", BYTES),
            Kind::Npy => return (Format::Npy, "vectors.npy", "vectors-npy.tar", TAR),
            Kind::Projector => return (Format::Projector, "vectors", "vectors-projector.tar", TAR),
        };
        (format, file, file, media_type)
    }
}

/// Download the vectors
#[utoipa::path(
    get, path = "/v1/export", tag = "operations", params(Query),
    responses(
        (
            status = 200, description = "The file; the headers x-skipstream-seq and x-skipstream-time identify the version",
            content(
                (String = "text/plain"), (Vec<u8> = "application/octet-stream"), (Vec<u8> = "application/x-tar")
            )
        ),
        (status = 507, description = "The disk is full")
    ),
    security(("token" = ["read"]))
)]
pub async fn export(
    State(service): State<Arc<Service>>,
    Parameters(Query { format, top }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let published = service.published();
    let top = top.map_or(usize::MAX, Top::get);
    let file = compute({
        let (service, published) = (service.clone(), published.clone());
        move || write(&service, &published, format, top)
    });
    let file = file.await?;
    let length = file.metadata().map_err(ApiError::internal)?.len();
    let (_, _, name, media_type) = format.describe();
    let disposition = HeaderValue::from_str(&format!("attachment; filename=\"{name}\""));
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CONTENT_LENGTH, HeaderValue::from(length)),
        (header::CONTENT_DISPOSITION, disposition.expect("the names are visible ASCII")),
    ];
    Ok((headers, version_headers(&published), stream(file)).into_response())
}

/// Removes files left by a killed process.
pub fn tidy(data: &Path) {
    match fs::remove_dir_all(data.join(FOLDER)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            tracing::warn!(%error, "cannot remove files of interrupted downloads");
        }
        _ => {}
    }
}

/// Writes the file. It is unlinked on return, so nobody has to remove it.
fn write(service: &Service, published: &Published, kind: Kind, top: usize) -> Result<File, ApiError> {
    let parent = service.settings.data.join(FOLDER);
    let failed = |source| skipstream::Error::Io { path: parent.clone(), source };
    fs::create_dir_all(&parent).map_err(failed)?;
    let folder = tempfile::tempdir_in(&parent).map_err(failed)?;
    let (format, name, ..) = kind.describe();
    let path = folder.path().join(name);
    formats::save(&published.embeddings.top(top), format, &path)?;
    let files = format.files(&path);
    let file = match &files[..] {
        [file] => File::open(file),
        files => pack(folder.path(), files),
    };
    Ok(file.map_err(failed)?)
}

fn pack(folder: &Path, files: &[PathBuf]) -> io::Result<File> {
    let packed = folder.join("packed.tar");
    let mut archive = tar::Builder::new(File::create(&packed)?);
    for file in files {
        let name = file.file_name().ok_or_else(|| io::Error::other("a file has a name"))?;
        archive.append_path_with_name(file, name)?;
    }
    archive.into_inner()?;
    File::open(&packed)
}

/// Reads the file while it is sent.
fn stream(file: File) -> Body {
    Body::from_stream(futures_util::stream::try_unfold(file, |mut file| async move {
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
