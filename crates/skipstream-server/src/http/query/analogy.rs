//! *man* is to *king* as *woman* is to …

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use skipstream::embeddings::AnalogyRule;
use utoipa::{IntoParams, ToSchema};

use super::{Answers, MAX_QUERIES, answers, check_batch};
use crate::http::ApiError;
use crate::http::answer::{Answer, Json, NeighborInfo, Results, find_row};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::published::Published;
use crate::service::Service;

/// How an analogy is solved
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The word nearest to b − a + c
    #[default]
    Add,
    /// The word with the highest cos(b) · cos(c) / cos(a)
    Multiply,
}

/// An analogy
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// The first word: a is to b
    #[param(inline)]
    a: Word,
    /// The second word
    #[param(inline)]
    b: Word,
    /// The third word: c is to the answer
    #[param(inline)]
    c: Word,
    /// Number of answers; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// How the analogy is solved; `add` by default
    #[serde(default)]
    #[param(inline)]
    rule: Rule,
}

/// Answers and the rule they were found by
#[derive(Debug, Serialize, ToSchema)]
pub struct WithRule<T> {
    /// The rule
    #[schema(inline)]
    rule: Rule,
    #[serde(flatten)]
    found: T,
}

/// Answers to an analogy
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalogyAnswers {
    /// The first word
    pub a: String,
    /// The second word
    pub b: String,
    /// The third word
    pub c: String,
    /// The answers, best first, without the three words
    pub answers: Vec<NeighborInfo>,
}

/// Solve an analogy: a is to b as c is to …
#[utoipa::path(
    get, path = "/v1/analogy", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<WithRule<AnalogyAnswers>>),
        (status = 404, description = "A word is not in the vocabulary")
    ),
    security(("token" = ["read"]))
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    Parameters(Query { a, b, c, n, rule }): Parameters<Query>,
) -> Result<Json<Answer<WithRule<AnalogyAnswers>>>, ApiError> {
    let published = service.published();
    for word in [&a, &b, &c] {
        find_row(&published, word).await?;
    }
    let terms = vec![Terms { a, b, c }];
    let mut solved = solve(&service, &published, terms, answers(n), rule).await?;
    let found = solved.pop().expect("one query has one answer")?;
    Ok(Answer::new(&published, WithRule { rule, found }))
}

/// A batch of analogies
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct AnalogyQuestions {
    /// The analogies
    #[schema(inline)]
    questions: Batch,
    /// Number of answers to each; 10 by default
    #[schema(inline)]
    n: Option<Answers>,
    /// How the analogies are solved; `add` by default
    #[serde(default)]
    #[schema(inline)]
    rule: Rule,
}

type Batch = List<Terms, 0, MAX_QUERIES>;

/// An analogy: a is to b as c is to …
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The first word
    #[schema(inline)]
    a: Word,
    /// The second word
    #[schema(inline)]
    b: Word,
    /// The third word
    #[schema(inline)]
    c: Word,
}

/// Solve a batch of analogies
///
/// At most 100,000 answers in total. An analogy with an unknown word has an error in its result.
#[utoipa::path(
    post, path = "/v1/analogy", tag = "queries", request_body = AnalogyQuestions,
    responses((status = 200, body = Answer<WithRule<Results<AnalogyAnswers>>>)), security(("token" = ["read"]))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    Body(AnalogyQuestions { questions: List(questions), n, rule }): Body<AnalogyQuestions>,
) -> Result<Json<Answer<WithRule<Results<AnalogyAnswers>>>>, ApiError> {
    let n = answers(n);
    check_batch(questions.len(), n)?;
    let published = service.published();
    let found = solve(&service, &published, questions, n, rule).await?.into_iter().collect();
    Ok(Answer::new(&published, WithRule { rule, found }))
}

async fn solve(
    service: &Service,
    published: &Arc<Published>,
    questions: Vec<Terms>,
    n: usize,
    rule: Rule,
) -> Result<Vec<Result<AnalogyAnswers, ApiError>>, ApiError> {
    let rule = match rule {
        Rule::Add => AnalogyRule::Add,
        Rule::Multiply => AnalogyRule::Multiply,
    };
    let row = |word: &Word| Ok::<_, ApiError>(published.embeddings.row_of(word.as_str())?);
    let rows = |terms: &Terms| Ok([row(&terms.a)?, row(&terms.b)?, row(&terms.c)?]);
    let rows: Vec<Result<[usize; 3], ApiError>> = questions.iter().map(rows).collect();
    let query = |&rows: &[usize; 3]| published.embeddings.analogy_query(rows, n, rule);
    let queries = rows.iter().flatten().map(query).collect();
    let mut found = service.search.search(published, queries).await?.into_iter();
    let answer = |(Terms { a, b, c }, rows): (Terms, Result<_, _>)| {
        rows.map(|_| {
            let found = found.next().expect("every query has an answer");
            let [a, b, c] = [a, b, c].map(Word::into_string);
            AnalogyAnswers { a, b, c, answers: NeighborInfo::list(published, &found) }
        })
    };
    Ok(questions.into_iter().zip(rows).map(answer).collect())
}
