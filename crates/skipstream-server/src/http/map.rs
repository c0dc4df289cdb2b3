//! A map of words in two dimensions.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::answer::{Answer, compute, find_row};
use super::extract::{Number, Parameters, Word};
use super::lanes::{Cancel, Work};
use super::query::{Candidates, MinCount, Top};
use crate::map::{MapRequest, Method, common_words};
use crate::published::Published;
use crate::service::Service;

type Words = Number<1, 2000>;
type Skip = Number<0, 1_000_000>;

/// Which words to map
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Number of words; 300 by default, at most 500 with `tsne`
    #[param(inline)]
    n: Option<Words>,
    /// Map this word and its `n` nearest neighbors; the `n` most frequent words by default
    #[param(inline)]
    around: Option<Word>,
    /// Number of most frequent words to leave out of a map that is not around a word; by default those that make up more than
    /// 0.05 % of the text each, but at most a tenth of the vocabulary
    #[param(inline)]
    skip: Option<Skip>,
    /// Minimum count of the words; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only words among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
    /// The projection; `tsne` by default
    #[serde(default)]
    #[param(inline)]
    method: Method,
}

/// A map of words
#[derive(Debug, Serialize, ToSchema)]
pub struct WordMap {
    /// The projection
    #[schema(inline)]
    pub method: Method,
    /// Number of most frequent words that were left out
    pub skip: usize,
    /// Minimum count of the words
    pub min_count: u64,
    /// The words: most frequent first, or the requested word and then the nearest
    pub points: Vec<Point>,
}

/// A word on the map
#[derive(Debug, Serialize, ToSchema)]
pub struct Point {
    /// The word
    pub word: String,
    /// From -1 to 1
    pub x: f64,
    /// From -1 to 1
    pub y: f64,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// Rank by frequency, from 1
    pub rank: usize,
}

/// Map words in two dimensions
#[utoipa::path(
    get, path = "/v1/map", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<WordMap>),
        (status = 404, description = "The word is not in the vocabulary")
    )
)]
pub async fn draw(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { n, around, skip, min_count, top, method }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let n = n.map_or(300, Words::get);
    let most = method.max_words();
    if n > most {
        return Err(ApiError::bad_request(format!("n is {n}; with this method it must be from 1 to {most}")));
    }
    if let Some(word) = &around {
        find_row(&work, &service.published(), word.as_str()).await?;
    }
    let state = service.clone();
    let make = move |published: &Arc<Published>, cancel: &Cancel| {
        let around = around.map(|word| published.embeddings.row_of(word.as_str())).transpose()?;
        let candidates = Candidates { min_count, top };
        let skip = match around {
            Some(_) => 0,
            None => skip.map_or_else(|| common_words(published), Skip::get),
        };
        let rows = skip..candidates.rows(&published.embeddings).end.max(skip);
        let go_on = || !cancel.is_cancelled();
        let map = state.maps.map(published, MapRequest { n, rows, around, method }, &go_on)?;
        let map = map.ok_or_else(Cancel::error)?;
        let point = |&(row, [x, y]): &(usize, [f64; 2])| Point {
            word: published.embeddings.word(row).to_owned(),
            x,
            y,
            count: published.embeddings.count(row),
            rank: row + 1,
        };
        let points = map.iter().map(point).collect();
        let min_count = candidates.min_count(published);
        Ok(WordMap { method, skip, min_count, points })
    };
    compute(&work, &service, make).await
}
