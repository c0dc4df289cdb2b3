//! Words in a plane.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::ApiError;
use super::answer::{SnapshotInfo, compute, row_of};
use super::extract::{Number, Parameters, Word};
use crate::http::answer::Json;
use crate::map::{Atlas, MapQuestion, Method, Place};
use crate::service::Service;

// A name, because the macro that writes the schema does not see through numbers among the types' parameters.
type Words = Number<1, 2000>;

/// Which words are to be on the map
#[derive(Debug, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub struct Which {
    /// How many words; 300 by default. By `tsne` at most 500
    #[param(inline)]
    n: Option<Words>,
    /// A word that is on the map with its `n` nearest; by default the `n` most frequent words are
    #[param(inline)]
    around: Option<Word>,
    /// How the words come into a plane; `pca` by default
    #[serde(default)]
    #[param(inline)]
    method: Method,
}

/// Words in a plane
#[derive(Debug, Serialize, ToSchema)]
pub struct WordMap {
    /// What the answer was made of
    pub snapshot: SnapshotInfo,
    /// How the words came into a plane
    #[schema(inline)]
    pub method: Method,
    /// The words: the most frequent first, or the one that was asked for and then the nearest
    pub points: Vec<Point>,
}

/// A word in a plane
#[derive(Debug, Serialize, ToSchema)]
pub struct Point {
    /// The word
    pub word: String,
    /// From -1 to 1
    pub x: f64,
    /// From -1 to 1
    pub y: f64,
    /// How often it was seen since it is known
    pub count: u64,
    /// 1 for the most frequent word
    pub rank: usize,
}

/// Words in a plane
#[utoipa::path(
    get, path = "/v1/map", tag = "questions", params(Which),
    responses((status = 200, body = WordMap), (status = 404, description = "The word is not known")),
    security(("token" = ["read"]))
)]
pub async fn draw(
    State(service): State<Arc<Service>>,
    Parameters(Which { n, around, method }): Parameters<Which>,
) -> Result<Json<WordMap>, ApiError> {
    let n = n.map_or(300, Words::get);
    let most = Atlas::most_words(method);
    if n > most {
        return Err(ApiError::bad_request(format!("n is {n}; with this method it must be from 1 to {most}")));
    }
    compute(move || {
        let published = service.published();
        let around = around.map(|word| row_of(&published, word.as_str())).transpose()?;
        let map = service.atlas.map(&published, MapQuestion { n, around, method })?;
        let point = |&Place { row, x, y }: &Place| Point {
            word: published.embeddings.word(row).to_owned(),
            x,
            y,
            count: published.embeddings.count(row),
            rank: row + 1,
        };
        let points = map.places.iter().map(point).collect();
        Ok(Json(WordMap { snapshot: (&*published).into(), method, points }))
    })
    .await
}
