//! Words on a plane, and a cache of the last maps.

use std::collections::VecDeque;
use std::ops::{ControlFlow, Range};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use serde::{Deserialize, Serialize};
use skipstream::embeddings::{Projection, Query};
use utoipa::ToSchema;

use crate::error::Result;
use crate::published::{Published, recent_tokens};

/// The number of cached maps.
const MAX_CACHED: usize = 16;

/// How vectors are projected onto a plane
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The two principal components of the vectors, scaled to length 1
    Pca,
    /// t-SNE, which keeps near words together; at most 500 words
    #[default]
    Tsne,
}

impl Method {
    pub fn max_words(self) -> usize {
        match self {
            Method::Pca => 2_000,
            Method::Tsne => 500,
        }
    }
}

/// Which words a map shows, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MapRequest {
    /// The number of words: the first of these rows, or the nearest to `around` among them.
    pub n: usize,
    pub rows: Range<usize>,
    /// A row, which the map shows as well.
    pub around: Option<usize>,
    pub method: Method,
}

/// The number of most frequent words that tell little about a text, such as *the* and *of*: those that make up more than
/// 1/2000 of it each, but at most a tenth of the vocabulary.
pub fn common_words(published: &Published) -> usize {
    let embeddings = &published.embeddings;
    let tokens = recent_tokens(embeddings, published.progress.tokens);
    let is_common = |&row: &usize| embeddings.recent_count(row) > tokens / 2_000;
    (0..embeddings.len() / 10).take_while(is_common).count()
}

/// Rows with their coordinates, from -1 to 1: the most frequent word first, or `around` and then the nearest.
pub type Map = Vec<(usize, [f64; 2])>;

/// Computes maps, and caches the last ones while their version is published.
#[derive(Debug, Default)]
pub struct Maps {
    /// Not locked while a map is computed: requests for another must not wait. So two requests for a new map at the same time
    /// compute it twice.
    cached: Mutex<VecDeque<CachedMap>>,
}

type CachedMap = (Weak<Published>, MapRequest, Arc<Map>);

impl Maps {
    /// Drops all maps.
    pub fn clear(&self) {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A map of a published version. It takes up to a second of a core, and ends with `None` when `go_on` says no.
    ///
    /// # Panics
    /// If the row does not exist.
    pub fn map(
        &self,
        published: &Arc<Published>,
        request: MapRequest,
        go_on: &(dyn Fn() -> bool + Sync),
    ) -> Result<Option<Arc<Map>>> {
        let known = self.lock().iter().find_map(|(version, of, map)| {
            let is_it = std::ptr::eq(version.as_ptr(), Arc::as_ptr(published)) && *of == request;
            is_it.then(|| map.clone())
        });
        if known.is_some() {
            return Ok(known);
        }
        let Some(map) = compute(published, &request, go_on)?.map(Arc::new) else { return Ok(None) };
        let mut cached = self.lock();
        cached.retain(|(version, ..)| version.strong_count() > 0);
        if cached.len() == MAX_CACHED {
            cached.pop_front();
        }
        cached.push_back((Arc::downgrade(published), request, map.clone()));
        Ok(Some(map))
    }

    fn lock(&self) -> MutexGuard<'_, VecDeque<CachedMap>> {
        self.cached.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn compute(
    published: &Published,
    request: &MapRequest,
    go_on: &(dyn Fn() -> bool + Sync),
) -> Result<Option<Map>> {
    let observe = || if go_on() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) };
    let embeddings = &published.embeddings;
    let MapRequest { n, around, method, .. } = *request;
    let n = n.min(method.max_words()).min(embeddings.len());
    let rows: Vec<usize> = match around {
        None => request.rows.clone().take(n).filter(|&row| row < embeddings.len()).collect(),
        Some(row) => {
            let query = Query::neighbors(row, n).among(request.rows.clone());
            let nearest = embeddings.search_observed(&[query], Some(1), &|_| observe())?;
            let Some(nearest) = nearest else { return Ok(None) };
            let nearest = nearest.concat();
            std::iter::once(row).chain(nearest.into_iter().map(|neighbor| neighbor.row)).collect()
        }
    };
    let projection = match method {
        Method::Pca => Projection::Pca,
        Method::Tsne => Projection::Tsne,
    };
    let points = embeddings.project_observed(&rows, projection, &mut || observe());
    let Some(points) = points else { return Ok(None) };
    let largest = points.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
    let scale = if largest > 0.0 { 1.0 / largest } else { 1.0 };
    let point = |(row, point): (usize, [f64; 2])| (row, point.map(|value| value * scale));
    Ok(Some(rows.into_iter().zip(points).map(point).collect()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::published;

    fn request(n: usize, around: Option<usize>, method: Method) -> MapRequest {
        MapRequest { n, rows: 0..50, around, method }
    }

    fn drawn(maps: &Maps, published: &Arc<Published>, request: MapRequest) -> Arc<Map> {
        maps.map(published, request, &|| true).unwrap().unwrap()
    }

    #[test]
    fn an_abandoned_map_is_not_finished() {
        let published = published(50, 6);
        let maps = Maps::default();
        for around in [None, Some(7)] {
            let abandoned = maps.map(&published, request(10, around, Method::Tsne), &|| false).unwrap();
            assert!(abandoned.is_none() && maps.lock().is_empty());
        }
    }

    #[test]
    fn the_most_frequent_words_or_the_nearest_are_on_the_map() {
        let published = published(50, 6);
        let maps = Maps::default();
        for method in [Method::Pca, Method::Tsne] {
            let map = drawn(&maps, &published, request(10, None, method));
            assert!(map.iter().map(|point| point.0).eq(0..10));
            let map = drawn(&maps, &published, request(4, Some(7), method));
            let rows: Vec<usize> = map.iter().map(|point| point.0).collect();
            let nearest = published.embeddings.neighbors(published.embeddings.word(7), 4).unwrap();
            let words: Vec<&str> = rows.iter().map(|&row| published.embeddings.word(row)).collect();
            assert_eq!(rows[0], 7);
            assert!(words[1..].iter().copied().eq(nearest.iter().map(|neighbor| neighbor.word)));
            let values = map.iter().flat_map(|point| point.1);
            let largest = values.fold(0.0f64, |largest, value| largest.max(value.abs()));
            assert!((largest - 1.0).abs() < 1e-12);
        }
    }

    #[test]
    fn a_map_is_computed_once_for_each_version() {
        let [old, new] = [published(20, 4), published(20, 4)];
        let maps = Maps::default();
        let first = drawn(&maps, &old, request(9, None, Method::Pca));
        assert!(Arc::ptr_eq(&first, &drawn(&maps, &old, request(9, None, Method::Pca))));
        let other = drawn(&maps, &new, request(9, None, Method::Pca));
        assert!(!Arc::ptr_eq(&first, &other) && first == other, "the same vectors have the same map");
        drop(old);
        drawn(&maps, &new, request(8, None, Method::Pca));
        assert_eq!(maps.cached.lock().unwrap().len(), 2, "maps of old versions are dropped");
    }

    #[test]
    fn few_words_have_a_map() {
        let maps = Maps::default();
        for n_words in 0..5 {
            let published = published(n_words, 3);
            for method in [Method::Pca, Method::Tsne] {
                let map = drawn(&maps, &published, request(100, None, method));
                assert_eq!(map.len(), n_words);
                assert!(map.iter().flat_map(|point| point.1).all(f64::is_finite));
            }
        }
    }
}
