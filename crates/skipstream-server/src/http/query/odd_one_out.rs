//! The word that does not fit the others.

use std::sync::Arc;

use axum::extract::State;
use axum::response::Response;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::MAX_QUERIES;
use crate::http::ApiError;
use crate::http::answer::{Answer, Json, Results, compute, find_row};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::http::lanes::{Cancel, Work};
use crate::published::Published;
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
    Parameters(Query { word: List(words) }): Parameters<Query>,
) -> Result<Json<Answer<OddWord>>, ApiError> {
    let published = service.published();
    for word in &words {
        find_row(&work, &published, word.as_str()).await?;
    }
    Ok(Answer::new(&published, find(&published, &words)?))
}

type Batch = List<Words, 0, MAX_QUERIES>;

/// A batch of lists of words
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OddOneOutQuestions {
    /// The lists
    #[schema(inline)]
    questions: Batch,
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
    Body(OddOneOutQuestions { questions: List(questions) }): Body<OddOneOutQuestions>,
) -> Result<Response, ApiError> {
    let make = move |published: &Arc<Published>, cancel: &Cancel| {
        let find = |List(words): &Words| {
            cancel.check()?;
            find(published, words)
        };
        Ok(questions.iter().map(find).collect::<Results<_>>())
    };
    compute(&work, &service, make).await
}

fn find(published: &Published, words: &[Word]) -> Result<OddWord, ApiError> {
    let words: Vec<&str> = words.iter().map(Word::as_str).collect();
    let fits = published.embeddings.odd_one_out(&words)?;
    let words: Vec<Fit> =
        fits.iter().map(|fit| Fit { word: fit.word.to_owned(), similarity: fit.similarity }).collect();
    Ok(OddWord { odd: words[0].word.clone(), words })
}
