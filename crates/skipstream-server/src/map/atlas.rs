//! Maps, and those that were drawn lately.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use serde::{Deserialize, Serialize};
use skipstream::embeddings::Question;
use utoipa::ToSchema;

use super::neighborhoods::{self, MAX_POINTS};
use super::principal::principal_components;
use crate::error::Result;
use crate::published::Published;

/// Maps that are remembered.
const REMEMBERED: usize = 16;

/// How words come into a plane
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Method {
    /// The side on which they lie farthest apart: principal components of their vectors at length 1
    #[default]
    Pca,
    /// Neighbours stay neighbours: t-SNE, of at most 500 words
    Tsne,
}

/// Which words are to be on a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MapQuestion {
    /// So many: the most frequent ones, or the nearest of a row.
    pub n: usize,
    /// The row, which is on the map as well.
    pub around: Option<usize>,
    /// How they come into a plane.
    pub method: Method,
}

/// A map.
#[derive(Debug, PartialEq)]
pub struct Map {
    /// The words, the most important one first.
    pub places: Vec<Place>,
}

/// A word on a map.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Its row.
    pub row: usize,
    /// From -1 to 1.
    pub x: f64,
    /// From -1 to 1.
    pub y: f64,
}

/// Draws maps, and remembers the last ones as long as their vectors are published.
#[derive(Debug, Default)]
pub struct Atlas {
    /// Whoever holds it draws: a map takes up to a second of a core, and the others may want the same one.
    drawn: Mutex<VecDeque<Drawn>>,
}

#[derive(Debug)]
struct Drawn {
    of: Weak<Published>,
    question: MapQuestion,
    map: Arc<Map>,
}

impl Atlas {
    /// The largest number of words on a map by a method.
    pub fn most_words(method: Method) -> usize {
        match method {
            Method::Pca => 2_000,
            Method::Tsne => MAX_POINTS,
        }
    }

    /// A map of what is published.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn map(&self, published: &Arc<Published>, question: MapQuestion) -> Result<Arc<Map>> {
        let mut drawn = self.drawn.lock().unwrap_or_else(PoisonError::into_inner);
        drawn.retain(|drawn| drawn.of.strong_count() > 0);
        let is_it = |drawn: &&Drawn| {
            std::ptr::eq(drawn.of.as_ptr(), Arc::as_ptr(published)) && drawn.question == question
        };
        if let Some(known) = drawn.iter().find(is_it) {
            return Ok(known.map.clone());
        }
        let map = Arc::new(draw(published, question)?);
        if drawn.len() == REMEMBERED {
            drawn.pop_front();
        }
        drawn.push_back(Drawn { of: Arc::downgrade(published), question, map: map.clone() });
        Ok(map)
    }
}

fn draw(published: &Published, MapQuestion { n, around, method }: MapQuestion) -> Result<Map> {
    let embeddings = &published.embeddings;
    let n = n.min(Atlas::most_words(method)).min(embeddings.len());
    let rows: Vec<usize> = match around {
        None => (0..n).collect(),
        Some(row) => {
            let vector = embeddings.checked_vector(row)?;
            let question = Question { vector: &vector, n, exclude: &[row] };
            let nearest = embeddings.answer(&[question])?.into_iter().flatten();
            std::iter::once(row).chain(nearest.map(|found| found.row)).collect()
        }
    };
    let points: Vec<f32> = rows.iter().flat_map(|&row| embeddings.unit_vector(row)).collect();
    let flat = principal_components(&points, embeddings.dimensions());
    let mut places = match method {
        Method::Pca => flat,
        Method::Tsne => neighborhoods::arrange(&squares(&points, embeddings.dimensions()), flat),
    };
    fit(&mut places);
    let place = |(row, [x, y]): (usize, [f64; 2])| Place { row, x, y };
    Ok(Map { places: rows.into_iter().zip(places).map(place).collect() })
}

/// The squared distances of all pairs of points.
fn squares(points: &[f32], dimensions: usize) -> Vec<f64> {
    let rows = || points.chunks_exact(dimensions);
    let square = |left: &[f32], right: &[f32]| -> f32 {
        left.iter().zip(right).map(|(left, right)| (left - right) * (left - right)).sum()
    };
    rows().flat_map(|left| rows().map(move |right| f64::from(square(left, right)))).collect()
}

/// Brings the places between -1 and 1 around their middle, both axes by the same factor.
fn fit(places: &mut [[f64; 2]]) {
    let n = places.len().max(1) as f64;
    for axis in 0..2 {
        let middle = places.iter().map(|place| place[axis]).sum::<f64>() / n;
        places.iter_mut().for_each(|place| place[axis] -= middle);
    }
    let largest = places.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
    if largest > 0.0 {
        places.iter_mut().flatten().for_each(|value| *value /= largest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::testing::published;

    fn question(n: usize, around: Option<usize>, method: Method) -> MapQuestion {
        MapQuestion { n, around, method }
    }

    #[test]
    fn the_most_frequent_words_or_the_nearest_are_on_the_map() {
        let published = published(50, 6);
        let atlas = Atlas::default();
        for method in [Method::Pca, Method::Tsne] {
            let map = atlas.map(&published, question(10, None, method)).unwrap();
            assert!(map.places.iter().map(|place| place.row).eq(0..10));
            let map = atlas.map(&published, question(4, Some(7), method)).unwrap();
            let rows: Vec<usize> = map.places.iter().map(|place| place.row).collect();
            let nearest = published.embeddings.neighbors(published.embeddings.word(7), 4).unwrap();
            let words: Vec<&str> = rows.iter().map(|&row| published.embeddings.word(row)).collect();
            assert_eq!(rows[0], 7);
            assert!(words[1..].iter().copied().eq(nearest.iter().map(|neighbor| neighbor.word)));
            let values = map.places.iter().flat_map(|place| [place.x, place.y]);
            assert_eq!(values.fold(0.0f64, |largest, value| largest.max(value.abs())), 1.0);
        }
    }

    #[test]
    fn a_map_is_drawn_once_for_each_publication() {
        let [old, new] = [published(20, 4), published(20, 4)];
        let atlas = Atlas::default();
        let first = atlas.map(&old, question(9, None, Method::Pca)).unwrap();
        assert!(Arc::ptr_eq(&first, &atlas.map(&old, question(9, None, Method::Pca)).unwrap()));
        let other = atlas.map(&new, question(9, None, Method::Pca)).unwrap();
        assert!(!Arc::ptr_eq(&first, &other) && first == other, "the same vectors have the same map");
        drop(old);
        atlas.map(&new, question(8, None, Method::Pca)).unwrap();
        assert_eq!(atlas.drawn.lock().unwrap().len(), 2, "maps of old vectors are forgotten");
    }

    #[test]
    fn few_words_have_a_map() {
        let atlas = Atlas::default();
        for n_words in 0..5 {
            let published = published(n_words, 3);
            for method in [Method::Pca, Method::Tsne] {
                let map = atlas.map(&published, question(100, None, method)).unwrap();
                assert_eq!(map.places.len(), n_words);
                assert!(map.places.iter().all(|place| place.x.is_finite() && place.y.is_finite()));
            }
        }
    }
}
