//! The word that does not belong to the others.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{MAX_QUESTIONS, Outcome};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{SnapshotInfo, compute, row_of};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::published::Published;
use crate::service::Service;

/// Of two words neither is odder, and more than this are no question.
type Among = List<Word, 3, 100>;

/// Words of which one is odd
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Question {
    /// One of the words: three of them at least, so the name stands as often
    #[param(inline)]
    word: Among,
}

/// The word that does not belong to the others
#[derive(Debug, Serialize, ToSchema)]
pub struct OddOneOut {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The answer
    #[serde(flatten)]
    pub found: OddWord,
}

/// The word that does not belong to the others
#[derive(Debug, Serialize, ToSchema)]
pub struct OddWord {
    /// The word
    pub odd: String,
    /// All words, the odd one first, the one that fits best last
    pub words: Vec<Fit>,
}

/// How well a word fits the others
#[derive(Debug, Serialize, ToSchema)]
pub struct Fit {
    /// The word
    pub word: String,
    /// Its cosine with the mean of all of them, from -1 to 1
    pub similarity: f32,
}

/// The word that does not belong to the others
#[utoipa::path(
    get, path = "/v1/odd-one-out", tag = "questions", params(Question),
    responses((status = 200, body = OddOneOut), (status = 404, description = "One of the words is not known")),
    security(("token" = ["read"]))
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    Parameters(Question { word: List(words) }): Parameters<Question>,
) -> Result<Json<OddOneOut>, ApiError> {
    let published = service.published();
    compute(move || {
        for word in &words {
            row_of(&published, word.as_str())?;
        }
        Ok(Json(OddOneOut { snapshot: (&*published).into(), found: find(&published, &words)? }))
    })
    .await
}

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Several = List<Among, 0, MAX_QUESTIONS>;

/// Lists of words, in each of which one is odd
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct OddOneOutQuestions {
    /// The lists
    #[schema(inline)]
    questions: Several,
}

/// The odd words of many lists
#[derive(Debug, Serialize, ToSchema)]
pub struct OddOnesOut {
    /// What the answers were made of
    pub snapshot: SnapshotInfo,
    /// An answer for each list, in their order
    pub results: Vec<Outcome<OddWord>>,
}

/// The odd words of many lists
///
/// A list with a word that is not known has an error of its own among the results.
#[utoipa::path(
    post, path = "/v1/odd-one-out", tag = "questions", request_body = OddOneOutQuestions,
    responses((status = 200, body = OddOnesOut)), security(("token" = ["read"]))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    Body(OddOneOutQuestions { questions: List(questions) }): Body<OddOneOutQuestions>,
) -> Result<Json<OddOnesOut>, ApiError> {
    let published = service.published();
    compute(move || {
        let results = questions.iter().map(|List(words)| find(&published, words).into()).collect();
        Ok(Json(OddOnesOut { snapshot: (&*published).into(), results }))
    })
    .await
}

fn find(published: &Published, words: &[Word]) -> Result<OddWord, ApiError> {
    let words: Vec<&str> = words.iter().map(Word::as_str).collect();
    let fits = published.embeddings.odd_one_out(&words)?;
    let words: Vec<Fit> =
        fits.iter().map(|fit| Fit { word: fit.word.to_owned(), similarity: fit.similarity }).collect();
    Ok(OddWord { odd: words[0].word.clone(), words })
}
