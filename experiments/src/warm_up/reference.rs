//! Skip-gram with negative sampling in plain loops, pair by pair with AdaGrad, in which each difference between batch and
//! incremental training can be switched on alone. skipstream has no such switches.
//!
//! All words have a row from the start, and none is evicted. Otherwise, `batch` and `incremental` are those of skipstream
//! with its default settings.

use std::collections::HashMap;

use anyhow::Result;
use skipstream::Embeddings;
use skipstream::unstable::{Random, weight};

const DIMENSIONS: usize = 100;
const WINDOW: usize = 5;
const NEGATIVES: usize = 5;
const NOISE_EXPONENT: f64 = 0.75;
const SUBSAMPLE: f64 = 1e-4;
const LEARNING_RATE: f32 = 0.1;

/// What a method does as incremental training does; everything else is as in batch training.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    Batch,
    /// Noise words are drawn by the counts so far.
    Noise,
    /// Frequent words are dropped by the counts so far.
    Subsampling,
    /// AdaGrad's sums at the beginning are those that incremental training has after the start of the text.
    Sums,
    /// Noise and subsampling.
    Incremental,
    /// The same, but AdaGrad's sums begin again after the start of the text.
    IncrementalNewSums,
    /// Noise and subsampling, but the start of the text is counted before it is trained.
    WarmUp,
}

/// A text as numbers of words.
pub struct Corpus<'a> {
    words: Vec<&'a str>,
    counts: Vec<u64>,
    sentences: Vec<Vec<usize>>,
    n_tokens: u64,
}

type Row = [f32; DIMENSIONS];

struct Model {
    targets: Side,
    contexts: Side,
}

/// Rows, and AdaGrad's sums.
struct Side {
    rows: Vec<Row>,
    sums: Vec<Row>,
}

/// What is known of the text: all of it, or what was read.
struct Known {
    counts: Vec<u64>,
    n_tokens: u64,
}

impl Cause {
    pub const ALL: [Cause; 7] = [
        Cause::Batch,
        Cause::Noise,
        Cause::Subsampling,
        Cause::Sums,
        Cause::Incremental,
        Cause::IncrementalNewSums,
        Cause::WarmUp,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Cause::Batch => "batch",
            Cause::Noise => "early noise alone",
            Cause::Subsampling => "early subsampling alone",
            Cause::Sums => "AdaGrad's first steps alone",
            Cause::Incremental => "incremental",
            Cause::IncrementalNewSums => "incremental without AdaGrad's first steps",
            Cause::WarmUp => "incremental with a warm-up",
        }
    }

    fn has_early_noise(self) -> bool {
        !matches!(self, Cause::Batch | Cause::Subsampling | Cause::Sums)
    }

    fn has_early_subsampling(self) -> bool {
        !matches!(self, Cause::Batch | Cause::Noise | Cause::Sums)
    }
}

impl<'a> Corpus<'a> {
    pub fn new(text: &'a str) -> Corpus<'a> {
        let mut corpus = Corpus { words: Vec::new(), counts: Vec::new(), sentences: Vec::new(), n_tokens: 0 };
        let mut numbers = HashMap::new();
        for line in text.lines() {
            let sentence = line.split_whitespace().map(|word| {
                let number = *numbers.entry(word).or_insert_with(|| {
                    corpus.words.push(word);
                    corpus.counts.push(0);
                    corpus.words.len() - 1
                });
                corpus.counts[number] += 1;
                corpus.n_tokens += 1;
                number
            });
            corpus.sentences.push(sentence.collect());
        }
        corpus
    }

    /// Learns the text once. Its start has `start_words` words.
    pub fn learn(&self, cause: Cause, start_words: usize, seed: u64) -> Result<Embeddings> {
        let (n_words, mut random) = (self.words.len(), Random::new(seed));
        let mut model = Model::new(n_words, &mut random);
        let start = self.start(start_words);
        match cause {
            Cause::Sums => {
                let mut other = Model::new(n_words, &mut random);
                self.pass(&mut other, Cause::Incremental, &self.sentences[..start], &[], &mut random);
                model.targets.sums = other.targets.sums;
                model.contexts.sums = other.contexts.sums;
                self.pass(&mut model, cause, &self.sentences, &[], &mut random);
            }
            Cause::IncrementalNewSums => {
                let (first, rest) = self.sentences.split_at(start);
                self.pass(&mut model, cause, first, &[], &mut random);
                model.targets.sums.fill([0.0; DIMENSIONS]);
                model.contexts.sums.fill([0.0; DIMENSIONS]);
                self.pass(&mut model, cause, rest, first, &mut random);
            }
            Cause::WarmUp => {
                let (first, rest) = self.sentences.split_at(start);
                self.pass_counted(&mut model, first, &mut random);
                self.pass(&mut model, cause, rest, first, &mut random);
            }
            _ => self.pass(&mut model, cause, &self.sentences, &[], &mut random),
        }
        let rows = model.targets.rows.iter().zip(&model.contexts.rows);
        let vectors = rows.flat_map(|(target, context)| target.iter().zip(context).map(|(t, c)| t + c));
        let words = self.words.iter().zip(&self.counts).map(|(word, &count)| (*word, count));
        Ok(Embeddings::new(DIMENSIONS, words, vectors.collect())?)
    }

    /// The number of sentences at the start.
    fn start(&self, words: usize) -> usize {
        let mut n_words = 0;
        self.sentences
            .iter()
            .take_while(|sentence| {
                let is_start = n_words < words;
                n_words += sentence.len();
                is_start
            })
            .count()
    }

    /// Trains sentences that follow those that were `read`.
    fn pass(
        &self,
        model: &mut Model,
        cause: Cause,
        sentences: &[Vec<usize>],
        read: &[Vec<usize>],
        random: &mut Random,
    ) {
        let (all, mut so_far) = (self.all(), self.known(read));
        let mut noise = Noise::new(if cause.has_early_noise() { &so_far.counts } else { &all.counts });
        for sentence in sentences {
            let kept: Vec<bool> = sentence
                .iter()
                .map(|&word| {
                    so_far.counts[word] += 1;
                    so_far.n_tokens += 1;
                    let known = if cause.has_early_subsampling() { &so_far } else { &all };
                    known.keeps(word, random)
                })
                .collect();
            let words: Vec<usize> =
                sentence.iter().zip(&kept).filter(|(_, kept)| **kept).map(|(&word, _)| word).collect();
            let mut position = 0;
            for (&word, &kept) in sentence.iter().zip(&kept) {
                if cause.has_early_noise() {
                    noise.add(word);
                }
                if kept {
                    model.train(&words, position, &noise, random);
                    position += 1;
                }
            }
        }
    }

    /// Trains sentences after all of them are counted.
    fn pass_counted(&self, model: &mut Model, sentences: &[Vec<usize>], random: &mut Random) {
        let known = self.known(sentences);
        let noise = Noise::new(&known.counts);
        for sentence in sentences {
            let words: Vec<usize> =
                sentence.iter().copied().filter(|&word| known.keeps(word, random)).collect();
            for position in 0..words.len() {
                model.train(&words, position, &noise, random);
            }
        }
    }

    fn all(&self) -> Known {
        Known { counts: self.counts.clone(), n_tokens: self.n_tokens }
    }

    fn known(&self, read: &[Vec<usize>]) -> Known {
        let mut known = Known { counts: vec![0; self.words.len()], n_tokens: 0 };
        for &word in read.iter().flatten() {
            known.counts[word] += 1;
            known.n_tokens += 1;
        }
        known
    }
}

impl Known {
    fn keeps(&self, word: usize, random: &mut Random) -> bool {
        let ratio = SUBSAMPLE * self.n_tokens as f64 / self.counts[word] as f64;
        ratio >= 1.0 || random.uniform() < ratio.sqrt()
    }
}

impl Model {
    fn new(n_words: usize, random: &mut Random) -> Model {
        let zeros = vec![[0.0; DIMENSIONS]; n_words];
        let mut targets = Side { rows: zeros.clone(), sums: zeros.clone() };
        for value in targets.rows.iter_mut().flatten() {
            *value = ((random.uniform() - 0.5) / DIMENSIONS as f64) as f32;
        }
        Model { targets, contexts: Side { rows: zeros.clone(), sums: zeros } }
    }

    /// Trains the pairs of the word at a position.
    fn train(&mut self, words: &[usize], position: usize, noise: &Noise, random: &mut Random) {
        let reach = 1 + random.below(WINDOW);
        let window = position.saturating_sub(reach)..words.len().min(position + reach + 1);
        for context in window.filter(|&context| context != position).map(|context| words[context]) {
            let mut gradient = [0.0; DIMENSIONS];
            let target = &self.targets.rows[words[position]];
            self.contexts.train(target, context, 1.0, &mut gradient);
            for _ in 0..NEGATIVES {
                // There may be no other word yet.
                if let Some(word) = (0..64).map(|_| noise.draw(random)).find(|&word| word != context) {
                    self.contexts.train(target, word, 0.0, &mut gradient);
                }
            }
            self.targets.descend(words[position], &gradient);
        }
    }
}

impl Side {
    /// Trains a context row, and adds to the gradient of the target.
    fn train(&mut self, target: &Row, word: usize, label: f32, gradient: &mut Row) {
        let row = &self.rows[word];
        let slope = 1.0 / (1.0 + (-dot(target, row)).exp()) - label;
        gradient.iter_mut().zip(row).for_each(|(gradient, value)| *gradient += slope * value);
        self.descend(word, &target.map(|value| slope * value));
    }

    fn descend(&mut self, word: usize, gradient: &Row) {
        for ((value, sum), g) in self.rows[word].iter_mut().zip(&mut self.sums[word]).zip(gradient) {
            *sum += g * g;
            *value -= LEARNING_RATE * g / sum.sqrt().max(f32::MIN_POSITIVE);
        }
    }
}

/// In lanes, so that the compiler can use vector instructions.
fn dot(one: &Row, other: &Row) -> f32 {
    const LANES: usize = 20;
    let mut sums = [0.0; LANES];
    for (one, other) in one.chunks_exact(LANES).zip(other.chunks_exact(LANES)) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    sums.iter().sum()
}

/// Draws words in proportion to their count ^ exponent, exactly: a Fenwick tree, whose node i has the weight of the words
/// from i − (i & −i) to i − 1.
struct Noise {
    counts: Vec<u64>,
    nodes: Vec<f64>,
    total: f64,
}

impl Noise {
    fn new(counts: &[u64]) -> Noise {
        let mut noise = Noise { counts: counts.to_vec(), nodes: vec![0.0; counts.len() + 1], total: 0.0 };
        for (word, &count) in counts.iter().enumerate() {
            noise.add_weight(word, weight(count, NOISE_EXPONENT));
        }
        noise
    }

    fn add(&mut self, word: usize) {
        let before = weight(self.counts[word], NOISE_EXPONENT);
        self.counts[word] += 1;
        self.add_weight(word, weight(self.counts[word], NOISE_EXPONENT) - before);
    }

    fn add_weight(&mut self, word: usize, weight: f64) {
        self.total += weight;
        let mut node = word + 1;
        while node < self.nodes.len() {
            self.nodes[node] += weight;
            node += node & node.wrapping_neg();
        }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let (mut node, mut rest) = (0, random.uniform() * self.total);
        let mut step = self.counts.len().next_power_of_two();
        while step > 0 {
            let next = node + step;
            if next < self.nodes.len() && self.nodes[next] <= rest {
                node = next;
                rest -= self.nodes[next];
            }
            step /= 2;
        }
        // Rounding may leave a little after the last word.
        node.min(self.counts.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_words_are_drawn_in_proportion_to_their_weight() {
        let mut noise = Noise::new(&[0, 4, 1, 0, 15]);
        noise.add(4);
        noise.add(0);
        let mut random = Random::new(1);
        let mut drawn = [0u32; 5];
        (0..100_000).for_each(|_| drawn[noise.draw(&mut random)] += 1);
        let weights = [1u64, 4, 1, 0, 16].map(|count| (count as f64).powf(0.75));
        let total: f64 = weights.iter().sum();
        for (drawn, weight) in drawn.iter().zip(weights) {
            let expected = 1e5 * weight / total;
            // Five standard deviations.
            assert!((f64::from(*drawn) - expected).abs() <= 5.0 * expected.sqrt(), "{drawn}, not {expected}");
        }
    }

    /// Ten topics; a sentence has words of one of them.
    fn text() -> String {
        let mut random = Random::new(3);
        let sentence = |_| {
            let topic = random.below(10);
            let words: Vec<String> = (0..12).map(|_| format!("t{topic}w{}", random.below(20))).collect();
            words.join(" ") + "\n"
        };
        (0..3_000).map(sentence).collect()
    }

    fn matrix(corpus: &Corpus<'_>, cause: Cause, start_words: usize) -> Vec<f32> {
        corpus.learn(cause, start_words, 1).unwrap().matrix().into_owned()
    }

    #[test]
    fn a_warm_up_with_the_whole_text_is_batch_training() {
        let text = text();
        let corpus = Corpus::new(&text);
        let batch = matrix(&corpus, Cause::Batch, 0);
        assert!(matrix(&corpus, Cause::WarmUp, usize::MAX) == batch);
        let incremental = matrix(&corpus, Cause::Incremental, 0);
        assert!(matrix(&corpus, Cause::WarmUp, 0) == incremental);
        assert!(matrix(&corpus, Cause::IncrementalNewSums, 0) == incremental);
        assert!(incremental != batch);
    }

    #[test]
    fn every_variant_finds_the_topics_and_they_differ() {
        let text = text();
        let corpus = Corpus::new(&text);
        let models = Cause::ALL.map(|cause| corpus.learn(cause, 1_000, 1).unwrap());
        for (cause, model) in Cause::ALL.iter().zip(&models) {
            let nearest = model.words().filter(|word| {
                let found = model.neighbors(word, 1).unwrap();
                found[0].word[..3] == word[..3]
            });
            // By chance it would be a tenth.
            let n_right = nearest.count();
            assert!(n_right > 190, "{cause:?}: {n_right} of 200");
        }
        for (number, model) in models.iter().enumerate() {
            assert!(models[..number].iter().all(|other| other.matrix() != model.matrix()));
        }
    }
}
