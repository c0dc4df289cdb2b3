//! The figure, table and words of the report.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use skipstream::Strategy;

use super::{Cut, Plan, ROWS, Row, strategy_name};
use crate::markdown::{listed, spread, table};
use crate::plot::{BarSeries, Bars};
use crate::record::{Manifest, read_rows};
use crate::scores::Set;
use crate::section::{Answer, Section};
use crate::statistics::{Spread, tolerance};
use crate::text::grouped;

const FIGURE: &str = "pieces.svg";

/// The share of comparisons that [`tolerance`] takes for a difference where there is none.
const BY_CHANCE: f64 = 0.05;

/// Points that are shown as nothing. Where a small text leaves all scores at zero, so are their errors.
const NOTHING: f64 = 0.05;

/// All models that differ in their seeds only.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Way {
    strategy: Strategy,
    cut: Cut,
    batch_words: Option<usize>,
    pieces: usize,
}

/// All rows of a run.
struct Models {
    rows: Vec<Row>,
}

/// Draws the figure and writes the section.
pub fn section(folder: &Path) -> Result<Section> {
    let models = Models::read(folder)?;
    models.bars()?.save(&folder.join(FIGURE))?;
    let words = models.rows[0].words;
    let settings = Manifest::read(folder)?.settings;
    let setting = |name: &str| {
        settings["config"][name].as_u64().map(grouped).with_context(|| format!("the manifest has no {name}"))
    };
    let body = format!(
        "## In pieces (beyond the paper)

The same {} words in 1, 10 and 100 pieces; between two pieces the model is saved, forgotten and loaded. Where a piece ends
with a sentence (*incremental*) or with a full batch (*mini-batch*), the saved file must be that of one uninterrupted run,
byte for byte: vectors, counts, sums of AdaGrad, noise, and the text that waits for its replay. Files are compared by BLAKE3.
A piece that ends *anywhere* leaves *mini-batch* with a batch that is not full, which is trained as it is: the model
differs then, and should differ no more than with another seed.

{}
{}

![Scores of mini-batch in one piece and in pieces cut anywhere]({FIGURE})

Scores are per cent, target + context, mean ± standard deviation over the seeds: Spearman's correlation on word pairs, 3CosMul
on analogies. At most {} words are known, which keeps the file small. Of the words of a batch half are new; as many old
ones are replayed, as soon as {} words wait for it.
",
        grouped(words),
        models.table(),
        models.verdicts().join(" "),
        setting("max_vocabulary")?,
        setting("replay_words")?,
    );
    let answers = vec![Answer {
        question: "Do 1, 10 and 100 pieces give the model of one uninterrupted run?".into(),
        answer: models.verdicts().join(" "),
    }];
    Ok(Section { answers, body })
}

impl Models {
    fn read(folder: &Path) -> Result<Self> {
        let rows: Vec<Row> = read_rows(&folder.join(ROWS))?;
        ensure!(!rows.is_empty(), "{} has no rows", folder.join(ROWS).display());
        Ok(Self { rows })
    }

    /// In the order of tables.
    fn ways(&self) -> Vec<Way> {
        let mut ways: Vec<Way> = Vec::new();
        for row in &self.rows {
            if !ways.contains(&Way::of(&row.plan())) {
                ways.push(Way::of(&row.plan()));
            }
        }
        ways.sort_by_key(|way| {
            let is_mini_batch = way.strategy == Strategy::MiniBatch;
            (is_mini_batch, way.batch_words, way.cut == Cut::Anywhere, way.pieces)
        });
        ways
    }

    /// For how many seeds the file is that of the uninterrupted run, and of how many.
    fn equal(&self, way: Way) -> (usize, usize) {
        let checksum = |plan: &Plan| {
            self.rows.iter().find(|row| row.plan() == *plan).map(|row| row.model_blake3.as_str())
        };
        let plans = self.plans(way);
        let is_equal = |plan: &&Plan| {
            let cut = if plan.strategy == Strategy::MiniBatch { Cut::Batches } else { Cut::Sentences };
            checksum(plan) == checksum(&Plan { pieces: 1, cut, ..**plan })
        };
        (plans.iter().filter(is_equal).count(), plans.len())
    }

    /// One for each seed.
    fn plans(&self, way: Way) -> Vec<Plan> {
        let mut plans: Vec<Plan> = Vec::new();
        for row in &self.rows {
            if Way::of(&row.plan()) == way && !plans.contains(&row.plan()) {
                plans.push(row.plan());
            }
        }
        plans
    }

    fn spread(&self, way: Way, set: Set) -> Option<Spread> {
        let of = |row: &&Row| Way::of(&row.plan()) == way && row.set == set && row.measure == set.measure();
        Spread::of(&self.rows.iter().filter(of).filter_map(|row| row.score).collect::<Vec<_>>())
    }

    fn table(&self) -> String {
        let mut head = vec!["strategy", "words a batch", "cut", "pieces", "the same file"];
        head.extend(Set::ALL.map(Set::name));
        let rows = self.ways().into_iter().map(|way| {
            let (equal, all) = self.equal(way);
            let same = match (way.pieces, equal) {
                (1, _) => "–".into(),
                (_, equal) if equal == all => "yes".into(),
                (_, 0) => "no".into(),
                (_, equal) => format!("{equal} of {all}"),
            };
            let batch = way.batch_words.map_or_else(|| "–".into(), |words| grouped(words as u64));
            let mut row =
                vec![strategy_name(way.strategy).into(), batch, way.cut_name(), way.pieces.to_string(), same];
            row.extend(Set::ALL.map(|set| spread(self.spread(way, set), 1)));
            row
        });
        table(&head, rows)
    }

    fn bars(&self) -> Result<Bars> {
        let of_batch = |way: &Way| way.batch_words;
        let largest = self.ways().iter().filter_map(of_batch).max();
        let shown = self.ways().into_iter().filter(|way| {
            way.batch_words == largest && largest.is_some() && (way.pieces == 1 || way.cut == Cut::Anywhere)
        });
        let series = shown.map(|way| BarSeries {
            label: match way.pieces {
                1 => "one piece".into(),
                pieces => format!("{pieces} pieces, cut anywhere"),
            },
            values: Set::ALL
                .iter()
                .map(|&set| self.spread(way, set).map(|spread| (spread.mean, spread.deviation)))
                .collect(),
        });
        Ok(Bars {
            title: "mini-batch in one piece and in many".into(),
            y_label: "score, per cent".into(),
            groups: Set::ALL.iter().map(|set| set.name().into()).collect(),
            series: series.collect(),
        })
    }

    /// A sentence on what must be equal, and one on what may differ.
    fn verdicts(&self) -> Vec<String> {
        let interrupted: Vec<Way> = self.ways().into_iter().filter(|way| way.pieces > 1).collect();
        let at_boundaries: Vec<Way> =
            interrupted.iter().copied().filter(|way| way.cut != Cut::Anywhere).collect();
        let differing: Vec<String> = at_boundaries
            .iter()
            .filter(|&&way| self.equal(way).0 < self.equal(way).1)
            .map(|way| way.name())
            .collect();
        let mut verdicts = vec![match (at_boundaries.as_slice(), differing.as_slice()) {
            ([], _) => "Pieces that end at a boundary were not measured.".into(),
            (all, []) => format!(
                "At boundaries all {} interrupted models are the uninterrupted one, byte for byte.",
                all.iter().map(|&way| self.equal(way).1).sum::<usize>()
            ),
            (_, differing) => {
                format!("At boundaries these differ, which breaks a law: {}.", listed(differing))
            }
        }];
        let (mut n_compared, mut n_judged, mut beyond) = (0, 0, Vec::new());
        for &way in interrupted.iter().filter(|way| way.cut == Cut::Anywhere) {
            let whole = Way { cut: Cut::Batches, pieces: 1, ..way };
            for set in Set::ALL {
                let (Some(one), Some(many)) = (self.spread(whole, set), self.spread(way, set)) else {
                    continue;
                };
                n_compared += 1;
                let has_spreads = one.n > 1 && many.n > 1;
                let Some(errors) = tolerance(one.n + many.n - 2).filter(|_| has_spreads) else { continue };
                n_judged += 1;
                let error = one.standard_error().hypot(many.standard_error());
                let difference = many.mean - one.mean;
                if difference.abs() > (errors * error).max(NOTHING) {
                    beyond.push(format!("{} on {} ({difference:+.1})", way.name(), set.name()));
                }
            }
        }
        let by_chance = BY_CHANCE * f64::from(n_judged);
        verdicts.push(match (n_compared, n_judged, beyond.as_slice()) {
            (0, _, _) => "Pieces cut anywhere were not measured.".into(),
            (_, 0, _) => "Pieces cut anywhere are not judged: that takes two seeds.".into(),
            (_, n, []) => format!(
                "Cut anywhere, none of {n} scores differs from that of one piece by more than seeds explain (Student's \
                 test at 5 %)."
            ),
            (_, n, beyond) => format!(
                "Cut anywhere, {} of {n} scores differ from that of one piece by more than seeds explain (Student's \
                 test at 5 %, by which about {by_chance:.1} of {n} would by chance): {}.",
                beyond.len(),
                listed(beyond)
            ),
        });
        verdicts
    }
}

impl Way {
    fn of(plan: &Plan) -> Self {
        let Plan { strategy, cut, batch_words, pieces, .. } = *plan;
        Self { strategy, cut, batch_words, pieces }
    }

    fn cut_name(self) -> String {
        match (self.pieces, self.cut) {
            (1, _) => "not at all",
            (_, Cut::Sentences) => "at sentences",
            (_, Cut::Batches) => "at batches",
            (_, Cut::Anywhere) => "anywhere",
        }
        .into()
    }

    fn name(self) -> String {
        let batch =
            self.batch_words.map_or_else(String::new, |words| format!(" of {}", grouped(words as u64)));
        format!("{}{batch} in {} pieces", strategy_name(self.strategy), self.pieces)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(cut: Cut, pieces: usize, seed: u64, checksum: &str, score: f64) -> Row {
        Row {
            strategy: Strategy::MiniBatch,
            cut,
            batch_words: Some(100),
            pieces,
            seed,
            words: 1000,
            model_blake3: checksum.into(),
            set: Set::Men,
            measure: Set::Men.measure(),
            score: Some(score),
            used: 1,
            total: 1,
        }
    }

    #[test]
    fn equality_is_that_of_files_of_the_same_seed() {
        let mut models = Models {
            rows: vec![
                row(Cut::Batches, 1, 1, "a", 50.0),
                row(Cut::Batches, 1, 2, "b", 52.0),
                row(Cut::Batches, 10, 1, "a", 50.0),
                row(Cut::Batches, 10, 2, "b", 52.0),
                row(Cut::Anywhere, 10, 1, "c", 52.0),
                row(Cut::Anywhere, 10, 2, "d", 51.0),
            ],
        };
        let verdicts = models.verdicts();
        assert!(verdicts[0].contains("all 2 interrupted models are"), "{}", verdicts[0]);
        assert!(verdicts[1].contains("none of 1 scores"), "{}", verdicts[1]);
        assert!(models.table().contains("| anywhere | 10 | no |"), "{}", models.table());

        models.rows[3].model_blake3 = "a".into();
        models.rows[4].score = Some(90.0);
        models.rows[5].score = Some(91.0);
        let verdicts = models.verdicts();
        assert!(verdicts[0].contains("breaks a law: mini-batch of 100 in 10 pieces"), "{}", verdicts[0]);
        assert!(verdicts[1].contains("1 of 1 scores differ"), "{}", verdicts[1]);
        assert!(models.table().contains("| at batches | 10 | 1 of 2 |"), "{}", models.table());

        models.rows.retain(|row| row.seed == 1);
        assert!(models.verdicts()[1].contains("not judged"), "{}", models.verdicts()[1]);
    }
}
