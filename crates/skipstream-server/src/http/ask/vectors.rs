//! The vectors themselves, as JSON or as bytes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::{MAX_QUESTIONS, Outcome};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute, row_of};
use crate::http::extract::{Json as Body, List, Path, Word};
use crate::published::Published;
use crate::service::Service;

/// A vector
#[derive(Debug, Serialize, ToSchema)]
pub struct OneVector {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The word
    pub word: String,
    /// Its vector
    pub vector: Vec<f32>,
}

/// The vector of a word
///
/// As JSON, or with `Accept: application/octet-stream` as little-endian 32-bit floats.
#[utoipa::path(
    get, path = "/v1/words/{word}/vector", tag = "questions",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded")),
    responses(
        (status = 200, content((OneVector = "application/json"), (Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "The word is not known")
    ),
    security(("token" = ["read"]))
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let published = service.published();
    let shape = Shape::wanted(&headers);
    compute(move || {
        let row = row_of(&published, word.as_str())?;
        let vector = published.embeddings.checked_vector(row)?.into_owned();
        Ok(match shape {
            Shape::Bytes => bytes(&published, &vector),
            Shape::Json => {
                let snapshot = (&*published).into();
                Json(OneVector { snapshot, word: word.into_string(), vector }).into_response()
            }
        })
    })
    .await
}

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Words = List<Word, 0, MAX_QUESTIONS>;

/// Words whose vectors are wanted
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Wanted {
    /// The words
    #[schema(inline)]
    words: Words,
    /// Whether the vectors are brought to length 1
    #[serde(default)]
    normalize: bool,
}

/// The vectors of many words
#[derive(Debug, Serialize, ToSchema)]
pub struct ManyVectors {
    /// What the answers were made of
    pub snapshot: SnapshotInfo,
    /// The length of each vector
    pub dimensions: usize,
    /// A vector for each word, in their order
    pub results: Vec<VectorResult>,
}

/// The vector of one of many words
#[derive(Debug, Serialize, ToSchema)]
pub struct VectorResult {
    /// The word
    pub word: String,
    /// Its vector, or why there is none
    #[serde(flatten)]
    pub outcome: Outcome<Vector>,
}

/// A vector
#[derive(Debug, Serialize, ToSchema)]
pub struct Vector {
    /// The values
    pub vector: Vec<f32>,
}

/// The vectors of many words
///
/// As JSON, where a word that is not known has an error of its own among the results; or with `Accept:
/// application/octet-stream` as rows of little-endian 32-bit floats, where all words must be known.
#[utoipa::path(
    post, path = "/v1/vectors", tag = "questions", request_body = Wanted,
    responses(
        (status = 200, content((ManyVectors = "application/json"), (Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "A word is not known, and bytes were asked for")
    ),
    security(("token" = ["read"]))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    headers: HeaderMap,
    Body(Wanted { words: List(words), normalize }): Body<Wanted>,
) -> Result<Response, ApiError> {
    let published = service.published();
    let shape = Shape::wanted(&headers);
    compute(move || {
        let find = |word: &Word| vector(&published, word.as_str(), normalize);
        Ok(match shape {
            Shape::Bytes => {
                let vectors = words.iter().map(find).collect::<Result<Vec<_>, _>>()?;
                bytes(&published, &vectors.concat())
            }
            Shape::Json => {
                let result = |word: Word| {
                    let outcome = find(&word).map(|vector| Vector { vector }).into();
                    VectorResult { word: word.into_string(), outcome }
                };
                let dimensions = published.embeddings.dimensions();
                let results = words.into_iter().map(result).collect();
                Json(ManyVectors { snapshot: (&*published).into(), dimensions, results }).into_response()
            }
        })
    })
    .await
}

fn vector(published: &Published, word: &str, normalize: bool) -> Result<Vec<f32>, ApiError> {
    let row = published.embeddings.row_of(word)?;
    Ok(if normalize {
        published.embeddings.unit_vector(row)
    } else {
        published.embeddings.vector_at(row).into_owned()
    })
}

/// How vectors are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    Json,
    Bytes,
}

const BYTES: &str = "application/octet-stream";

impl Shape {
    /// JSON, unless bytes are named and JSON is not.
    fn wanted(headers: &HeaderMap) -> Shape {
        let values = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
        let types = values.flat_map(|value| value.split(','));
        let mut names =
            types.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
        match names.find(|name| name == BYTES || name == "application/json") {
            Some(name) if name == BYTES => Shape::Bytes,
            _ => Shape::Json,
        }
    }
}

/// The snapshot stands in headers, because there is no place for it among the values.
fn bytes(published: &Published, values: &[f32]) -> Response {
    let body: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut headers = HeaderMap::new();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(BYTES));
    headers.insert("x-skipstream-seq", HeaderValue::from(published.seq));
    headers.insert("x-skipstream-dimensions", HeaderValue::from(published.embeddings.dimensions()));
    let time = HeaderValue::from_str(&published.time.to_string()).expect("a time is visible ASCII");
    headers.insert("x-skipstream-time", time);
    (StatusCode::OK, headers, body).into_response()
}
