//! The figures, table and words of the report.

use std::path::Path;

use anyhow::{Result, ensure};

use super::{CONTROL, ROWS, Row, SETS};
use crate::markdown::{listed, table};
use crate::plot::{Axis, Chart, Marks, Point, Scale, Series, Shape};
use crate::record::read_rows;
use crate::scores::{N_FREQUENT, Set};
use crate::section::{Answer, Section};
use crate::statistics::{Spread, tolerance};
use crate::text::grouped;

const DRAWN: [Set; 3] = [Set::Men, Set::Ws353, Set::Google];

/// Points that are shown as nothing.
const NOTHING: f64 = 0.05;

/// A curve: what streamed in, and into which model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Curve {
    text: String,
    max_vocabulary: usize,
    replays: u32,
}

/// What became of a score on one set, from the first look to a later one.
#[derive(Clone, Copy, Debug)]
struct Change {
    set: Set,
    /// Over the seeds, each against itself.
    points: Spread,
    /// Questions used at both looks, on average.
    used: [f64; 2],
}

/// All rows of a run.
struct Curves {
    rows: Vec<Row>,
}

/// Draws the figures and writes the section.
pub fn section(folder: &Path) -> Result<Section> {
    let curves = Curves::read(folder)?;
    let mut figures = String::new();
    for max_vocabulary in curves.vocabularies() {
        for set in DRAWN {
            let name = format!("{}-{max_vocabulary}.svg", set.name().to_lowercase());
            curves.chart(set, max_vocabulary).save(&folder.join(&name))?;
            let words = grouped(max_vocabulary as u64);
            figures += &format!("![{} while another text streams in, {words} words]({name})\n", set.name());
        }
    }
    let first = &curves.rows[0];
    let bounds: Vec<String> =
        curves.vocabularies().iter().map(|&words| format!("{} words", grouped(words as u64))).collect();
    let candidates = curves.vocabularies().into_iter().map(|words| {
        let most = words.min(N_FREQUENT) as u64;
        format!("at most {} of a model with room for {}", grouped(most), grouped(words as u64))
    });
    let candidates: Vec<String> = candidates.collect();
    let body = format!(
        "## Forgetting (beyond the paper)

A model learns the first {} words of the Wikipedia of 2006. Then another text streams in, and every so often the model is
scored on the words that it knew before, the most frequent ones ({}): they are the candidates, and the questions are
about them. *{CONTROL}* is the control, the text that followed: what changes there is learning. *wiki-recent* are short articles of today, *sotu* the
State of the Union addresses from 1790 on, in small letters. With *replay* each word is trained once more from a buffer
of {} words, so that at first old text comes back among the new; without it a model sees the new text alone.

Bounds on the vocabulary are {}: with a small one words have to leave. A word that left and came back starts anew, and
counts as lost. Words that are gone are no candidates, and questions about them are not scored: the score is then over the
questions that are left, and is not compared with that over all of them. The table has the number of questions in brackets.

{figures}
{}
{}
Scores are per cent, target + context, mean over the seeds: Spearman's correlation on word pairs, 3CosMul on analogies.
Error bars are standard deviations. A score fell if the differences of the seeds, each against itself, say so by Student's
test: one score in 40 would by chance.
",
        grouped(first.first_words),
        listed(&candidates),
        grouped(first.replay_words),
        listed(&bounds),
        curves.table(),
        curves.verdicts().iter().map(|verdict| format!("- {verdict}\n")).collect::<String>(),
    );
    let answers = vec![Answer {
        question: "What is forgotten while a different kind of text streams in?".into(),
        answer: curves.answer(),
    }];
    Ok(Section { answers, body })
}

impl Curves {
    fn read(folder: &Path) -> Result<Self> {
        let rows: Vec<Row> = read_rows(&folder.join(ROWS))?;
        ensure!(!rows.is_empty(), "{} has no rows", folder.join(ROWS).display());
        Ok(Self { rows })
    }

    /// The default first.
    fn vocabularies(&self) -> Vec<usize> {
        let mut sizes: Vec<usize> = self.rows.iter().map(|row| row.max_vocabulary).collect();
        sizes.sort_unstable_by(|one, other| other.cmp(one));
        sizes.dedup();
        sizes
    }

    /// In the order of tables.
    fn all(&self) -> Vec<Curve> {
        let mut curves: Vec<Curve> = Vec::new();
        for row in &self.rows {
            if !curves.contains(&row.curve()) {
                curves.push(row.curve());
            }
        }
        curves.sort_by_key(|curve| {
            (usize::MAX - curve.max_vocabulary, curve.text != CONTROL, curve.text.clone(), curve.replays)
        });
        curves
    }

    /// The rows of a curve on one set, by the measure of the paper.
    fn rows<'a>(&'a self, curve: &'a Curve, set: Set) -> impl Iterator<Item = &'a Row> {
        self.rows
            .iter()
            .filter(move |row| row.set == set && row.measure == set.measure() && row.curve() == *curve)
    }

    /// How many words had streamed in at each look.
    fn looks(&self, curve: &Curve) -> Vec<u64> {
        let mut looks: Vec<u64> = self.rows(curve, SETS[0]).map(|row| row.streamed_words).collect();
        looks.sort_unstable();
        looks.dedup();
        looks
    }

    fn spread(&self, curve: &Curve, set: Set, streamed_words: u64) -> Option<Spread> {
        let at = self.rows(curve, set).filter(|row| row.streamed_words == streamed_words);
        Spread::of(&at.filter_map(|row| row.score).collect::<Vec<_>>())
    }

    fn chart(&self, set: Set, max_vocabulary: usize) -> Chart {
        let shapes = [Shape::Circle, Shape::Square, Shape::Triangle];
        let curves: Vec<Curve> =
            self.all().into_iter().filter(|curve| curve.max_vocabulary == max_vocabulary).collect();
        let mut texts: Vec<&str> = curves.iter().map(|curve| curve.text.as_str()).collect();
        texts.dedup();
        let series = curves.iter().map(|curve| Series {
            label: curve.name(),
            marks: match curve.replays {
                0 => Marks::Dashed,
                _ => {
                    let number = texts.iter().position(|&text| text == curve.text).unwrap_or(0);
                    Marks::PointsAndLine(shapes[number % shapes.len()])
                }
            },
            points: self
                .looks(curve)
                .into_iter()
                .filter_map(|words| {
                    let spread = self.spread(curve, set, words)?;
                    let error = (spread.n > 1 && curve.replays > 0).then_some(spread.deviation);
                    Some(Point { x: words as f64 / 1e6, y: spread.mean, error })
                })
                .collect(),
        });
        Chart {
            title: format!("{}, at most {} words known", set.name(), grouped(max_vocabulary as u64)),
            x: Axis { label: "million words streamed in".into(), scale: Scale::Linear },
            y: Axis { label: "score, per cent".into(), scale: Scale::Linear },
            series: series.collect(),
        }
    }

    fn table(&self) -> String {
        let mut head = vec!["text that streams in", "words known, at most", "words streamed"];
        head.extend(SETS.map(Set::name));
        head.extend(["test words lost", "words that left"]);
        let rows = self.all().into_iter().map(|curve| {
            let last = self.looks(&curve).last().copied().unwrap_or(0);
            let cells = SETS.map(|set| {
                let (begin, end) = (self.spread(&curve, set, 0), self.spread(&curve, set, last));
                match (begin, end, self.change(&curve, set, last)) {
                    (Some(begin), Some(end), Some(change)) => {
                        format!("{:.1} → {:.1} ({})", begin.mean, end.mean, change.questions())
                    }
                    _ => "–".into(),
                }
            });
            let (lost, test_words, evictions) = self.lost(&curve, last);
            let mut row = vec![curve.name(), grouped(curve.max_vocabulary as u64), grouped(last)];
            row.extend(cells);
            row.extend([format!("{} of {}", grouped(lost), grouped(test_words)), grouped(evictions)]);
            row
        });
        table(&head, rows)
    }

    /// Of the words of all sets, how many were lost and how many there were; and how many words left at all. Means over
    /// the seeds; a word in two sets counts twice.
    fn lost(&self, curve: &Curve, streamed_words: u64) -> (u64, u64, u64) {
        let mean = |set: Set, of: fn(&Row) -> u64| {
            let at = self.rows(curve, set).filter(|row| row.streamed_words == streamed_words);
            Spread::of(&at.map(|row| of(row) as f64).collect::<Vec<_>>()).map_or(0.0, |spread| spread.mean)
        };
        let sum = |of: fn(&Row) -> u64| SETS.iter().map(|&set| mean(set, of)).sum::<f64>().round() as u64;
        let lost = sum(|row| row.lost_words as u64);
        (lost, sum(|row| row.test_words as u64), mean(SETS[0], |row| row.evictions).round() as u64)
    }

    /// The change on a set from the first look to a later one: the same model, seed by seed.
    fn change(&self, curve: &Curve, set: Set, streamed_words: u64) -> Option<Change> {
        let at = |look: u64| self.rows(curve, set).filter(move |row| row.streamed_words == look);
        let pairs = at(0).filter_map(|begin| {
            let end = at(streamed_words).find(|end| end.seed == begin.seed)?;
            Some((end.score? - begin.score?, [begin.used as f64, end.used as f64]))
        });
        let (points, used): (Vec<f64>, Vec<[f64; 2]>) = pairs.unzip();
        let mean = |look: usize| used.iter().map(|used| used[look]).sum::<f64>() / used.len() as f64;
        Some(Change { set, points: Spread::of(&points)?, used: [mean(0), mean(1)] })
    }

    /// The changes on all sets.
    fn changes(&self, curve: &Curve, streamed_words: u64) -> Vec<Change> {
        SETS.into_iter().filter_map(|set| self.change(curve, set, streamed_words)).collect()
    }

    /// What other texts did to the scores, beside what as many words of the first text did.
    fn verdicts(&self) -> Vec<String> {
        let mut sentences = Vec::new();
        for curve in self.all().iter().filter(|curve| curve.text != CONTROL) {
            let Some(&last) = self.looks(curve).last() else { continue };
            let changes = self.changes(curve, last);
            let told: Vec<String> = changes.iter().map(Change::told).collect();
            let control = Curve { text: CONTROL.into(), ..curve.clone() };
            let nearest = self.looks(&control).into_iter().min_by_key(|look| look.abs_diff(last));
            let beside = nearest.filter(|&look| look > 0).map(|look| {
                let changes: Vec<String> = self.changes(&control, look).iter().map(Change::told).collect();
                format!(" ({} words of the first text instead: {})", grouped(look), changes.join(", "))
            });
            let (lost, test_words, _) = self.lost(curve, last);
            let gone = match lost {
                0 => String::new(),
                lost => format!("; {} of {} test words were lost", grouped(lost), grouped(test_words)),
            };
            sentences.push(format!(
                "{}, at most {} words: after {} words {}: {}{}{gone}.",
                curve.name(),
                grouped(curve.max_vocabulary as u64),
                grouped(last),
                fallen(&changes),
                told.join(", "),
                beside.unwrap_or_default(),
            ));
        }
        if sentences.is_empty() {
            sentences.push("No other text was there to stream.".into());
        }
        sentences
    }

    /// In short: how many scores fell, MEN and Google with the largest vocabulary, and what the smallest one lost.
    fn answer(&self) -> String {
        let vocabularies = self.vocabularies();
        let (mut all_changes, mut told, mut lost) = (Vec::new(), Vec::new(), Vec::new());
        for curve in self.all() {
            let Some(&last) = self.looks(&curve).last() else { continue };
            if Some(&curve.max_vocabulary) == vocabularies.first() {
                let changes = self.changes(&curve, last);
                let is_shown = |change: &&Change| matches!(change.set, Set::Men | Set::Google);
                let shown: Vec<String> = changes.iter().filter(is_shown).map(Change::told).collect();
                told.push(format!("{}, {} words: {}", curve.name(), grouped(last), shown.join(", ")));
                if curve.text != CONTROL {
                    all_changes.extend(changes);
                }
            } else if curve.text != CONTROL && curve.replays == 0 {
                let (words, all, _) = self.lost(&curve, last);
                lost.push(format!("{} of {} to {}", grouped(words), grouped(all), curve.text));
            }
        }
        let room = vocabularies.first().map_or_else(String::new, |&words| grouped(words as u64));
        let mut answer =
            format!("With room for {room} words, {} ({}).", fallen(&all_changes), told.join("; "));
        if let (Some(&words), [_, ..]) = (vocabularies.last(), lost.as_slice()) {
            answer += &format!(
                " With room for {} words, test words had to leave: {}.",
                grouped(words as u64),
                listed(&lost)
            );
        }
        answer
    }
}

impl Change {
    /// Whether it is a fall, by more than seeds explain. It takes two seeds and the same questions to say. Questions are
    /// never more than at first, so as many are the same.
    fn is_fall(&self) -> Option<bool> {
        let errors = tolerance(self.points.n - 1).filter(|_| self.has_all_questions())?;
        Some(self.points.mean < -(errors * self.points.standard_error()).max(NOTHING))
    }

    fn has_all_questions(&self) -> bool {
        self.used[0] == self.used[1]
    }

    /// How many questions were used, at first and later.
    fn questions(&self) -> String {
        let [begin, end] = self.used.map(|used| grouped(used.round() as u64));
        if self.has_all_questions() { begin } else { format!("{begin} → {end}") }
    }

    /// In points.
    fn told(&self) -> String {
        let points = format!("{} {:+.1}", self.set.name(), self.points.mean);
        if self.has_all_questions() {
            return points;
        }
        let [begin, end] = self.used.map(|used| grouped(used.round() as u64));
        format!("{points} (over the {end} questions left of {begin})")
    }
}

/// How many scores fell, of those that can be judged.
fn fallen(changes: &[Change]) -> String {
    let judged: Vec<bool> = changes.iter().filter_map(Change::is_fall).collect();
    if judged.is_empty() {
        return if changes.iter().any(Change::has_all_questions) {
            "scores on old words are not judged, for that takes two seeds".into()
        } else {
            "scores on old words are not judged, for none is over the same questions".into()
        };
    }
    let n_fell = judged.iter().filter(|&&fell| fell).count();
    let others = match changes.len() - judged.len() {
        0 => String::new(),
        n => format!(" ({n} more are over fewer questions than at first, and not judged)"),
    };
    format!("{n_fell} of {} scores on old words fell by more than seeds explain{others}", judged.len())
}

impl Curve {
    fn name(&self) -> String {
        match self.replays {
            0 => format!("{} without replay", self.text),
            _ => format!("{} with replay", self.text),
        }
    }
}

impl Row {
    fn curve(&self) -> Curve {
        Curve { text: self.text.clone(), max_vocabulary: self.max_vocabulary, replays: self.replays }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(text: &str, seed: u64, streamed_words: u64, score: f64, lost_words: usize) -> Row {
        Row {
            text: text.into(),
            max_vocabulary: 10,
            replays: 0,
            seed,
            first_words: 100,
            replay_words: 1,
            streamed_words,
            set: Set::Men,
            measure: Set::Men.measure(),
            score: Some(score),
            used: 5,
            test_words: 8,
            lost_words,
            evictions: 20,
        }
    }

    #[test]
    fn a_fall_is_told_beside_the_control_and_the_losses() {
        let mut rows = Vec::new();
        for seed in 1..=2 {
            let noise = seed as f64 / 10.0;
            rows.push(row(CONTROL, seed, 0, 50.0 + noise, 0));
            rows.push(row(CONTROL, seed, 30, 55.0 + noise, 0));
            rows.push(row("sotu", seed, 0, 50.0 + noise, 0));
            rows.push(row("sotu", seed, 40, 45.0 + noise, 2));
        }
        // The first set decides which looks there are.
        rows.extend(rows.clone().into_iter().map(|row| Row {
            set: SETS[0],
            measure: SETS[0].measure(),
            score: Some(1.0),
            lost_words: 0,
            ..row
        }));
        let curves = Curves { rows };
        let verdict = curves.verdicts().join(" ");
        let answer = curves.answer();
        assert!(answer.starts_with("With room for 10 words, 1 of 2 scores on old words fell"), "{answer}");
        assert!(answer.contains("sotu without replay, 40 words: MEN -5.0"), "{answer}");
        assert!(
            verdict.contains("sotu without replay, at most 10 words: after 40 words 1 of 2 scores"),
            "{verdict}"
        );
        assert!(
            verdict.contains("MEN -5.0 (30 words of the first text instead: WS353 +0.0, MEN +5.0)"),
            "{verdict}"
        );
        assert!(verdict.contains("2 of 16 test words were lost"), "{verdict}");
        assert!(!verdict.contains(CONTROL), "{verdict}");
        assert!(curves.table().contains(" (5) |"), "{}", curves.table());
    }

    #[test]
    fn a_score_is_judged_by_its_own_seed_over_the_same_questions() {
        // Seeds are far apart, and all fall by about one point.
        let scores = [(40.0, 39.0), (50.0, 48.9), (60.0, 59.1)];
        let rows = scores.iter().zip(1..).flat_map(|(&(begin, end), seed)| {
            [row("sotu", seed, 0, begin, 0), row("sotu", seed, 40, end, 0)]
        });
        let mut curves = Curves { rows: rows.collect() };
        let change = |curves: &Curves| curves.change(&curves.all()[0], Set::Men, 40).unwrap();
        assert_eq!(change(&curves).is_fall(), Some(true));

        for row in curves.rows.iter_mut().filter(|row| row.streamed_words > 0) {
            row.used = 4;
        }
        assert_eq!(change(&curves).is_fall(), None);
        assert_eq!(change(&curves).told(), "MEN -1.0 (over the 4 questions left of 5)");
        assert!(fallen(&[change(&curves)]).contains("none is over the same questions"));

        curves.rows = vec![row("sotu", 1, 0, 50.0, 0), row("sotu", 1, 40, 30.0, 0)];
        assert_eq!(change(&curves).is_fall(), None);
        assert!(fallen(&[change(&curves)]).contains("two seeds"));
    }
}
