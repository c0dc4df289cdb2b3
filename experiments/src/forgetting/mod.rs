//! What a model forgets while another kind of text streams in.
//!
//! A model learns the first part of a text. Then another text streams in, and from time to time the model is scored on
//! the words that it knew after the first part and has not evicted. The second part of the first text is the control: what
//! changes with it is learning, not forgetting.

mod known;

use std::fs;
use std::ops::Range;
use std::path::Path;

use anyhow::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;
use skipstream::corpus::Lines;
use skipstream::{Config, MiniBatchOptions, Strategy, Trainer};

use self::known::Known;
use crate::data::{Corpus, Data};
use crate::options::Options;
use crate::portions::LinedText;
use crate::record::{Record, Rows, work_folder};
use crate::scores::{Measure, N_FREQUENT, Set, score};

/// The name of the experiment and of its folder.
pub const NAME: &str = "forgetting";

const ROWS: &str = "forgetting.csv";

/// The control: the text that follows the first part.
const CONTROL: &str = "more of wiki-2006";

const SETS: [Set; 4] = [Set::Ws353, Set::Men, Set::SimLex, Set::Google];

/// New words per batch, with or without replay, so that a look at the model is at the end of a batch.
const NEW_WORDS: u64 = 200_000;

/// The size of the experiment.
#[derive(Serialize)]
struct Scale {
    first_words: u64,
    /// Maximum number of words streamed after it, of each text and of the control.
    streamed_words: u64,
    /// Batches between two looks: at first, and after the first million words.
    batches_a_look: [usize; 2],
    /// Size of the replay buffer: less than the first part, or nothing would be replayed.
    replay_words: usize,
    /// The default bound, and one that forces evictions.
    max_vocabulary: [usize; 2],
    seeds: &'static [u64],
}

const FULL: Scale = Scale {
    first_words: 4_000_000,
    streamed_words: 4_000_000,
    batches_a_look: [2, 4],
    replay_words: 2_000_000,
    max_vocabulary: [100_000, 20_000],
    seeds: &[1, 2, 3],
};
const QUICK: Scale = Scale {
    first_words: 1_000_000,
    streamed_words: 400_000,
    batches_a_look: [1, 4],
    replay_words: 300_000,
    max_vocabulary: [100_000, 10_000],
    seeds: &[1, 2],
};
const MILLION: u64 = 1_000_000;

/// A model and what streams into it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variant {
    text: String,
    max_vocabulary: usize,
    replays: u32,
    seed: u64,
}

/// A text that streams in after the first part.
struct Stream {
    name: String,
    text: LinedText,
    lines: Range<usize>,
}

/// Lines to learn before the next look at the model.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Look {
    lines: Range<usize>,
    streamed_words: u64,
}

/// The score on one set after a number of streamed words.
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
struct Row {
    text: String,
    max_vocabulary: usize,
    replays: u32,
    seed: u64,
    first_words: u64,
    replay_words: u64,
    streamed_words: u64,
    set: Set,
    measure: Measure,
    score: Option<f64>,
    /// Questions whose words are all still known.
    used: usize,
    /// Words of the set that were known after the first part, among the most frequent.
    test_words: usize,
    /// The number of them that were evicted since, even if they returned.
    lost_words: usize,
    evictions: u64,
}

/// Streams each text into each model, and writes the rows.
pub fn measure(options: &Options) -> Result<()> {
    let scale = if options.quick { QUICK } else { FULL };
    let data = Data::new(options)?;
    let eval = data.test_sets()?;
    let first = data.plain_text(Corpus::Wiki2006, Some(scale.first_words + scale.streamed_words))?;
    let mut sources = vec![first.source];
    let lined = LinedText::read(&first.path)?;
    let first_part = lined.batches(lined.all(), scale.first_words).swap_remove(0);
    let mut streams =
        vec![Stream { name: CONTROL.into(), lines: first_part.end..lined.all().end, text: lined }];
    for corpus in [Corpus::WikiRecent, Corpus::Sotu] {
        match data.plain_text(corpus, Some(scale.streamed_words)) {
            Ok(text) => {
                let lined = LinedText::read(&text.path)?;
                streams.push(Stream { name: corpus.name().into(), lines: lined.all(), text: lined });
                sources.push(text.source);
            }
            Err(error) => eprintln!("skipping {}: {error:#}", corpus.name()),
        }
    }
    let settings = json!({
        "scale": scale,
        "new_words_a_batch": NEW_WORDS,
        "n_frequent": N_FREQUENT,
        "config": Variant { text: String::new(), max_vocabulary: Config::default().max_vocabulary, replays: 1, seed: 1 }.config(scale.replay_words),
        "vectors": "sum",
    });
    let record = Record::open(options, NAME, &settings, sources)?;
    let mut rows: Rows<Row> = record.rows(ROWS)?;
    let model = work_folder()?.join("forgetting.model");
    for &seed in scale.seeds {
        for max_vocabulary in scale.max_vocabulary {
            for replays in [1, 0] {
                let variant = |text: &str| Variant { text: text.into(), max_vocabulary, replays, seed };
                let missing: Vec<&Stream> = streams
                    .iter()
                    .filter(|stream| {
                        !is_complete(
                            rows.rows(),
                            &variant(&stream.name),
                            &stream.looks(NEW_WORDS, scale.batches_a_look),
                        )
                    })
                    .collect();
                if missing.is_empty() {
                    continue;
                }
                let config = variant("").config(scale.replay_words);
                let mut trainer = Trainer::new(config.clone())?;
                let text = streams[0].text.lines(&(0..first_part.end));
                trainer.train_source(&mut Lines::new(text, "first part", &config.text)?)?;
                trainer.save(&model)?;
                for stream in missing {
                    eprintln!("{}: vocabulary {max_vocabulary}, replays {replays}, seed {seed}", stream.name);
                    let looks = stream.looks(NEW_WORDS, scale.batches_a_look);
                    stream_in(stream, &variant(&stream.name), &looks, &model, &eval, &mut rows)?;
                }
            }
        }
    }
    if model.exists() {
        fs::remove_file(&model)?;
    }
    Ok(())
}

impl Variant {
    fn config(&self, replay_words: usize) -> Config {
        let batch_words = NEW_WORDS as usize * (1 + self.replays as usize);
        let options =
            MiniBatchOptions { replays: self.replays, batch_words, replay_words, ..Default::default() };
        Config {
            max_vocabulary: self.max_vocabulary,
            strategy: Strategy::MiniBatch(options),
            seed: self.seed,
            ..Config::default()
        }
    }
}

impl Row {
    fn variant(&self) -> Variant {
        let Row { max_vocabulary, replays, seed, .. } = *self;
        Variant { text: self.text.clone(), max_vocabulary, replays, seed }
    }
}

impl Stream {
    /// Looks: before the first word, often in the first million words, less often later, and at the end.
    fn looks(&self, batch_words: u64, batches_a_look: [usize; 2]) -> Vec<Look> {
        let mut looks = vec![Look { lines: self.lines.start..self.lines.start, streamed_words: 0 }];
        let batches = self.text.batches(self.lines.clone(), batch_words);
        let mut start = self.lines.start;
        let mut since_look = 0;
        for batch in batches {
            since_look += 1;
            let streamed_words = self.text.n_words(&(self.lines.start..batch.end));
            let wait = batches_a_look[usize::from(streamed_words > MILLION)];
            if since_look >= wait || batch.end == self.lines.end {
                looks.push(Look { lines: start..batch.end, streamed_words });
                start = batch.end;
                since_look = 0;
            }
        }
        looks
    }
}

/// Whether all looks of a variant have rows on all sets.
fn is_complete(rows: &[Row], variant: &Variant, looks: &[Look]) -> bool {
    looks.iter().all(|look| {
        let of_look = |row: &&Row| row.streamed_words == look.streamed_words && row.variant() == *variant;
        let found: Vec<Set> = rows.iter().filter(of_look).map(|row| row.set).collect();
        SETS.iter().all(|set| found.contains(set))
    })
}

/// Streams a text into a copy of the model, and scores it at each look.
fn stream_in(
    stream: &Stream,
    variant: &Variant,
    looks: &[Look],
    model: &Path,
    eval: &Path,
    rows: &mut Rows<Row>,
) -> Result<()> {
    let mut trainer = Trainer::load(model, None)?;
    let text_options = trainer.settings().text().clone();
    let replay_words = match trainer.settings().strategy() {
        Strategy::MiniBatch(options) => options.replay_words as u64,
        _ => 0,
    };
    let (first_words, before) = (trainer.progress().tokens, trainer.progress().evictions);
    let mut known = Known::of(trainer.vocabulary(), N_FREQUENT);
    let test_words: Vec<_> =
        SETS.iter().map(|set| known.words_of(&eval.join(set.file()))).collect::<Result<_>>()?;
    for look in looks {
        trainer.train_source(&mut Lines::new(
            stream.text.lines(&look.lines),
            &stream.name,
            &text_options,
        )?)?;
        known.look_at(trainer.vocabulary());
        let of_look = |row: &&Row| row.streamed_words == look.streamed_words && row.variant() == *variant;
        let there: Vec<Set> = rows.rows().iter().filter(of_look).map(|row| row.set).collect();
        for found in score(&known.embeddings(&trainer)?, eval, &SETS)? {
            if there.contains(&found.set) {
                continue;
            }
            let words = SETS.iter().position(|&set| set == found.set).map(|place| &test_words[place]);
            rows.push(Row {
                text: variant.text.clone(),
                max_vocabulary: variant.max_vocabulary,
                replays: variant.replays,
                seed: variant.seed,
                first_words,
                replay_words,
                streamed_words: look.streamed_words,
                set: found.set,
                measure: found.measure,
                score: found.score,
                used: found.used,
                test_words: words.map_or(0, Vec::len),
                lost_words: words.map_or(0, |words| known.n_lost(words)),
                evictions: trainer.progress().evictions - before,
            })?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(n_lines: usize) -> Stream {
        let text = LinedText::new("a b\n".repeat(n_lines).into_bytes());
        Stream { name: "more".into(), lines: 1..n_lines, text }
    }

    #[test]
    fn looks_hold_the_whole_stream_once() {
        let stream = stream(12);
        let looks = stream.looks(4, [2, 9]);
        let words: Vec<u64> = looks.iter().map(|look| look.streamed_words).collect();
        assert_eq!(words, [0, 8, 16, 22]);
        assert_eq!(looks[0].lines, 1..1);
        assert!(looks.windows(2).all(|pair| pair[0].lines.end == pair[1].lines.start));
        assert_eq!(looks[3].lines, 9..12);
    }

    #[test]
    fn a_curve_starts_before_the_stream_and_is_not_measured_twice() {
        let folder = tempfile::tempdir().unwrap();
        let (model, csv) = (folder.path().join("model"), folder.path().join("rows.csv"));
        for set in SETS {
            let questions = if set == Set::Google { "a b c a\n" } else { "a\tb\t1\na\tc\t2\nb\tz\t3\n" };
            fs::write(folder.path().join(set.file()), questions).unwrap();
        }
        let config = Config { dimensions: 4, max_vocabulary: 3, ..Config::default() };
        let mut trainer = Trainer::new(config.clone()).unwrap();
        let first = "a a a a b b b c\n";
        trainer.train_source(&mut Lines::new(first.as_bytes(), "first", &config.text).unwrap()).unwrap();
        trainer.save(&model).unwrap();

        // Two new words drive `c` out, and then `b` too.
        let text = LinedText::new(b"x y\na a\nx y x y\n".to_vec());
        let stream = Stream { name: "new".into(), lines: text.all(), text };
        let variant = Variant { text: "new".into(), max_vocabulary: 3, replays: 1, seed: 1 };
        let looks = stream.looks(2, [1, 1]);
        for _ in 0..2 {
            let mut rows = Rows::open(csv.clone()).unwrap();
            stream_in(&stream, &variant, &looks, &model, folder.path(), &mut rows).unwrap();
            assert!(is_complete(rows.rows(), &variant, &looks));
            assert!(!is_complete(rows.rows(), &Variant { seed: 2, ..variant.clone() }, &looks));
            let men: Vec<&Row> = rows.rows().iter().filter(|row| row.set == Set::Men).collect();
            let column = |of: fn(&Row) -> u64| men.iter().map(|row| of(row)).collect::<Vec<_>>();
            assert_eq!(column(|row| row.streamed_words), [0, 2, 4, 8]);
            assert_eq!(column(|row| row.first_words), [8; 4]);
            assert_eq!(column(|row| row.test_words as u64), [3; 4], "z was never known");
            assert_eq!(column(|row| row.lost_words as u64)[..3], [0, 1, 1]);
            assert_eq!(column(|row| row.used as u64)[..3], [2, 1, 1]);
        }
    }
}
