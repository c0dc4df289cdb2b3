//! Vectors, as JSON or as bytes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use skipstream::Embeddings;
use utoipa::{IntoParams, ToSchema};

use super::MAX_QUERIES;
use crate::http::ApiError;
use crate::http::answer::{self, Answer, AskedWords, Sources, View, WordResult};
use crate::http::extract::{Json as Body, List, Parameters, Path, Word};
use crate::http::lanes::Work;
use crate::published::Published;
use crate::service::Service;

/// The vector of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct OneVector {
    /// The word
    pub word: String,
    /// Its vector
    pub vector: Vec<f32>,
}

/// Whose vector
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// The vector of a word
///
/// As JSON, or with `Accept: application/octet-stream` as little-endian 32-bit floats.
#[utoipa::path(
    get, path = "/v1/words/{word}/vector", tag = "queries",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded"), Query),
    responses(
        (status = 200, content((Answer<OneVector> = "application/json"), (Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "The word is not in the vocabulary")
    )
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
    Parameters(Query { subwords }): Parameters<Query>,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let asked = AskedWords::find(&work, &service, &[word.as_str()], subwords).await?;
    let row = asked.embeddings.row_of(word.as_str())?;
    let vector = asked.embeddings.vector_at(row).into_owned();
    if wants_bytes(&headers) {
        return Ok(bytes(&asked.published, &vector));
    }
    let answer = OneVector { word: word.into_string(), vector };
    Ok(Answer::about(&asked.published, asked.sources, answer).into_response())
}

type Words = List<Word, 0, MAX_QUERIES>;

/// A batch of words
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Batch {
    /// The words
    #[schema(inline)]
    words: Words,
    /// Whether to normalize the vectors to length 1
    #[serde(default)]
    normalize: bool,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// The vectors of a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct ManyVectors {
    /// Number of dimensions
    pub dimensions: usize,
    /// One result per word, in the same order
    pub results: Vec<WordResult<Vector>>,
}

/// A vector
#[derive(Debug, Serialize, ToSchema)]
pub struct Vector {
    /// The values
    pub vector: Vec<f32>,
}

/// The vectors of many words
///
/// As JSON, in which an unknown word has an error in its result; or with `Accept: application/octet-stream` as rows of
/// little-endian 32-bit floats, for which all words must be known.
#[utoipa::path(
    post, path = "/v1/vectors", tag = "queries", request_body = Batch,
    responses(
        (status = 200, content((Answer<ManyVectors> = "application/json"), (Vec<u8> = "application/octet-stream"))),
        (status = 404, description = "Bytes were requested and a word is not in the vocabulary")
    )
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    work: Work,
    headers: HeaderMap,
    Body(Batch { words: List(words), normalize, subwords }): Body<Batch>,
) -> Result<Response, ApiError> {
    let own = work.clone();
    work.run(move |cancel| {
        let view = View::current(&service, subwords)?;
        let (published, mut sources) = (&view.published, Sources::new());
        let mut find = |word: &Word| {
            cancel.check()?;
            vector(&view.embeddings(&[word.as_str()], &mut sources), word.as_str(), normalize)
        };
        if wants_bytes(&headers) {
            let vectors = words.iter().map(find).collect::<Result<Vec<_>, _>>()?;
            return Ok(bytes(published, &vectors.concat()));
        }
        let result = |word: Word| {
            let result = find(&word).map(|vector| Vector { vector }).into();
            WordResult { word: Some(word.into_string()), result }
        };
        let dimensions = published.embeddings.dimensions();
        let results = words.into_iter().map(result).collect();
        answer::write(&own, &Answer::about(published, sources, ManyVectors { dimensions, results }))
    })
    .await
}

fn vector(embeddings: &Embeddings, word: &str, normalize: bool) -> Result<Vec<f32>, ApiError> {
    let row = embeddings.row_of(word)?;
    Ok(if normalize { embeddings.unit_vector(row) } else { embeddings.vector_at(row).into_owned() })
}

const BYTES: &str = "application/octet-stream";

/// Whether the client prefers bytes to JSON.
fn wants_bytes(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::ACCEPT).into_iter().filter_map(|value| value.to_str().ok());
    let types = values.flat_map(|value| value.split(','));
    let mut names = types.map(|kind| kind.split(';').next().unwrap_or_default().trim().to_ascii_lowercase());
    names.find(|name| name == BYTES || name == "application/json").is_some_and(|name| name == BYTES)
}

/// The version is in headers, since a body of values has no place for it.
fn bytes(published: &Published, values: &[f32]) -> Response {
    let body: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    let mut headers = version_headers(published);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(BYTES));
    headers.insert("x-skipstream-dimensions", HeaderValue::from(published.embeddings.dimensions()));
    (StatusCode::OK, headers, body).into_response()
}

/// The headers that identify a published version.
pub fn version_headers(published: &Published) -> HeaderMap {
    let mut headers = HeaderMap::new();
    headers.insert("x-skipstream-seq", HeaderValue::from(published.seq));
    let time = HeaderValue::from_str(&published.time.to_string()).expect("a time is visible ASCII");
    headers.insert("x-skipstream-time", time);
    headers
}
