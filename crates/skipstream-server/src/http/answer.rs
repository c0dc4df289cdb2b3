//! What many responses have in common.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::sync::Arc;

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use serde::{Serialize, Serializer};
use skipstream::Embeddings;
use skipstream::embeddings::{Query, Source, Subwords};
use utoipa::ToSchema;

use super::error::{ApiError, ErrorDetail};
use super::lanes::{Cancel, Work};
use super::memory::Share;
use crate::published::{Published, PublishedInfo};
use crate::search::Hit;
use crate::service::Service;

/// A JSON response. It ends with a line feed, so that a shell prompt starts on a new line.
#[derive(Clone, Copy, Debug)]
pub struct Json<T>(pub T);

impl<T: Serialize> IntoResponse for Json<T> {
    fn into_response(self) -> Response {
        match serde_json::to_vec(&self.0) {
            Ok(mut body) => {
                body.push(b'\n');
                ([(header::CONTENT_TYPE, "application/json")], body).into_response()
            }
            Err(error) => {
                tracing::error!(%error, "cannot serialize a response");
                StatusCode::INTERNAL_SERVER_ERROR.into_response()
            }
        }
    }
}

/// Writes an answer that may be long, and takes the memory for it meanwhile.
pub fn write(work: &Work, answer: &Json<impl Serialize>) -> Result<Response, ApiError> {
    let mut writer = Counted { bytes: Vec::new(), share: work.answer(), refused: None };
    let written = serde_json::to_writer(&mut writer, &answer.0).map_err(io::Error::from);
    if let Err(error) = written.and_then(|()| writer.write_all(b"\n")) {
        return Err(writer.refused.unwrap_or_else(|| ApiError::internal(error)));
    }
    let mut response = ([(header::CONTENT_TYPE, "application/json")], writer.bytes).into_response();
    response.extensions_mut().insert(Arc::new(writer.share));
    Ok(response)
}

/// Bytes in memory that was taken for them.
struct Counted {
    bytes: Vec<u8>,
    share: Share,
    refused: Option<ApiError>,
}

impl Write for Counted {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.capacity() - self.bytes.len() < bytes.len() {
            let more = bytes.len().max(self.bytes.len() / 8).max(4 << 10);
            if let Err(error) = self.share.grow_to(self.bytes.len() + more) {
                self.refused = Some(error);
                return Err(io::ErrorKind::OutOfMemory.into());
            }
            self.bytes.reserve_exact(more);
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// An answer and the version of the vectors it is based on
#[derive(Debug, Serialize, ToSchema)]
pub struct Answer<T> {
    /// The version that the answer is based on
    pub snapshot: PublishedInfo,
    /// With `subwords=true`, words of the query whose vectors are not their own: `subwords` for an unknown word, which is
    /// estimated from its spelling; `blend` for a rare one, whose vector is blended with its estimate
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schema(required = false)]
    pub sources: Sources,
    #[serde(flatten)]
    answer: T,
}

impl<T> Answer<T> {
    pub fn new(published: &Published, answer: T) -> Json<Answer<T>> {
        Answer::about(published, Sources::new(), answer)
    }

    /// An answer to a query about words that may be estimated.
    pub fn about(published: &Published, sources: Sources, answer: T) -> Json<Answer<T>> {
        Json(Answer { snapshot: published.into(), sources, answer })
    }
}

/// Where the vectors of estimated words come from.
pub type Sources = BTreeMap<String, String>;

/// Answers to the queries of a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct Results<T> {
    /// One result per query, in the same order
    results: Vec<BatchResult<T>>,
}

/// The answer to one query of a batch, or its error
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum BatchResult<T> {
    /// The answer
    Answer(T),
    /// The error
    Failure {
        /// The error
        error: ErrorDetail,
    },
}

/// The result for one word or vector of a batch
#[derive(Debug, Serialize, ToSchema)]
pub struct WordResult<T> {
    /// The word; absent if a vector was sent
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(nullable = false)]
    pub word: Option<String>,
    /// Its answer, or an error
    #[serde(flatten)]
    pub result: BatchResult<T>,
}

impl<T> From<Result<T, ApiError>> for BatchResult<T> {
    fn from(result: Result<T, ApiError>) -> BatchResult<T> {
        match result {
            Ok(answer) => BatchResult::Answer(answer),
            Err(error) => BatchResult::Failure { error: *error.detail },
        }
    }
}

impl<T> FromIterator<Result<T, ApiError>> for Results<T> {
    fn from_iter<I: IntoIterator<Item = Result<T, ApiError>>>(results: I) -> Results<T> {
        Results { results: results.into_iter().map(BatchResult::from).collect() }
    }
}

/// A word with its count and times
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub struct WordInfo {
    /// The word
    pub word: String,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// The same, where older occurrences count less; absent unless a half-life makes it differ from `count`
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recent_count: Option<u64>,
    /// Rank by frequency, from 1
    pub rank: usize,
    /// Time of the first line that contained it; null for a pinned word that has not occurred
    pub first_seen: Option<Timestamp>,
    /// Time of the last line that contained it; null for a pinned word that has not occurred
    pub last_seen: Option<Timestamp>,
}

impl WordInfo {
    pub fn new(published: &Published, row: usize) -> WordInfo {
        let embeddings = &published.embeddings;
        let (count, recent) = (embeddings.count(row), embeddings.recent_count(row));
        let seen = (count > 0).then_some(published.seen[row]);
        WordInfo {
            word: embeddings.word(row).to_owned(),
            count,
            recent_count: (recent != count).then_some(recent),
            rank: row + 1,
            first_seen: seen.map(|seen| seen.first),
            last_seen: seen.map(|seen| seen.last),
        }
    }
}

/// A neighbor
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct NeighborInfo {
    /// The word
    pub word: String,
    /// Cosine similarity, from -1 to 1; for an analogy by multiplication and for what comes next, its score
    pub similarity: f32,
    /// Occurrences since it was last admitted to the vocabulary
    pub count: u64,
    /// Rank by frequency, from 1
    pub rank: usize,
    /// Time of the first line that contained it; null for a pinned word that has not occurred
    pub first_seen: Option<Timestamp>,
}

impl NeighborInfo {
    fn new(published: &Published, row: usize, similarity: f32) -> NeighborInfo {
        let WordInfo { word, count, rank, first_seen, .. } = WordInfo::new(published, row);
        NeighborInfo { word, similarity, count, rank, first_seen }
    }
}

/// What a query found. The words are looked up while the answer is written, so that they are not in memory twice.
#[derive(Debug)]
pub struct Found<'a> {
    pub published: &'a Published,
    pub hits: Vec<Hit>,
}

impl Serialize for Found<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let info = |&(row, similarity): &Hit| NeighborInfo::new(self.published, row, similarity);
        serializer.collect_seq(self.hits.iter().map(info))
    }
}

/// The version that a query is about, with the table that estimates words if the query asks for it.
#[derive(Clone)]
pub struct View {
    pub published: Arc<Published>,
    table: Option<Arc<Subwords>>,
}

impl View {
    /// The current version. An error if the query asks for estimates and the service never makes any. Before there is a table,
    /// unknown words are unknown.
    pub fn current(service: &Service, subwords: Option<bool>) -> Result<View, ApiError> {
        let wants_estimates = subwords.unwrap_or(false);
        if wants_estimates && service.settings.subwords().is_none() {
            let message = "subwords=true needs a service that was started with --subword-buckets";
            return Err(ApiError::bad_request(message));
        }
        let table = if wants_estimates { service.subwords.table() } else { None };
        Ok(View { published: service.published(), table })
    }

    /// The vectors of the version, and estimates of those words that are unknown or rare. These are added to `sources`.
    pub fn embeddings(&self, words: &[&str], sources: &mut Sources) -> Embeddings {
        let own = &self.published.embeddings;
        let Some(table) = &self.table else { return own.clone() };
        let embeddings = own.with_estimates(table, words);
        for &word in words {
            let source = embeddings.index_of(word).map(|row| embeddings.source(row));
            if let Some(source @ (Source::Blend | Source::Subwords)) = source {
                sources.insert(word.to_owned(), source.to_string());
            }
        }
        embeddings
    }
}

/// The words of a query, in a version that has them all.
pub struct AskedWords {
    pub published: Arc<Published>,
    /// The vectors of the version, and estimates of words.
    pub embeddings: Embeddings,
    pub sources: Sources,
}

impl AskedWords {
    /// Looks the words up in the current version, with estimates of those that are unknown or rare if they are asked for.
    pub async fn find(
        work: &Work,
        service: &Service,
        words: &[&str],
        subwords: Option<bool>,
    ) -> Result<AskedWords, ApiError> {
        let view = View::current(service, subwords)?;
        let mut sources = Sources::new();
        let embeddings = view.embeddings(words, &mut sources);
        let View { published, .. } = view;
        if let Some(&word) = words.iter().find(|word| embeddings.index_of(word).is_none()) {
            return Err(unknown_word(work, &published, word).await);
        }
        Ok(AskedWords { published, embeddings, sources })
    }

    /// The rows that a query among candidates finds.
    pub async fn search(
        &self,
        work: &Work,
        service: &Service,
        query: Query<'static>,
    ) -> Result<Vec<Hit>, ApiError> {
        let query = self.embeddings.without_estimated_rows(query);
        Ok(service.search.search(work.client, &self.published, vec![query]).await?.concat())
    }
}

/// The row of a word, or an error with suggestions. Those take a look at the whole vocabulary, which is done elsewhere.
pub async fn find_row(work: &Work, published: &Arc<Published>, word: &str) -> Result<usize, ApiError> {
    match published.embeddings.index_of(word) {
        Some(row) => Ok(row),
        None => Err(unknown_word(work, published, word).await),
    }
}

async fn unknown_word(work: &Work, published: &Arc<Published>, word: &str) -> ApiError {
    let (published, word) = (published.clone(), word.to_owned());
    work.scan(move || ApiError::unknown_word_in(&published, &word)).await
}

/// Computes an answer from the current version in the lane of the route. It is also written there, since it may be long.
pub async fn compute<T: Serialize>(
    work: &Work,
    service: &Arc<Service>,
    make: impl FnOnce(&Arc<Published>, &Cancel) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    compute_about(work, service, None, |view, _, cancel| make(&view.published, cancel)).await
}

/// The same for an answer about words that may be estimated.
pub async fn compute_about<T: Serialize>(
    work: &Work,
    service: &Arc<Service>,
    subwords: Option<bool>,
    make: impl FnOnce(&View, &mut Sources, &Cancel) -> Result<T, ApiError> + Send + 'static,
) -> Result<Response, ApiError> {
    let (service, own) = (service.clone(), work.clone());
    work.run(move |cancel| {
        let view = View::current(&service, subwords)?;
        let mut sources = Sources::new();
        let answer = make(&view, &mut sources, cancel)?;
        write(&own, &Answer::about(&view.published, sources, answer))
    })
    .await
}
