//! How much memory the settings allow.

use serde::Serialize;

use super::replay::Segment;
use crate::config::{AdaGrad, Settings, Strategy, WindowShape};
use crate::parameters::Parameters;
use crate::vocabulary::Vocabulary;

/// Bytes that a trainer takes at the most, whatever the stream brings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryBound {
    /// Rows and AdaGrad's sums.
    pub parameters: u64,
    /// Words and counts.
    pub vocabulary: u64,
    /// Noise tables.
    pub noise: u64,
    /// Old text that waits.
    pub replay: u64,
    /// The batch that is trained and the one that is read.
    pub batches: u64,
    /// The copy of a matrix that loading makes, and of old text that saving makes.
    pub saving: u64,
    /// The program itself, its threads and buffers.
    pub program: u64,
}

impl MemoryBound {
    /// The bound of these settings.
    pub fn new(settings: &Settings) -> MemoryBound {
        let words = settings.max_vocabulary as u64;
        let mini_batch = settings.strategy == Strategy::MiniBatch;
        let row = (settings.dimensions * size_of::<f32>()) as u64;
        let squares = if settings.adagrad() == AdaGrad::Row { 4 } else { row };
        let table = 8 * settings.table_size as u64;
        MemoryBound {
            parameters: Parameters::max_bytes(settings),
            vocabulary: Vocabulary::max_bytes(settings.max_vocabulary, settings.text.max_token_bytes),
            // An alias table has 8 bytes a word, and as much again or twice for building it; a slot of the adaptive
            // table has 8 bytes, and a word 16.
            noise: if mini_batch { 24 * words } else { table + 32 * words },
            replay: if mini_batch { replay_bytes(settings) } else { 0 },
            batches: if mini_batch { batch_bytes(settings) } else { 0 },
            saving: words * row.max(squares).max(64)
                + if mini_batch { replay_bytes(settings) } else { table },
            program: 16 << 20,
        }
    }

    /// All of it.
    pub fn total(&self) -> u64 {
        let MemoryBound { parameters, vocabulary, noise, replay, batches, saving, program } = self;
        parameters + vocabulary + noise + replay + batches + saving + program
    }
}

/// A word has an id; a sentence, at worst of one word, its end.
fn replay_bytes(settings: &Settings) -> u64 {
    let words = settings.replay_words * settings.replays() as usize + Segment::WORDS;
    8 * words as u64
}

fn batch_bytes(settings: &Settings) -> u64 {
    let trainings = 1 + settings.replays() as usize;
    // A batch ends with a sentence, and old text with a segment.
    let new_words = settings.batch_words.div_ceil(trainings) + settings.text.max_sentence_words;
    let words = new_words * trainings + Segment::WORDS + settings.text.max_sentence_words;
    let contexts = match settings.window_shape {
        // On average, of so many words that the average is all that matters.
        WindowShape::Shrinking => settings.window + 1,
        WindowShape::Fixed => 2 * settings.window,
    };
    // Kept words with their reaches, twice; positions; pairs, at worst each a run of its own, in lists that may have
    // grown by half too much.
    let pairs = words * contexts * 12 * 3 / 2;
    // Ids and ends of new text that is not sealed yet; new words with their births, twice.
    let new = new_words * (8 + 2 * 16);
    let counts = settings.max_vocabulary * (2 * 8 + 4);
    let sentence = settings.text.max_sentence_words * (settings.text.max_token_bytes + 8);
    (words * (2 * 8 + 4) + pairs + new + counts + 2 * sentence) as u64
}
