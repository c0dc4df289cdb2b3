//! a is to b as c is to what?

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::embeddings::AnalogyRule;
use utoipa::{IntoParams, ToSchema};

use super::{Answers, MAX_QUESTIONS, Outcome, answers};
use crate::http::ApiError;
use crate::http::answer::Json;
use crate::http::answer::{NeighborInfo, SnapshotInfo, compute, find_row};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::published::Published;
use crate::search::Question;
use crate::service::Service;

/// Answers to many questions at once, all together.
const MAX_ANSWERS: usize = 100_000;

/// How an analogy is answered
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The word nearest to b − a + c
    #[default]
    Add,
    /// The word with the highest cos(b) · cos(c) / cos(a)
    Multiply,
}

/// a is to b as c is to what?
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Asked {
    /// The word that is to b
    #[param(inline)]
    a: Word,
    /// as this word
    #[param(inline)]
    b: Word,
    /// as this one is to the answer
    #[param(inline)]
    c: Word,
    /// How many answers; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// How the answer is found; `add` by default
    #[serde(default)]
    #[param(inline)]
    rule: Rule,
}

/// Answers to an analogy
#[derive(Debug, Serialize, ToSchema)]
pub struct Analogy {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// The rule
    #[schema(inline)]
    pub rule: Rule,
    /// The answers
    #[serde(flatten)]
    pub found: AnalogyAnswers,
}

/// a is to b as c is to one of the answers
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalogyAnswers {
    /// As it was asked
    pub a: String,
    /// As it was asked
    pub b: String,
    /// As it was asked
    pub c: String,
    /// The answers, the best first, without the three words
    pub answers: Vec<NeighborInfo>,
}

/// a is to b as c is to what?
#[utoipa::path(
    get, path = "/v1/analogy", tag = "questions", params(Asked),
    responses((status = 200, body = Analogy), (status = 404, description = "One of the words is not known")),
    security(("token" = ["read"]))
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    Parameters(Asked { a, b, c, n, rule }): Parameters<Asked>,
) -> Result<Json<Analogy>, ApiError> {
    let published = service.published();
    for word in [&a, &b, &c] {
        find_row(&published, word).await?;
    }
    let terms = vec![Terms { a, b, c }];
    let mut solved = solve(&service, &published, terms, answers(n), rule).await?;
    let found = solved.pop().expect("one question has one answer")?;
    Ok(Json(Analogy { snapshot: (&*published).into(), rule, found }))
}

/// Analogies
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalogyQuestions {
    /// The questions
    #[schema(inline)]
    questions: Several,
    /// How many answers to each; 10 by default
    #[schema(inline)]
    n: Option<Answers>,
    /// How the answers are found; `add` by default
    #[serde(default)]
    #[schema(inline)]
    rule: Rule,
}

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Several = List<Terms, 0, MAX_QUESTIONS>;

/// a is to b as c is to what?
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The word that is to b
    #[schema(inline)]
    a: Word,
    /// as this word
    #[schema(inline)]
    b: Word,
    /// as this one is to the answer
    #[schema(inline)]
    c: Word,
}

/// Answers to many analogies
#[derive(Debug, Serialize, ToSchema)]
pub struct Analogies {
    /// What the answers were made of
    pub snapshot: SnapshotInfo,
    /// The rule
    #[schema(inline)]
    pub rule: Rule,
    /// An answer for each question, in their order
    pub results: Vec<Outcome<AnalogyAnswers>>,
}

/// Many analogies at once
///
/// At most 100,000 answers altogether. A question with a word that is not known has an error of its own among the results.
#[utoipa::path(
    post, path = "/v1/analogy", tag = "questions", request_body = AnalogyQuestions,
    responses((status = 200, body = Analogies)), security(("token" = ["read"]))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    Body(AnalogyQuestions { questions: List(questions), n, rule }): Body<AnalogyQuestions>,
) -> Result<Json<Analogies>, ApiError> {
    let n = answers(n);
    if questions.len() * n > MAX_ANSWERS {
        return Err(ApiError::bad_request(format!(
            "{} questions with {n} answers each; all together they may have at most {MAX_ANSWERS}",
            questions.len()
        )));
    }
    let published = service.published();
    let solved = solve(&service, &published, questions, n, rule).await?;
    let results = solved.into_iter().map(Outcome::from).collect();
    Ok(Json(Analogies { snapshot: (&*published).into(), rule, results }))
}

/// What is nearest to a sum is found with other such questions; products are found one by one.
async fn solve(
    service: &Service,
    published: &Arc<Published>,
    questions: Vec<Terms>,
    n: usize,
    rule: Rule,
) -> Result<Vec<Result<AnalogyAnswers, ApiError>>, ApiError> {
    if rule == Rule::Multiply {
        let published = published.clone();
        let multiply = move || questions.into_iter().map(|terms| multiply(&published, terms, n)).collect();
        return Ok(compute(multiply).await);
    }
    let rows: Vec<Result<[usize; 3], ApiError>> =
        questions.iter().map(|terms| terms.rows(published)).collect();
    let asked = rows.iter().flatten().map(|&rows| Question::analogy(published, rows, n)).collect();
    let mut found = service.desk.ask(published, asked).await?.into_iter();
    let answer = |(terms, rows): (Terms, Result<_, _>)| {
        rows.map(|_| {
            let found = found.next().expect("every question has an answer");
            terms.answered(NeighborInfo::found(published, &found))
        })
    };
    Ok(questions.into_iter().zip(rows).map(answer).collect())
}

fn multiply(published: &Published, terms: Terms, n: usize) -> Result<AnalogyAnswers, ApiError> {
    let [a, b, c] = [&terms.a, &terms.b, &terms.c].map(Word::as_str);
    let found = published.embeddings.analogy(a, b, c, n, AnalogyRule::Multiply)?;
    let answers = NeighborInfo::list(published, &found);
    Ok(terms.answered(answers))
}

impl Terms {
    fn rows(&self, published: &Published) -> Result<[usize; 3], ApiError> {
        let row = |word: &Word| {
            let row = published.embeddings.index_of(word.as_str());
            row.ok_or_else(|| ApiError::unknown_word(word.as_str()))
        };
        Ok([row(&self.a)?, row(&self.b)?, row(&self.c)?])
    }

    fn answered(self, answers: Vec<NeighborInfo>) -> AnalogyAnswers {
        let [a, b, c] = [self.a, self.b, self.c].map(Word::into_string);
        AnalogyAnswers { a, b, c, answers }
    }
}
