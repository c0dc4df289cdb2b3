//! Nearest neighbors of words and vectors.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use skipstream::embeddings;
use utoipa::{IntoParams, ToSchema};

use super::{Answers, Candidates, MAX_QUERIES, MinCount, Top, answers, check_batch};
use crate::http::ApiError;
use crate::http::answer::{self, Answer, AskedWords, Found, NeighborInfo, Sources, View, WordResult};
use crate::http::extract::{Json as Body, List, Parameters, Path, Word};
use crate::http::lanes::Work;
use crate::service::Service;

/// Which neighbors
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Number of neighbors; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// Minimum count of the neighbors; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only neighbors among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// The neighbors of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct Neighbors<'a> {
    /// The word
    pub word: String,
    /// Minimum count of the neighbors
    pub min_count: u64,
    /// The neighbors, nearest first
    #[schema(value_type = Vec<NeighborInfo>)]
    pub neighbors: Found<'a>,
}

/// Nearest neighbors of a word
#[utoipa::path(
    get, path = "/v1/words/{word}/neighbors", tag = "queries",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded"), Query),
    responses(
        (status = 200, body = Answer<Neighbors<'_>>),
        (status = 404, description = "The word is not in the vocabulary")
    )
)]
pub async fn of_word(
    State(service): State<Arc<Service>>,
    work: Work,
    Path(word): Path<Word>,
    Parameters(Query { n, min_count, top, subwords }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let asked = AskedWords::find(&work, &service, &[word.as_str()], subwords).await?;
    let row = asked.embeddings.row_of(word.as_str())?;
    let candidates = Candidates { min_count, top };
    let rows = candidates.rows(&asked.embeddings);
    let query = embeddings::Query::neighbors(row, answers(n)).among(rows);
    let hits = asked.search(&work, &service, query).await?;
    let (word, min_count) = (word.into_string(), candidates.min_count(&asked.published));
    let neighbors = Found { published: &asked.published, hits };
    let answer = Neighbors { word, min_count, neighbors };
    Ok(Answer::about(&asked.published, asked.sources, answer).into_response())
}

type Words = List<Word, 0, MAX_QUERIES>;
type Vectors = List<Vec<f32>, 0, MAX_QUERIES>;

/// A batch of either words or vectors
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct WordsOrVectors {
    /// The words
    #[schema(inline)]
    words: Option<Words>,
    /// The vectors, each as long as the published ones
    #[schema(inline)]
    vectors: Option<Vectors>,
    /// Number of neighbors of each; 10 by default
    #[schema(inline)]
    n: Option<Answers>,
    /// Minimum count of the neighbors; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[schema(inline)]
    min_count: Option<MinCount>,
    /// Only neighbors among this many most frequent words; all by default
    #[schema(inline)]
    top: Option<Top>,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// Neighbors for a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct ManyNeighbors<'a> {
    /// Minimum count of the neighbors
    pub min_count: u64,
    /// One result per word or vector, in the same order
    pub results: Vec<WordResult<NeighborList<'a>>>,
}

/// Nearest neighbors
#[derive(Debug, Serialize, ToSchema)]
pub struct NeighborList<'a> {
    /// The neighbors, nearest first
    #[schema(value_type = Vec<NeighborInfo>)]
    pub neighbors: Found<'a>,
}

/// Nearest neighbors of many words or vectors
///
/// Send either words or vectors. At most 100,000 neighbors in total. An unknown word, or a vector of the wrong length, has
/// an error in its result.
#[utoipa::path(
    post, path = "/v1/neighbors", tag = "queries", request_body = WordsOrVectors,
    responses((status = 200, body = Answer<ManyNeighbors<'_>>))
)]
pub async fn of_many(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(WordsOrVectors { words, vectors, n, min_count, top, subwords }): Body<WordsOrVectors>,
) -> Result<Response, ApiError> {
    let n = answers(n);
    // A few batches at a time: each holds its version and what was found.
    let turn = work.turn().await;
    let view = View::current(&service, subwords)?;
    let (published, mut sources) = (view.published.clone(), Sources::new());
    let dimensions = published.embeddings.dimensions();
    let (asked, mut names): (Vec<Result<embeddings::Query<'static>, ApiError>>, _) = match (words, vectors) {
        (Some(List(words)), None) => {
            check_batch(words.len(), n)?;
            let mut about_word = |word: &Word| {
                let embeddings = view.embeddings(&[word.as_str()], &mut sources);
                let query = embeddings::Query::neighbors(embeddings.row_of(word.as_str())?, n);
                Ok(embeddings.without_estimated_rows(query))
            };
            let asked = words.iter().map(&mut about_word).collect();
            (asked, words.into_iter())
        }
        (None, Some(List(vectors))) => {
            check_batch(vectors.len(), n)?;
            let asked = vectors.into_iter().map(|vector| about_vector(vector, dimensions, n)).collect();
            (asked, Vec::new().into_iter())
        }
        (words, _) => {
            let given = if words.is_some() { "both" } else { "neither" };
            let message = format!("the body has {given} of `words` and `vectors`; it must have exactly one");
            return Err(ApiError::bad_request(message));
        }
    };
    let candidates = Candidates { min_count, top };
    let rows = candidates.rows(&published.embeddings);
    let queries = asked.iter().flatten().cloned();
    let queries = queries.map(|query| query.among(rows.clone())).collect();
    let found = service.search.search(work.client, &published, queries).await?;
    // Looking the words up and writing them takes a while, too.
    let write = move |_: &_| {
        let mut found = found.into_iter();
        let result = |asked: Result<embeddings::Query<'static>, ApiError>| {
            let list = asked.map(|_| Found { published: &published, hits: found.next().unwrap_or_default() });
            let result = list.map(|neighbors| NeighborList { neighbors }).into();
            WordResult { word: names.next().map(Word::into_string), result }
        };
        let results = asked.into_iter().map(result).collect();
        let min_count = candidates.min_count(&published);
        answer::write(&work, &Answer::about(&published, sources, ManyNeighbors { min_count, results }))
    };
    turn.run(write).await
}

fn about_vector(
    vector: Vec<f32>,
    dimensions: usize,
    n: usize,
) -> Result<embeddings::Query<'static>, ApiError> {
    if vector.len() != dimensions {
        let message =
            format!("the vector has {} values; the published vectors have {dimensions}", vector.len());
        return Err(ApiError::bad_request(message));
    }
    if !vector.iter().map(|value| value * value).sum::<f32>().is_finite() {
        return Err(ApiError::bad_request("the vector is too long: the sum of its squares exceeds 3e38"));
    }
    Ok(embeddings::Query::nearest(vector, n))
}
