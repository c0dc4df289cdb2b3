//! What became of a word over the kept snapshots.

use jiff::Timestamp;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::embeddings::{Question, cosines};
use utoipa::ToSchema;

use super::kept::Kept;
use super::name::SnapshotName;
use crate::error::Result;
use crate::published::{Published, Seq};

/// A word at one moment
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct HistoryPoint {
    /// The kept snapshot; null for what is published now
    pub name: Option<String>,
    /// When it was published
    pub time: Timestamp,
    /// All lines up to this one were learned
    pub seq: Seq,
    /// Whether the word was among those that were kept
    pub known: bool,
    /// How often it had been seen; null where it was not known
    pub count: Option<u64>,
    /// Its rank by frequency, from 1; null where it was not known
    pub rank: Option<usize>,
    /// Its share of all words read, from 0 to 1; null where it was not known
    pub share: Option<f64>,
    /// Its nearest words then, the nearest first
    pub neighbors: Vec<Near>,
    /// The cosine distance between its vector at the point before and at this one, from 0 to 2; null where there is none
    pub movement: Option<f64>,
    /// The share of its nearest words that are the same as at the point before, from 0 to 1; null where there are none
    pub overlap: Option<f64>,
}

/// A word that was near
#[derive(Clone, Debug, PartialEq, Serialize, ToSchema)]
pub struct Near {
    /// The word
    pub word: String,
    /// The cosine, from -1 to 1
    pub similarity: f32,
}

/// A word at every kept snapshot, the oldest first, and in what is published now, with its `n` nearest words.
///
/// Movement is the plain cosine distance between one point and the next. The rotation that [`Drift`](skipstream::eval::Drift)
/// takes out is left in: points are an hour or a day of the same growing model apart, so their vectors share a basis, and
/// to find the rotation takes seconds for every pair of points. Whether a movement is more than chance is what
/// [`Movers`](super::Movers) tell. The overlap of neighbours, which no rotation touches, stands beside it.
pub fn history(kept: &Kept, published: &Published, word: &str, n: usize) -> Result<Vec<HistoryPoint>> {
    let mut points = Vec::new();
    let mut before: Option<(Vec<f32>, usize)> = None;
    for info in kept.list() {
        let Some(embeddings) = SnapshotName::new(&info.name).and_then(|name| kept.embeddings(&name)) else {
            continue;
        };
        let moment = Moment { name: Some(info.name), time: info.time, seq: info.seq, words: info.words };
        moment.push(&mut points, &mut before, &embeddings, word, n)?;
    }
    let Published { time, seq, .. } = *published;
    let moment = Moment { name: None, time, seq, words: published.progress.tokens };
    moment.push(&mut points, &mut before, &published.embeddings, word, n)?;
    Ok(points)
}

struct Moment {
    name: Option<String>,
    time: Timestamp,
    seq: Seq,
    words: u64,
}

impl Moment {
    /// Adds the word at this moment. `before` is its last vector, and the place of the point that had it.
    fn push(
        self,
        points: &mut Vec<HistoryPoint>,
        before: &mut Option<(Vec<f32>, usize)>,
        embeddings: &Embeddings,
        word: &str,
        n: usize,
    ) -> Result<()> {
        let Moment { name, time, seq, words } = self;
        let mut point = HistoryPoint {
            name,
            time,
            seq,
            known: false,
            count: None,
            rank: None,
            share: None,
            neighbors: Vec::new(),
            movement: None,
            overlap: None,
        };
        // A row of a file that is not finite is as good as none.
        if let Some(row) = embeddings.index_of(word)
            && let Ok(vector) = embeddings.checked_vector(row)
        {
            let found = embeddings.answer(&[Question { vector: &vector, n, exclude: &[row] }])?;
            let near = |found: &skipstream::embeddings::Found| Near {
                word: embeddings.word(found.row).to_owned(),
                similarity: found.similarity,
            };
            point.known = true;
            point.count = Some(embeddings.count(row));
            point.rank = Some(row + 1);
            point.share = Some(embeddings.count(row) as f64 / words.max(1) as f64);
            point.neighbors = found.iter().flatten().map(near).collect();
            if let Some((old, place)) = before
                && old.len() == vector.len()
            {
                point.movement = Some(1.0 - f64::from(cosines(old, &vector)[0]));
                point.overlap = overlap(&points[*place].neighbors, &point.neighbors);
            }
            *before = Some((vector.into_owned(), points.len()));
        }
        points.push(point);
        Ok(())
    }
}

/// The share of words that both have; nothing of none.
fn overlap(before: &[Near], after: &[Near]) -> Option<f64> {
    let most = before.len().max(after.len());
    let same = after.iter().filter(|near| before.iter().any(|other| other.word == near.word)).count();
    (most > 0).then(|| same as f64 / most as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::change::testing::{published, published_at};

    fn time(hour: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + hour * 3_600).unwrap()
    }

    #[test]
    fn a_word_is_followed_over_the_snapshots() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Kept::open(folder.path());
        let moments = [
            (1, vec![("fruit", 8, [0.0, 1.0]), ("phone", 2, [1.0, 0.0])]),
            (2, vec![("apple", 6, [0.0, 2.0]), ("fruit", 8, [0.0, 1.0]), ("phone", 2, [1.0, 0.0])]),
            (3, vec![("fruit", 8, [0.0, 1.0]), ("phone", 5, [1.0, 0.0])]),
        ];
        for (hour, words) in moments {
            kept.keep(&published_at(time(hour), hour as u64, &words), None, 9).unwrap();
        }
        let now = published_at(
            time(4),
            4,
            &[("apple", 10, [3.0, 0.0]), ("fruit", 8, [0.0, 1.0]), ("phone", 7, [1.0, 0.0])],
        );
        let points = history(&kept, &now, "apple", 1).unwrap();
        assert_eq!(points.len(), 4);
        assert_eq!(points.iter().map(|point| point.known).collect::<Vec<_>>(), [false, true, false, true]);
        assert_eq!(points.iter().map(|point| point.seq).collect::<Vec<_>>(), [1, 2, 3, 4]);
        assert_eq!(points[1].count, Some(6));
        assert_eq!((points[1].rank, points[1].share), (Some(2), Some(6.0 / 16.0)));
        assert_eq!(points[1].neighbors, [Near { word: "fruit".to_owned(), similarity: 1.0 }]);
        assert_eq!((points[1].movement, points[1].overlap), (None, None));
        assert_eq!(points[3].neighbors[0].word, "phone");
        assert_eq!((points[3].movement, points[3].overlap), (Some(1.0), Some(0.0)));
        assert_eq!((points[3].name.as_deref(), points[3].rank), (None, Some(1)));
        assert!(points[0].name.is_some() && points[0].count.is_none() && points[0].neighbors.is_empty());
    }

    #[test]
    fn without_snapshots_there_is_only_now() {
        let folder = tempfile::tempdir().unwrap();
        let now = published(1, &[("apple", 10, [3.0, 0.0])]);
        let points = history(&Kept::open(folder.path()), &now, "apple", 5).unwrap();
        assert_eq!(points.len(), 1);
        assert_eq!((points[0].movement, points[0].overlap, points[0].share), (None, None, Some(1.0)));
    }
}
