//! The phrases of the model.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::{Answers, answers};
use crate::http::answer::{Answer, Json};
use crate::http::extract::Parameters;
use crate::service::Service;

/// Number of phrases
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// Number of phrases; 10 by default
    #[param(inline)]
    n: Option<Answers>,
}

/// Phrases
#[derive(Debug, Serialize, ToSchema)]
pub struct Phrases {
    /// Number of phrases of the model
    total: usize,
    /// The phrases, most frequent first
    phrases: Vec<PhraseInfo>,
}

/// Words that are learned as one
#[derive(Debug, Serialize, ToSchema)]
pub struct PhraseInfo {
    /// The phrase: `new york`
    phrase: String,
    /// Its word in the vocabulary: `new_york`
    word: String,
    /// Number of times that its parts occurred next to each other, or the count of the word if the phrase was given
    count: u64,
    /// The score, if it was found
    score: Option<f64>,
    /// Number of words of the text before it was found; null if it was given
    found_at: Option<u64>,
}

/// The phrases that are learned as one word, most frequent first
#[utoipa::path(
    get, path = "/v1/phrases", tag = "queries", params(Query),
    responses((status = 200, body = Answer<Phrases>))
)]
pub async fn list(
    State(service): State<Arc<Service>>,
    Parameters(Query { n }): Parameters<Query>,
) -> Json<Answer<Phrases>> {
    let published = service.published();
    let first = published.phrases.iter().take(answers(n)).cloned();
    let phrases = first.map(|phrase| PhraseInfo {
        phrase: phrase.phrase,
        word: phrase.word,
        count: phrase.count,
        score: phrase.score,
        found_at: phrase.found_at,
    });
    Answer::new(&published, Phrases { total: published.phrases.len(), phrases: phrases.collect() })
}
