//! What comes next in a sequence.

use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use skipstream::Vectors;
use utoipa::{IntoParams, ToSchema};

use super::{Answers, Candidates, MinCount, Top, answers};
use crate::http::ApiError;
use crate::http::answer::{Answer, AskedWords, Found, NeighborInfo};
use crate::http::extract::{List, Parameters, Word};
use crate::http::lanes::Work;
use crate::service::Service;

type Words = List<Word, 1, 100>;

/// A sequence
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// An item or word of the sequence; repeat the parameter for each
    #[param(inline)]
    word: Words,
    /// Number of answers; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// Minimum count of the answers; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only answers among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// What comes next
#[derive(Debug, Serialize, ToSchema)]
pub struct Next<'a> {
    /// The sequence
    pub words: Vec<String>,
    /// Minimum count of the answers
    pub min_count: u64,
    /// The answers, the most likely first, without the words that were given
    #[schema(value_type = Vec<NeighborInfo>)]
    pub next: Found<'a>,
}

/// Predict what comes next in a sequence
///
/// The words or items that occur with the given ones: the next product of a session, for instance. (Neighbors are those that
/// occur in the same company, such as products that take each other's place.) It needs both vectors of each word, so the service must have been
/// started with `--vectors joined`.
#[utoipa::path(
    get, path = "/v1/predict-next", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<Next<'_>>),
        (status = 404, description = "A word is not in the vocabulary")
    )
)]
pub async fn predict(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { word: List(words), n, min_count, top, subwords }): Parameters<Query>,
) -> Result<Response, ApiError> {
    if service.settings.vectors != Vectors::Joined {
        let message = "predict-next needs a service that was started with --vectors joined";
        return Err(ApiError::bad_request(message));
    }
    let names: Vec<&str> = words.iter().map(Word::as_str).collect();
    let asked = AskedWords::find(&work, &service, &names, subwords).await?;
    let rows = names.iter().map(|word| asked.embeddings.row_of(word)).collect::<Result<Vec<usize>, _>>()?;
    let candidates = Candidates { min_count, top };
    let query = asked.embeddings.predict_next_query(&rows, answers(n))?;
    let query = query.among(candidates.rows(&asked.embeddings));
    let hits = asked.search(&work, &service, query).await?;
    let next = Next {
        words: words.into_iter().map(Word::into_string).collect(),
        min_count: candidates.min_count(&asked.published),
        next: Found { published: &asked.published, hits },
    };
    Ok(Answer::about(&asked.published, asked.sources, next).into_response())
}
