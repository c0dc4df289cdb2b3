//! *man* is to *king* as *woman* is to …, and other sums and differences of words.

use std::ops::Range;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use skipstream::Embeddings;
use skipstream::embeddings::{self, AnalogyRule, Expression};
use utoipa::{IntoParams, ToSchema};

use super::{Answers, Candidates, MAX_QUERIES, MinCount, Top, answers, check_batch};
use crate::http::ApiError;
use crate::http::answer::{self, Answer, AskedWords, Found, NeighborInfo, Results, Sources, View};
use crate::http::extract::{Json as Body, List, Parameters, Word};
use crate::http::lanes::Work;
use crate::published::Published;
use crate::search::Hit;
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

/// An analogy or an expression
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Query {
    /// The first word: a is to b
    #[param(inline)]
    a: Option<Word>,
    /// The second word
    #[param(inline)]
    b: Option<Word>,
    /// The third word: c is to the answer
    #[param(inline)]
    c: Option<Word>,
    /// Instead of the three words: words that are added and subtracted, such as `king - man + woman`. A `+` in an address is
    /// written `%2B`
    #[param(inline)]
    expression: Option<Word>,
    /// Number of answers; 10 by default
    #[param(inline)]
    n: Option<Answers>,
    /// Minimum count of the answers; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[param(inline)]
    min_count: Option<MinCount>,
    /// Only answers among this many most frequent words; all by default
    #[param(inline)]
    top: Option<Top>,
    /// How the analogy is solved; `add` by default
    #[serde(default)]
    #[param(inline)]
    rule: Rule,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

/// Answers and the rule they were found by
#[derive(Debug, Serialize, ToSchema)]
pub struct WithRule<T> {
    /// The rule
    #[schema(inline)]
    rule: Rule,
    /// Minimum count of the answers
    min_count: u64,
    #[serde(flatten)]
    found: T,
}

/// Answers to an analogy or an expression
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalogyAnswers<'a> {
    /// The first word, if three words were given
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub a: Option<String>,
    /// The second word
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub b: Option<String>,
    /// The third word
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub c: Option<String>,
    /// What was computed
    pub expression: String,
    /// The answers, best first, without the words that were given
    #[schema(value_type = Vec<NeighborInfo>)]
    pub answers: Found<'a>,
}

/// Solve an analogy or an expression
///
/// Either `a`, `b` and `c` (a is to b as c is to …), or an `expression`.
#[utoipa::path(
    get, path = "/v1/analogy", tag = "queries", params(Query),
    responses(
        (status = 200, body = Answer<WithRule<AnalogyAnswers<'_>>>),
        (status = 404, description = "A word is not in the vocabulary")
    )
)]
pub async fn one(
    State(service): State<Arc<Service>>,
    work: Work,
    Parameters(Query { a, b, c, expression, n, min_count, top, rule, subwords }): Parameters<Query>,
) -> Result<Response, ApiError> {
    let terms = Terms { a, b, c, expression };
    let expression = terms.expression()?;
    let names: Vec<&str> = expression.words().collect();
    let words = AskedWords::find(&work, &service, &names, subwords).await?;
    let candidates = Candidates { min_count, top };
    let rows = candidates.rows(&words.embeddings);
    let asked = Asked::new(|_| words.embeddings.clone(), rows, vec![terms], answers(n), rule);
    let hits = service.search.search(work.client, &words.published, asked.queries()).await?;
    let found = asked.answers(&words.published, hits).next().expect("one query has one answer")?;
    let min_count = candidates.min_count(&words.published);
    Ok(Answer::about(&words.published, words.sources, WithRule { rule, min_count, found }).into_response())
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
    /// Minimum count of the answers; by default 1 per 200,000 tokens, from 1 to 20. 0 allows all words
    #[schema(inline)]
    min_count: Option<MinCount>,
    /// Only answers among this many most frequent words; all by default
    #[schema(inline)]
    top: Option<Top>,
    /// How the analogies are solved; `add` by default
    #[serde(default)]
    #[schema(inline)]
    rule: Rule,
    /// Whether to estimate unknown words from their spelling, and blend rare ones with their estimate; false by default. The
    /// service must have been started with `--subword-buckets`
    subwords: Option<bool>,
}

type Batch = List<Terms, 0, MAX_QUERIES>;

/// An analogy, a is to b as c is to …, or an expression
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct Terms {
    /// The first word
    #[schema(inline)]
    a: Option<Word>,
    /// The second word
    #[schema(inline)]
    b: Option<Word>,
    /// The third word
    #[schema(inline)]
    c: Option<Word>,
    /// Words that are added and subtracted, such as `king - man + woman`
    #[schema(inline)]
    expression: Option<Word>,
}

impl Terms {
    fn expression(&self) -> Result<Expression, ApiError> {
        match self {
            Terms { a: Some(a), b: Some(b), c: Some(c), expression: None } => {
                Ok(Expression::analogy(a.as_str(), b.as_str(), c.as_str()))
            }
            Terms { a: None, b: None, c: None, expression: Some(expression) } => {
                Ok(expression.as_str().parse()?)
            }
            _ => Err(ApiError::bad_request(
                "an analogy has either the words `a`, `b` and `c`, or an `expression` such as king - man + woman",
            )),
        }
    }
}

/// Solve a batch of analogies
///
/// At most 100,000 answers in total. An analogy with an unknown word has an error in its result.
#[utoipa::path(
    post, path = "/v1/analogy", tag = "queries", request_body = AnalogyQuestions,
    responses((status = 200, body = Answer<WithRule<Results<AnalogyAnswers<'_>>>>))
)]
pub async fn many(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(AnalogyQuestions { questions, n, min_count, top, rule, subwords }): Body<AnalogyQuestions>,
) -> Result<Response, ApiError> {
    let n = answers(n);
    let List(questions) = questions;
    check_batch(questions.len(), n)?;
    // A few batches at a time: each holds its version and what was found.
    let turn = work.turn().await;
    let view = View::current(&service, subwords)?;
    let (published, mut sources) = (view.published.clone(), Sources::new());
    let candidates = Candidates { min_count, top };
    let rows = candidates.rows(&published.embeddings);
    let with_estimates = |words: &[&str]| view.embeddings(words, &mut sources);
    let asked = Asked::new(with_estimates, rows, questions, n, rule);
    let hits = service.search.search(work.client, &published, asked.queries()).await?;
    // Looking the words up and writing them takes a while, too.
    let write = move |_: &_| {
        let found: Results<_> = asked.answers(&published, hits).collect();
        let min_count = candidates.min_count(&published);
        answer::write(&work, &Answer::about(&published, sources, WithRule { rule, min_count, found }))
    };
    turn.run(write).await
}

/// Questions, and their queries or errors.
struct Asked(Vec<(Terms, Result<Posed, ApiError>)>);

type Posed = (Expression, embeddings::Query<'static>);

impl Asked {
    /// Questions about the vectors that `embeddings` returns for their words, with answers among `rows`.
    fn new(
        mut embeddings: impl FnMut(&[&str]) -> Embeddings,
        rows: Range<usize>,
        questions: Vec<Terms>,
        n: usize,
        rule: Rule,
    ) -> Asked {
        let rule = match rule {
            Rule::Add => AnalogyRule::Add,
            Rule::Multiply => AnalogyRule::Multiply,
        };
        let mut query = |terms: &Terms| {
            let expression = terms.expression()?;
            let embeddings = embeddings(&expression.words().collect::<Vec<_>>());
            let query = embeddings.without_estimated_rows(expression.query(&embeddings, n, rule)?);
            Ok((expression, query.among(rows.clone())))
        };
        Asked(
            questions
                .into_iter()
                .map(|terms| (query(&terms), terms))
                .map(|(query, terms)| (terms, query))
                .collect(),
        )
    }

    fn queries(&self) -> Vec<embeddings::Query<'static>> {
        self.0.iter().filter_map(|(_, query)| Some(query.as_ref().ok()?.1.clone())).collect()
    }

    /// The answers to all questions, of which those without an error have hits.
    fn answers(
        self,
        published: &Published,
        hits: Vec<Vec<Hit>>,
    ) -> impl Iterator<Item = Result<AnalogyAnswers<'_>, ApiError>> {
        let mut hits = hits.into_iter();
        self.0.into_iter().map(move |(Terms { a, b, c, .. }, query)| {
            let (expression, _) = query?;
            let answers = Found { published, hits: hits.next().expect("every query has an answer") };
            let [a, b, c] = [a, b, c].map(|word| word.map(Word::into_string));
            Ok(AnalogyAnswers { a, b, c, expression: expression.to_string(), answers })
        })
    }
}
