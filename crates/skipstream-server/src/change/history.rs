//! The history of a word over the snapshots.

use std::ops::Range;

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::embeddings::{Query, cosines};
use utoipa::ToSchema;

use super::name::SnapshotName;
use super::store::SnapshotStore;
use crate::published::{Published, Seq};

/// A word at one point in time
#[derive(Clone, Debug, Default, PartialEq, Serialize, ToSchema)]
pub struct HistoryPoint {
    /// Name of the snapshot; null for the current version
    #[schema(value_type = Option<String>)]
    pub name: Option<SnapshotName>,
    /// When it was published
    pub time: Timestamp,
    /// The last line it contains
    pub seq: Seq,
    /// Whether the snapshot contains the word
    pub known: bool,
    /// Occurrences by then; null if unknown
    pub count: Option<u64>,
    /// Rank by frequency, from 1; null if unknown
    pub rank: Option<usize>,
    /// Share of all tokens read, from 0 to 1; null if unknown
    pub share: Option<f64>,
    /// Nearest neighbors, nearest first
    pub neighbors: Vec<Near>,
    /// Cosine distance to its vector at the previous point where it was known, from 0 to 2; null if there is none
    pub movement: Option<f64>,
    /// Share of neighbors in common with that point, from 0 to 1; null if there are none
    pub overlap: Option<f64>,
}

/// A neighbor
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Near {
    /// The word
    pub word: String,
    /// Cosine similarity, from -1 to 1
    pub similarity: f32,
}

/// A word in every snapshot, oldest first, and in the current version, each with its `n` nearest neighbors `among` some rows.
///
/// Movement is the plain cosine distance between consecutive points. It does not remove the common rotation as
/// [`Drift`](skipstream::eval::Drift) does: the points are versions of one model, hours or days apart, and share a basis,
/// while finding the rotation takes seconds per pair. [`Movers`](super::Movers) tell whether a movement exceeds chance.
///
/// `go_on` is asked before each point; `None` if it says no.
pub fn history(
    snapshots: &SnapshotStore,
    published: &Published,
    word: &str,
    n: usize,
    among: &dyn Fn(&Embeddings) -> Range<usize>,
    go_on: &dyn Fn() -> bool,
) -> Option<Vec<HistoryPoint>> {
    let mut points: Vec<HistoryPoint> = Vec::new();
    // The last known vector and the index of its point.
    let mut before: Option<(Vec<f32>, usize)> = None;
    let mut push = |mut point: HistoryPoint, embeddings: &Embeddings, tokens: u64| {
        if let Some((vector, row)) = describe(&mut point, embeddings, tokens, word, n, among(embeddings)) {
            if let Some((old, index)) = before.take()
                && old.len() == vector.len()
            {
                point.movement = Some(1.0 - f64::from(cosines(&old, &vector)[0]));
                point.overlap = overlap(&points[index].neighbors, &point.neighbors);
            }
            point.rank = Some(row + 1);
            before = Some((vector, points.len()));
        }
        points.push(point);
    };
    for info in snapshots.list() {
        if !go_on() {
            return None;
        }
        let Some(embeddings) = snapshots.embeddings(&info.name) else { continue };
        let point =
            HistoryPoint { name: Some(info.name), time: info.time, seq: info.seq, ..Default::default() };
        push(point, &embeddings, info.words);
    }
    let point = HistoryPoint { time: published.time, seq: published.seq, ..Default::default() };
    push(point, &published.embeddings, published.progress.tokens);
    Some(points)
}

/// Fills in what the embeddings know of the word. A row with values that are not finite counts as unknown.
fn describe(
    point: &mut HistoryPoint,
    embeddings: &Embeddings,
    tokens: u64,
    word: &str,
    n: usize,
    rows: Range<usize>,
) -> Option<(Vec<f32>, usize)> {
    let row = embeddings.index_of(word)?;
    let vector = embeddings.checked_vector(row).ok()?.into_owned();
    let neighbors = embeddings.search(&Query::neighbors(row, n).among(rows)).ok()?;
    point.known = true;
    point.count = Some(embeddings.count(row));
    point.share = Some(embeddings.count(row) as f64 / tokens.max(1) as f64);
    point.neighbors = neighbors
        .iter()
        .map(|near| Near { word: near.word.to_owned(), similarity: near.similarity })
        .collect();
    Some((vector, row))
}

/// The share of neighbors in common.
fn overlap(before: &[Near], after: &[Near]) -> Option<f64> {
    let most = before.len().max(after.len());
    let same = after.iter().filter(|near| before.iter().any(|other| other.word == near.word)).count();
    (most > 0).then(|| same as f64 / most as f64)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;
    use crate::change::testing::{published, published_at};

    fn time(hour: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + hour * 3_600).unwrap()
    }

    #[test]
    fn a_word_is_followed_over_the_snapshots() {
        let folder = tempfile::tempdir().unwrap();
        let snapshots = SnapshotStore::open(folder.path());
        let moments = [
            (1, vec![("fruit", 8, [0.0, 1.0]), ("phone", 2, [1.0, 0.0])]),
            (2, vec![("apple", 6, [0.0, 2.0]), ("fruit", 8, [0.0, 1.0]), ("phone", 2, [1.0, 0.0])]),
            (3, vec![("fruit", 8, [0.0, 1.0]), ("phone", 5, [1.0, 0.0])]),
        ];
        for (hour, words) in moments {
            snapshots.save(&published_at(time(hour), hour as u64, &words), None, 9).unwrap();
        }
        let now = published_at(
            time(4),
            4,
            &[("apple", 10, [3.0, 0.0]), ("fruit", 8, [0.0, 1.0]), ("phone", 7, [1.0, 0.0])],
        );
        let all = |all: &Embeddings| 0..all.len();
        let points = history(&snapshots, &now, "apple", 1, &all, &|| true).unwrap();
        assert_eq!(points.len(), 4);
        assert_eq!(points.iter().map(|point| point.known).collect::<Vec<_>>(), [false, true, false, true]);
        assert_eq!(points.iter().map(|point| point.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(points[1].count, Some(6));
        assert_eq!((points[1].rank, points[1].share), (Some(2), Some(6.0 / 16.0)));
        assert_eq!(points[1].neighbors, [Near { word: "fruit".to_owned(), similarity: 1.0 }]);
        assert_eq!((points[1].movement, points[1].overlap), (None, None));
        assert_eq!(points[3].neighbors[0].word, "phone");
        assert_eq!((points[3].movement, points[3].overlap), (Some(1.0), Some(0.0)));
        assert_eq!((points[3].name.as_ref(), points[3].rank), (None, Some(1)));
        assert!(points[0].name.is_some() && points[0].count.is_none() && points[0].neighbors.is_empty());

        let asked = Cell::new(0);
        let go_on = || asked.replace(asked.get() + 1) < 1;
        assert!(history(&snapshots, &now, "apple", 1, &all, &go_on).is_none());
        assert_eq!(asked.get(), 2, "it ends between two snapshots");
    }

    #[test]
    fn without_snapshots_there_is_only_the_current_version() {
        let folder = tempfile::tempdir().unwrap();
        let now = published(1, &[("apple", 10, [3.0, 0.0])]);
        let snapshots = SnapshotStore::open(folder.path());
        let points = history(&snapshots, &now, "apple", 5, &|all| 0..all.len(), &|| true).unwrap();
        assert_eq!(points.len(), 1);
        assert_eq!((points[0].movement, points[0].overlap, points[0].share), (None, None, Some(1.0)));
    }
}
