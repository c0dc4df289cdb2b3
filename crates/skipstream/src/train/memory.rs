//! The memory bound, computed from the settings.

use serde::Serialize;

use super::passages;
use super::replay::Segment;
use crate::config::{
    AdaGrad, Config, IncrementalOptions, MiniBatchOptions, Setting, Settings, Strategy, WindowShape,
};
use crate::corpus::Sentence;
use crate::error::{Error, Result};
use crate::parameters::Parameters;
use crate::phrases::Phrases;
use crate::vocabulary::Vocabulary;

/// Maximum memory of a trainer in bytes, for any stream.
///
/// Reading the text is not included, except for plain text. Decoding a compressed file takes the memory that its
/// compressor chose (65 MiB for `xz -9`), and up to two records of JSON, CSV or Parquet, of at most 64 MiB each, are held
/// in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryBound {
    /// Rows and AdaGrad's sums.
    pub parameters: u64,
    /// Words and counts.
    pub vocabulary: u64,
    /// Parts and pairs of words that may be phrases.
    pub phrases: u64,
    /// Noise tables.
    pub noise: u64,
    /// Text that waits for its replay.
    pub replay: u64,
    /// The batch that is trained and the one that is read, or the text of the warm-up.
    pub batches: u64,
    /// Copies that loading and saving make.
    pub saving: u64,
    /// Initial vectors. They do not follow from the settings.
    pub initial: u64,
    /// The program itself, its threads and buffers.
    pub program: u64,
}

impl MemoryBound {
    /// The maximum for these settings.
    pub fn new(settings: &Settings) -> MemoryBound {
        let words = settings.max_vocabulary() as u64;
        let row = (settings.dimensions() * size_of::<f32>()) as u64;
        let squares = match settings.strategy().adagrad() {
            Some(AdaGrad::Row) => 4,
            Some(AdaGrad::Dimension) => row,
            None => 0,
        };
        // An alias table has 8 bytes per word, and up to twice as many for building it; a slot of the adaptive
        // table has 8 bytes, and a word 16.
        let (noise, replay, batches, saved) = match settings.strategy() {
            Strategy::MiniBatch(options) => {
                let replay = replay_bytes(options);
                (24 * words, replay, batch_bytes(settings, options), replay)
            }
            Strategy::Incremental(options) => {
                let table = 8 * options.table_size as u64;
                (table + 32 * words, 0, warm_up_bytes(settings, options), table)
            }
            Strategy::Batch(_) | Strategy::Word2vec(_) => (24 * words, 0, 0, 0),
        };
        MemoryBound {
            parameters: Parameters::max_bytes(settings),
            vocabulary: Vocabulary::max_bytes(
                settings.max_vocabulary(),
                settings.half_life(),
                settings.text().max_token_bytes,
            ),
            phrases: Phrases::max_bytes(settings),
            noise,
            replay,
            batches,
            saving: words * row.max(squares).max(64) + saved + Phrases::max_saved_bytes(settings),
            initial: 0,
            program: 16 << 20,
        }
    }

    /// The sum.
    pub fn total(&self) -> u64 {
        let MemoryBound { parameters, vocabulary, phrases, noise, replay, batches, saving, initial, program } =
            self;
        parameters + vocabulary + phrases + noise + replay + batches + saving + initial + program
    }
}

/// Slots of the noise table per word of the vocabulary, if both follow from the memory: as many as by default.
const SLOTS_PER_WORD: usize = 10;

impl Config {
    /// Sets `max_vocabulary` to the largest value with which a trainer never takes more than `bytes` of memory. For the
    /// strategies with a noise table, `table_size` becomes ten slots per word. The former values do not matter.
    ///
    /// ```
    /// use skipstream::Config;
    /// use skipstream::train::MemoryBound;
    ///
    /// let config = Config::default().within_memory(2_000_000_000)?;
    /// let bound = MemoryBound::new(&config.clone().check()?);
    /// assert!(bound.total() <= 2_000_000_000);
    /// assert!(config.max_vocabulary > 900_000);
    /// # Ok::<(), skipstream::Error>(())
    /// ```
    pub fn within_memory(self, bytes: u64) -> Result<Config> {
        let bound = |words| Ok::<_, Error>(MemoryBound::new(&self.sized(words).check()?));
        let limits = Setting::limits("max_vocabulary");
        let (mut fits, mut too_many) = (*limits.start(), *limits.end() + 1);
        let least = bound(fits)?;
        if least.total() > bytes {
            let MemoryBound { replay, batches, saving, .. } = least;
            let names = match self.strategy {
                Strategy::MiniBatch(_) => "batch_words, window and replay_words",
                Strategy::Incremental(_) => "warm_up_words",
                Strategy::Batch(_) | Strategy::Word2vec(_) => "dimensions",
            };
            return Err(Error::Setting {
                field: "memory",
                value: format!("{bytes} bytes"),
                limit: format!(
                    "at least {} bytes with these settings ({} of them for text and saving, which depend on {names})",
                    least.total(),
                    replay + batches + saving
                ),
            });
        }
        // The bound grows with the words.
        while too_many - fits > 1 {
            let middle = fits.midpoint(too_many);
            if bound(middle)?.total() <= bytes { fits = middle } else { too_many = middle }
        }
        Ok(self.sized(fits))
    }

    fn sized(&self, max_vocabulary: usize) -> Config {
        let mut config = Config { max_vocabulary, ..self.clone() };
        if let Strategy::Incremental(options) = &mut config.strategy {
            let limits = Setting::limits("table_size");
            options.table_size = (SLOTS_PER_WORD * max_vocabulary).clamp(*limits.start(), *limits.end());
        }
        config
    }
}

/// A word has an id; a sentence, at worst of one word, its end.
fn replay_bytes(options: MiniBatchOptions) -> u64 {
    let words = options.replay_words * options.replays as usize + Segment::WORDS;
    8 * words as u64
}

/// Ids and ends of the text, kept words with their reaches, new words with their births, in lists that may have grown to
/// twice their length; and the counts.
fn warm_up_bytes(settings: &Settings, options: IncrementalOptions) -> u64 {
    if options.warm_up_words == 0 {
        return 0;
    }
    let words = options.warm_up_words + settings.text().max_sentence_words * Sentence::MAX_WEIGHT as usize;
    let counts = 8 * settings.max_vocabulary();
    (words * (8 + 8 + 24) * 2 + counts + passages::max_bytes(options.warm_up_words)) as u64
}

pub(super) fn batch_bytes(settings: &Settings, options: MiniBatchOptions) -> u64 {
    let trainings = 1 + options.replays as usize;
    // A batch ends with a sentence, which may have a weight, and old text with a segment.
    let last = settings.text().max_sentence_words * Sentence::MAX_WEIGHT as usize;
    let new_words = options.batch_words.div_ceil(trainings) + last;
    let words = new_words * trainings + Segment::WORDS + last;
    let contexts = match settings.window_shape() {
        // The average: there are enough words that it is all that matters.
        WindowShape::Shrinking => settings.window() + 1,
        WindowShape::Fixed => 2 * settings.window(),
    };
    // Kept words with their reaches, twice; positions; pairs, at worst each a run of its own, in lists that may have
    // grown by half too much.
    let pairs = words * contexts * 12 * 3 / 2;
    // Ids and ends of new text that is not sealed yet; new words with their births, twice.
    let new = new_words * (8 + 2 * 16);
    let counts = settings.max_vocabulary() * (2 * 8 + 4);
    let sentence = settings.text().max_sentence_words * (settings.text().max_token_bytes + 8);
    let passages = passages::max_bytes(settings.new_words_per_batch(0));
    (words * (2 * 8 + 4) + pairs + new + counts + 2 * sentence + passages) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn total(config: &Config) -> u64 {
        MemoryBound::new(&config.clone().check().unwrap()).total()
    }

    #[test]
    fn memory_is_used_as_far_as_it_goes() {
        for strategy in [Strategy::mini_batch(), Strategy::incremental()] {
            for bytes in [300_000_000, 2_000_000_000] {
                let config = Config { strategy, ..Config::default() }.within_memory(bytes).unwrap();
                assert!(total(&config) <= bytes);
                assert!(total(&config.sized(config.max_vocabulary + 1)) > bytes);
            }
        }
    }

    #[test]
    fn a_noise_table_has_ten_slots_a_word() {
        let config = Config { strategy: Strategy::incremental(), ..Config::default() };
        let config = config.within_memory(1_000_000_000).unwrap();
        let Strategy::Incremental(options) = config.strategy else { panic!("{:?}", config.strategy) };
        assert_eq!(options.table_size, 10 * config.max_vocabulary);
    }

    #[test]
    fn there_is_no_more_than_the_largest_vocabulary() {
        let config = Config { dimensions: 1, ..Config::default() };
        assert_eq!(config.within_memory(u64::MAX).unwrap().max_vocabulary, 100_000_000);
    }

    #[test]
    fn the_least_memory_is_named_and_will_do() {
        let message = Config::default().within_memory(1_000_000).unwrap_err().to_string();
        assert!(message.starts_with("memory is 1000000 bytes; it must be at least "), "{message}");
        let least = message.split(' ').nth(9).unwrap().parse().unwrap();
        assert_eq!(Config::default().within_memory(least).unwrap().max_vocabulary, 2);
        assert!(Config::default().within_memory(least - 1).is_err());
    }

    #[test]
    fn a_setting_outside_its_limits_is_named() {
        let message = Config { window: 0, ..Config::default() }.within_memory(1 << 30).unwrap_err();
        assert!(message.to_string().starts_with("window is 0"), "{message}");
    }
}
