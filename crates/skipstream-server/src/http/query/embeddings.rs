//! Vectors of texts, in the shape of OpenAI's API, so that its clients need only another address.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, BufReader, Read};
use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use serde::de::value::SeqAccessDeserializer;
use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};
use skipstream::corpus::{Lines, TextOptions};
use skipstream::embeddings::{DocumentOptions, DocumentWords, Subwords, Weighting};
use utoipa::openapi::schema::{ObjectBuilder, OneOfBuilder, Type};
use utoipa::openapi::{RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::vectors::version_headers;
use crate::http::ApiError;
use crate::http::answer::{self, Json};
use crate::http::extract::{Json as Body, List, Number};
use crate::http::lanes::{Cancel, Work};
use crate::published::Published;
use crate::service::Service;

/// The model that a response names, whatever the request calls it: a service has one model.
const MODEL: &str = "skipstream";

/// Maximum number of texts, as in OpenAI's API.
const MAX_TEXTS: usize = 2_048;

/// Missed words that a message names.
const NAMED: usize = 10;

/// Texts to embed. Other fields are ignored
#[derive(Debug, Deserialize, ToSchema)]
pub struct Request {
    /// Any name: a service has one model
    #[expect(dead_code, reason = "the clients send it")]
    #[schema(nullable = false)]
    model: Option<String>,
    /// A text, or a list of up to 2,048 texts. Lists of token numbers are refused: the model splits text itself
    #[schema(inline)]
    input: Input,
    /// How to write the vectors: as numbers, or as the base64 of little-endian 32-bit floats; `float` by default
    #[schema(inline)]
    encoding_format: Option<Encoding>,
    /// Number of dimensions; if given, that of the model
    #[schema(inline)]
    dimensions: Option<Dimensions>,
    /// Whether to scale the vectors to length 1; `true` by default. `false` gives the weighted mean as it is
    #[serde(default = "yes")]
    #[schema(default = true)]
    normalize: bool,
    /// Whether a text without a known word has the embedding `null`. By default, it is an error
    #[serde(default)]
    allow_null: bool,
}

fn yes() -> bool {
    true
}

type Dimensions = Number<1, 1_000_000>;

/// How to write vectors
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum Encoding {
    #[default]
    Float,
    Base64,
}

/// One text, or several.
#[derive(Debug)]
struct Input(Vec<Text>);

type Texts = List<Text, 0, MAX_TEXTS>;

#[derive(Debug)]
struct Text(String);

impl<'de> Deserialize<'de> for Input {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct OneOrMany;
        impl<'de> Visitor<'de> for OneOrMany {
            type Value = Input;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("a text or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Input, E> {
                Ok(Input(vec![Text(text.to_owned())]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, texts: A) -> Result<Input, A::Error> {
                Texts::deserialize(SeqAccessDeserializer::new(texts)).map(|List(texts)| Input(texts))
            }
        }
        deserializer.deserialize_any(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for Text {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Words;
        impl Visitor<'_> for Words {
            type Value = Text;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(
                    "a text; token numbers are not accepted, because the model splits text itself: \
                     set check_embedding_ctx_length=False in LangChain's OpenAIEmbeddings",
                )
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<Text, E> {
                Ok(Text(text.to_owned()))
            }
        }
        deserializer.deserialize_str(Words)
    }
}

impl PartialSchema for Text {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::String).into()
    }
}

impl PartialSchema for Input {
    fn schema() -> RefOr<Schema> {
        OneOfBuilder::new().item(Text::schema()).item(Texts::schema()).into()
    }
}

impl ToSchema for Input {
    fn name() -> Cow<'static, str> {
        "EmbeddingInput".into()
    }
}

/// The vectors of texts
#[derive(Debug, Serialize, ToSchema)]
pub struct EmbeddingList {
    /// Always `list`
    object: &'static str,
    /// One vector per text, in the same order
    data: Vec<Embedding>,
    /// Always `skipstream`
    model: &'static str,
    /// What was read
    usage: Usage,
}

/// The vector of a text
#[derive(Debug, Serialize, ToSchema)]
struct Embedding {
    /// Always `embedding`
    object: &'static str,
    /// The place of the text in the request, from 0
    index: usize,
    /// The vector; null if no word of the text has one
    embedding: Option<Encoded>,
    /// Number of words of the text that have a vector
    words: usize,
}

/// A vector as numbers, or as base64
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
enum Encoded {
    /// The values
    Float(Vec<f32>),
    /// Little-endian 32-bit floats
    Base64(String),
}

/// What was read
#[derive(Debug, Serialize, ToSchema)]
struct Usage {
    /// Number of words of all texts, known or not
    prompt_tokens: usize,
    /// The same
    total_tokens: usize,
}

/// Embed texts, as in OpenAI's API
///
/// The vector of a text is the mean of the vectors of its words, scaled to length 1. In the mean, frequent words count less: a
/// word with the share p of the counts of all words has the weight 0.001 / (0.001 + p), the smooth inverse frequency of Arora,
/// Liang and Ma (2017). Texts are split into words as the text that is learned: phrases are joined and merged words replaced.
/// If no word of the model has an upper-case letter, texts are read in lower case. Unknown words are ignored or, if the
/// service was started with `--subword-buckets`, estimated from their spelling. A text without a known word is an error, or
/// has the embedding `null` with `allow_null`. The headers x-skipstream-seq and x-skipstream-time identify the version.
#[utoipa::path(
    post, path = "/v1/embeddings", tag = "queries", request_body = Request,
    responses(
        (status = 200, body = EmbeddingList),
        (status = 422, description = "A text has no known word; `missed` has its words")
    )
)]
pub async fn create(
    State(service): State<Arc<Service>>,
    work: Work,
    Body(request): Body<Request>,
) -> Result<Response, ApiError> {
    let published = service.published();
    let own = published.embeddings.dimensions();
    if let Some(asked) = request.dimensions.map(Dimensions::get).filter(|&asked| asked != own) {
        return Err(ApiError::bad_request(format!(
            "dimensions is {asked}; the model has {own}, and its vectors cannot be shortened: omit it"
        )));
    }
    let encoding = request.encoding_format.unwrap_or_default();
    let answer = work.clone();
    work.run(move |cancel| {
        let embedder = Embedder {
            text: published.embeddings.text().cloned().unwrap_or_default(),
            subwords: service.subwords.table(),
            normalize: request.normalize,
            published: &published,
            cancel,
        };
        let (mut data, mut prompt_tokens) = (Vec::new(), 0);
        for (index, text) in request.input.0.iter().enumerate() {
            let (vector, words) = embedder.embed(&text.0)?;
            prompt_tokens += words.tokens;
            if words.with_vector == 0 && !request.allow_null {
                return Err(unknown(index, words));
            }
            let embedding = (words.with_vector > 0).then(|| encoding.encode(vector));
            data.push(Embedding { object: "embedding", index, embedding, words: words.with_vector });
        }
        let usage = Usage { prompt_tokens, total_tokens: prompt_tokens };
        let list = EmbeddingList { object: "list", data, model: MODEL, usage };
        let response = answer::write(&answer, &Json(list))?;
        Ok((version_headers(&published), response).into_response())
    })
    .await
}

struct Embedder<'a> {
    published: &'a Published,
    subwords: Option<Arc<Subwords>>,
    normalize: bool,
    text: TextOptions,
    cancel: &'a Cancel,
}

impl Embedder<'_> {
    fn embed(&self, text: &str) -> Result<(Vec<f32>, DocumentWords), ApiError> {
        let embeddings = &self.published.embeddings;
        let mut vector = vec![0.0; embeddings.dimensions()];
        let reader = BufReader::new(Wanted { text: text.as_bytes(), cancel: self.cancel });
        let options = DocumentOptions::default().weighting(Weighting::Sif).normalize(self.normalize);
        let options = options.subwords(self.subwords.as_deref());
        let words = Lines::new(reader, "input", &self.text)
            .and_then(|mut lines| embeddings.mean_vector(&mut lines, &options, &mut vector));
        self.cancel.check()?;
        Ok((vector, words?))
    }
}

/// The error of a text without a known word.
fn unknown(index: usize, words: DocumentWords) -> ApiError {
    let reason = if words.missed.is_empty() {
        "has no words".to_owned()
    } else {
        let named: Vec<String> = words.missed.iter().take(NAMED).map(|word| format!("`{word}`")).collect();
        let more = if words.missed.len() > NAMED { ", …" } else { "" };
        format!("has no known word: {}{more}", named.join(", "))
    };
    let message = format!("input[{index}] {reason}; send \"allow_null\": true to get null for it");
    let mut error = ApiError::new(StatusCode::UNPROCESSABLE_ENTITY, "unknown-words", message);
    error.detail.missed = Some(words.missed);
    error
}

/// A text that ends with an error when its client has gone.
struct Wanted<'a> {
    text: &'a [u8],
    cancel: &'a Cancel,
}

impl Read for Wanted<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.is_cancelled() {
            return Err(io::Error::other("nobody waits for this"));
        }
        self.text.read(buffer)
    }
}

impl Encoding {
    fn encode(self, vector: Vec<f32>) -> Encoded {
        match self {
            Encoding::Float => Encoded::Float(vector),
            Encoding::Base64 => {
                let bytes: Vec<u8> = vector.iter().flat_map(|value| value.to_le_bytes()).collect();
                Encoded::Base64(BASE64_STANDARD.encode(bytes))
            }
        }
    }
}

/// The models that a client can name
#[derive(Debug, Serialize, ToSchema)]
pub struct ModelList {
    /// Always `list`
    object: &'static str,
    /// The only model
    data: [Model; 1],
}

/// A model
#[derive(Debug, Serialize, ToSchema)]
struct Model {
    /// Always `skipstream`
    id: &'static str,
    /// Always `model`
    object: &'static str,
    /// When the current version was published, in seconds since 1970
    created: i64,
    /// Always `skipstream`
    owned_by: &'static str,
}

/// The models for POST /v1/embeddings, as in OpenAI's API
#[utoipa::path(get, path = "/v1/models", tag = "queries", responses((status = 200, body = ModelList)))]
pub async fn models(State(service): State<Arc<Service>>) -> Json<ModelList> {
    let created = service.published().time.as_second();
    Json(ModelList { object: "list", data: [Model { id: MODEL, object: "model", created, owned_by: MODEL }] })
}
