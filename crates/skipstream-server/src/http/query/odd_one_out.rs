//! The word that does not fit the others.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use skipstream::Embeddings;
use utoipa::{IntoParams, ToSchema};

use super::MAX_QUERIES;
use crate::http::ApiError;
use crate::http::answer::{Answer, AskedWords, Json, Results, Sources, View, compute_about};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::http::lanes::{Cancel, Work};
use crate::service::Service;

/// Of two words, neither is odder.
type Words = List<Word, 3, 100>;

/// Words, one of which does not fit
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// A word; repeat the parameter for at least three words
    #[param(inline)]
    word: Words,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// The word that does not fit
#[derive(Debug, Serialize, ToSchema)]
pub struct OddWord {
    /// The word
    pub odd: String,
    /// All words, the odd one first and the best fit last
    pub words: Vec<Fit>,
}

/// How well a word fits the others
#[derive(Debug, Serialize, ToSchema)]
pub struct Fit {
    /// The word
    pub word: String,
    /// Cosine similarity with the mean of all words, from -1 to 1
    pub similarity: f32,
}

/// Find the word that does not fit the others
#[utoipa::path(
    get, path = "/v1/odd-one-out", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<OddWord>),
        (status = 404, description = "A word is not in the vocabulary")
    )
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { word: List(words), subwords }): Parameters<Query>,
) -> Result<Json<Answer<OddWord>>, ApiError> {
    let names: Vec<&str> = words.iter().map(Word::as_str).collect();
    let asked = AskedWords::find(&work, &service, &names, subwords).await?;
    let odd = find(&asked.embeddings, &names)?;
    Ok(Answer::about(&asked.published, asked.sources, odd))
}

type Batch = List<Words, 0, MAX_QUERIES>;

/// A batch of lists of words
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OddOneOutQuestions {
    /// The lists
    #[schema(inline)]
    questions: Batch,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// Find the odd word of each list
///
/// A list with an unknown word has an error in its result.
#[utoipa::path(
    post, path = "/v1/odd-one-out", tag = "queries", request_body = OddOneOutQuestions,
    responses((status = 200, body = Answer<Results<OddWord>>))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(OddOneOutQuestions { questions: List(questions), subwords }): Body<OddOneOutQuestions>,
) -> Result<Response, ApiError> {
    let make = move |view: &View, sources: &mut Sources, cancel: &Cancel| {
        let find = |List(words): &Words| {
            cancel.check()?;
            let names: Vec<&str> = words.iter().map(Word::as_str).collect();
            find(&view.embeddings(&names, sources), &names)
        };
        Ok(questions.iter().map(find).collect::<Results<_>>())
    };
    compute_about(&work, &service, subwords, make).await
}

fn find(embeddings: &Embeddings, words: &[&str]) -> Result<OddWord, ApiError> {
    let fits = embeddings.odd_one_out(words)?;
    let words: Vec<Fit> =
        fits.iter().map(|fit| Fit { word: fit.word.to_owned(), similarity: fit.similarity }).collect();
    Ok(OddWord { odd: words[0].word.clone(), words })
}
