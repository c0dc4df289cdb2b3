//! Words near to words and vectors.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::embeddings::Found;
use utoipa::{IntoParams, ToSchema};

use super::{Answers, MAX_QUESTIONS, Outcome, answers};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{NeighborInfo, SnapshotInfo, compute};
use crate::http::extract::{Json as Body, List, Parameters, Path, Word};
use crate::published::Published;
use crate::search::Question;
use crate::service::Service;

/// Answers to many questions at once, all together.
const MAX_ANSWERS: usize = 100_000;

/// How many neighbours are wanted
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct HowMany {
    /// How many neighbours; 10 by default
    #[param(inline)]
    n: Option<Answers>,
}

/// The neighbours of a word
#[derive(Debug, Serialize, ToSchema)]
pub struct Neighbors {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The word that was asked about
    pub word: String,
    /// The nearest words, the nearest first
    pub neighbors: Vec<NeighborInfo>,
}

/// The nearest words of a word
#[utoipa::path(
    get, path = "/v1/words/{word}/neighbors", tag = "questions",
    params(("word" = inline(Word), Path, description = "The word, percent-encoded"), HowMany),
    responses((status = 200, body = Neighbors), (status = 404, description = "The word is not known")),
    security(("token" = ["read"]))
)]
pub async fn of_word(
    State(service): State<Arc<Service>>,
    Path(word): Path<Word>,
    Parameters(HowMany { n }): Parameters<HowMany>,
) -> Result<Json<Neighbors>, ApiError> {
    let published = service.published();
    let Some(row) = published.embeddings.index_of(word.as_str()) else {
        return compute(move || Err(ApiError::unknown_word_in(&published, word.as_str()))).await;
    };
    let question = Question::about_row(&published, row, answers(n));
    let found = service.desk.ask(&published, vec![question]).await?.concat();
    let NeighborList { neighbors } = list(&published, &found);
    Ok(Json(Neighbors { snapshot: (&*published).into(), word: word.into_string(), neighbors }))
}

// Names, because the macro that writes the schema does not see through numbers among the types' parameters.
type Words = List<Word, 0, MAX_QUESTIONS>;
type Vectors = List<Vec<f32>, 0, MAX_QUESTIONS>;

/// Words or vectors whose neighbours are wanted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Questions {
    words: Option<Words>,
    vectors: Option<Vectors>,
    n: Option<Answers>,
}

/// Words or vectors whose neighbours are wanted: one of the two
#[derive(ToSchema)]
#[serde(untagged)]
#[allow(
    dead_code,
    reason = "it is what the document says of `Questions`, of whose fields only one may be there"
)]
enum QuestionsShape {
    Words(OfWords),
    Vectors(OfVectors),
}

/// Words whose neighbours are wanted
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is what the document says of `Questions`")]
struct OfWords {
    /// The words
    #[schema(inline)]
    words: Words,
    /// How many neighbours of each; 10 by default
    #[schema(inline)]
    n: Option<Answers>,
}

/// Vectors whose neighbours are wanted
#[derive(ToSchema)]
#[serde(deny_unknown_fields)]
#[allow(dead_code, reason = "it is what the document says of `Questions`")]
struct OfVectors {
    /// The vectors, each with as many values as the model has dimensions
    #[schema(inline)]
    vectors: Vectors,
    /// How many neighbours of each; 10 by default
    #[schema(inline)]
    n: Option<Answers>,
}

/// The neighbours of many
#[derive(Debug, Serialize, ToSchema)]
pub struct ManyNeighbors {
    /// What the answers were made of
    pub snapshot: SnapshotInfo,
    /// An answer for each question, in their order
    pub results: Vec<NeighborsResult>,
}

/// The neighbours of one of many
#[derive(Debug, Serialize, ToSchema)]
pub struct NeighborsResult {
    /// The word, where words were asked about
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub word: Option<String>,
    /// Its neighbours, or why there are none
    #[serde(flatten)]
    pub outcome: Outcome<NeighborList>,
}

/// The nearest words
#[derive(Debug, Serialize, ToSchema)]
pub struct NeighborList {
    /// The nearest words, the nearest first
    pub neighbors: Vec<NeighborInfo>,
}

/// The nearest words of many words or vectors
///
/// Words, or vectors, not both. At most 100,000 neighbours altogether. A word that is not known, or a vector of another
/// length than the model's, has an error of its own among the results.
#[utoipa::path(
    post, path = "/v1/neighbors", tag = "questions", request_body = inline(QuestionsShape),
    responses((status = 200, body = ManyNeighbors)), security(("token" = ["read"]))
)]
pub async fn of_many(
    State(service): State<Arc<Service>>,
    Body(Questions { words, vectors, n }): Body<Questions>,
) -> Result<Json<ManyNeighbors>, ApiError> {
    let n = answers(n);
    let n_questions =
        words.as_ref().map_or(0, |words| words.0.len()) + vectors.as_ref().map_or(0, |list| list.0.len());
    if n_questions * n > MAX_ANSWERS {
        return Err(ApiError::bad_request(format!(
            "{n_questions} questions with {n} neighbours each; all together they may have at most {MAX_ANSWERS}"
        )));
    }
    if words.is_some() == vectors.is_some() {
        let both =
            if words.is_some() { "both `words` and `vectors`" } else { "neither `words` nor `vectors`" };
        return Err(ApiError::bad_request(format!("the body has {both}; it must have one of them")));
    }
    let published = service.published();
    let (asked, names) = match (words, vectors) {
        (Some(List(words)), _) => (about_words(&published, &words, n), words),
        (None, vectors) => {
            (about_vectors(&published, vectors.map_or_else(Vec::new, |list| list.0), n), Vec::new())
        }
    };
    let questions = asked.iter().flatten().cloned().collect();
    let mut found = service.desk.ask(&published, questions).await?.into_iter();
    let mut names = names.into_iter().map(Word::into_string);
    let result = |asked: Result<Question, ApiError>| {
        let outcome = asked.map(|_| list(&published, &found.next().unwrap_or_default())).into();
        NeighborsResult { word: names.next(), outcome }
    };
    let results = asked.into_iter().map(result).collect();
    Ok(Json(ManyNeighbors { snapshot: (&*published).into(), results }))
}

fn about_words(published: &Published, words: &[Word], n: usize) -> Vec<Result<Question, ApiError>> {
    let question = |word: &Word| match published.embeddings.index_of(word.as_str()) {
        Some(row) => Ok(Question::about_row(published, row, n)),
        None => Err(ApiError::unknown_word(word.as_str())),
    };
    words.iter().map(question).collect()
}

fn about_vectors(published: &Published, vectors: Vec<Vec<f32>>, n: usize) -> Vec<Result<Question, ApiError>> {
    let dimensions = published.embeddings.dimensions();
    let question = |vector: Vec<f32>| {
        check(&vector, dimensions)?;
        Ok(Question::about_vector(vector, n))
    };
    vectors.into_iter().map(question).collect()
}

fn check(vector: &[f32], dimensions: usize) -> Result<(), ApiError> {
    if vector.len() != dimensions {
        let message =
            format!("the vector has {} values; the model has {dimensions} dimensions", vector.len());
        return Err(ApiError::bad_request(message));
    }
    if !vector.iter().map(|value| value * value).sum::<f32>().is_finite() {
        return Err(ApiError::bad_request(
            "the vector is too long: the sum of its squares is more than 3e38",
        ));
    }
    Ok(())
}

/// The answer to one of the questions.
fn list(published: &Published, found: &[Found]) -> NeighborList {
    let neighbor = |found: &Found| NeighborInfo::new(published, found.row, found.similarity);
    NeighborList { neighbors: found.iter().map(neighbor).collect() }
}
