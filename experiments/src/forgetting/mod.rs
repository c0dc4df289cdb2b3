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
use crate::record::{self, Rows, work_folder};
use crate::scores::{Measure, N_FREQUENT, Set, score};

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
#[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
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

/// The score on one set at a look.
#[derive(Serialize)]
struct LookScore {
    first_words: u64,
    replay_words: usize,
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
    let first = data.plain_text(Corpus::Wiki2006, scale.first_words + scale.streamed_words)?;
    let mut sources = vec![first.source];
    let lined = LinedText::read(&first.path)?;
    let first_part = lined.batches(lined.all(), scale.first_words).swap_remove(0);
    let mut streams =
        vec![Stream { name: CONTROL.into(), lines: first_part.end..lined.all().end, text: lined }];
    for corpus in [Corpus::WikiRecent, Corpus::Sotu] {
        match data.plain_text(corpus, scale.streamed_words) {
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
        "config": config(Config::default().max_vocabulary, 1, 1, scale.replay_words),
        "vectors": "sum",
    });
    let record = record::open(options, "forgetting", &settings, sources)?;
    let mut rows: Rows<Variant> = Rows::open(record.join("forgetting.csv"))?;
    let model = work_folder()?.join("forgetting.model");
    for &seed in scale.seeds {
        for max_vocabulary in scale.max_vocabulary {
            for replays in [1, 0] {
                let variant =
                    |stream: &Stream| Variant { text: stream.name.clone(), max_vocabulary, replays, seed };
                let is_missing = |stream: &&Stream| !rows.contains(&variant(stream));
                let missing: Vec<&Stream> = streams.iter().filter(is_missing).collect();
                if missing.is_empty() {
                    continue;
                }
                let config = config(max_vocabulary, replays, seed, scale.replay_words);
                let mut trainer = Trainer::new(config.clone())?;
                let text = streams[0].text.lines(&(0..first_part.end));
                trainer.train_source(&mut Lines::new(text, "first part", &config.text)?)?;
                trainer.save(&model)?;
                for stream in missing {
                    eprintln!("{}: vocabulary {max_vocabulary}, replays {replays}, seed {seed}", stream.name);
                    let looks = stream.looks(NEW_WORDS, scale.batches_a_look);
                    let scores = stream_in(stream, &looks, &model, scale.replay_words, &eval)?;
                    let variant = variant(stream);
                    rows.push(variant.clone(), scores.into_iter().map(|score| (&variant, score)))?;
                }
            }
        }
    }
    if model.exists() {
        fs::remove_file(&model)?;
    }
    Ok(())
}

fn config(max_vocabulary: usize, replays: u32, seed: u64, replay_words: usize) -> Config {
    let batch_words = NEW_WORDS as usize * (1 + replays as usize);
    let options = MiniBatchOptions { replays, batch_words, replay_words, ..Default::default() };
    Config { max_vocabulary, strategy: Strategy::MiniBatch(options), seed, ..Config::default() }
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

/// Streams a text into a copy of the model, and scores it at each look.
fn stream_in(
    stream: &Stream,
    looks: &[Look],
    model: &Path,
    replay_words: usize,
    eval: &Path,
) -> Result<Vec<LookScore>> {
    let mut trainer = Trainer::load(model, None)?;
    let text_options = trainer.settings().text().clone();
    let (first_words, before) = (trainer.progress().tokens, trainer.progress().evictions);
    let mut known = Known::of(trainer.vocabulary(), N_FREQUENT);
    let mut scores = Vec::new();
    for look in looks {
        let text = stream.text.lines(&look.lines);
        trainer.train_source(&mut Lines::new(text, &stream.name, &text_options)?)?;
        known.look_at(trainer.vocabulary());
        for found in score(N_FREQUENT, &known.embeddings(&trainer)?, eval, &SETS)? {
            let (test_words, lost_words) = known.in_set(&eval.join(found.set.file()))?;
            scores.push(LookScore {
                first_words,
                replay_words,
                streamed_words: look.streamed_words,
                set: found.set,
                measure: found.measure,
                score: found.score,
                used: found.used,
                test_words,
                lost_words,
                evictions: trainer.progress().evictions - before,
            });
        }
    }
    Ok(scores)
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
    fn a_curve_starts_before_the_stream() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
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
        let looks = stream.looks(2, [1, 1]);
        let scores = stream_in(&stream, &looks, &model, 0, folder.path()).unwrap();
        let men: Vec<_> = scores.iter().filter(|score| score.set == Set::Men).collect();
        let column = |of: fn(&LookScore) -> u64| men.iter().map(|score| of(score)).collect::<Vec<_>>();
        assert_eq!(column(|score| score.streamed_words), [0, 2, 4, 8]);
        assert_eq!(column(|score| score.first_words), [8; 4]);
        assert_eq!(column(|score| score.test_words as u64), [3; 4], "z was never known");
        assert_eq!(column(|score| score.lost_words as u64)[..3], [0, 1, 1]);
        assert_eq!(column(|score| score.used as u64)[..3], [2, 1, 1]);
    }
}
