//! Ids → kept ids → pairs of a target and a context.
//!
//! Invariant: windows never leave their sentence, and are formed after frequent words were dropped ("dirty"
//! subsampling, appendix E of the paper).

use crate::config::{Settings, WindowShape};
use crate::random::Random;
use crate::vocabulary::WordId;

/// The window of a target: how many words on each side of it are its contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reach {
    /// Words before the target.
    pub left: u16,
    /// Words after it.
    pub right: u16,
}

impl Reach {
    /// The contexts of the target at `position`, in the order of the text: each makes a pair with it.
    #[inline(always)]
    pub fn contexts(self, words: &[WordId], position: usize) -> impl Iterator<Item = WordId> {
        let before = &words[position - usize::from(self.left)..position];
        let after = &words[position + 1..][..usize::from(self.right)];
        before.iter().chain(after).copied()
    }
}

/// Drops frequent words and draws windows, with the counts of the moment.
#[derive(Clone, Debug)]
pub struct PairSampler {
    subsample: f64,
    window: usize,
    shape: WindowShape,
}

impl PairSampler {
    /// The sampler of these settings.
    pub fn new(settings: &Settings) -> PairSampler {
        PairSampler {
            subsample: settings.subsample(),
            window: settings.window(),
            shape: settings.window_shape(),
        }
    }

    /// Whether one occurrence of a word stays: with probability min(1, √r + r), where r is `subsample` divided by the word's
    /// share of the text, frequency / total. This is what word2vec's program does; its paper has √r.
    #[inline]
    pub fn keeps(&self, frequency: u64, total: u64, random: &mut Random) -> bool {
        if self.subsample == 0.0 {
            return true;
        }
        let ratio = self.subsample * total as f64 / frequency as f64;
        // Most words are rare, and need no root.
        ratio >= 1.0 || ratio.sqrt() + ratio >= 1.0 || random.uniform() < ratio.sqrt() + ratio
    }

    /// The reach of the word at `position` in a sentence of `length` kept words.
    #[inline]
    pub fn reach(&self, position: usize, length: usize, random: &mut Random) -> Reach {
        let reach = match self.shape {
            WindowShape::Shrinking => 1 + random.below(self.window),
            WindowShape::Fixed => self.window,
        };
        Reach { left: position.min(reach) as u16, right: (length - 1 - position).min(reach) as u16 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    fn sampler(config: Config) -> PairSampler {
        PairSampler::new(&config.check().unwrap())
    }

    #[test]
    fn words_are_kept_with_the_probability_of_word2vecs_program() {
        let sampler = sampler(Config { subsample: 1e-3, ..Config::default() });
        let mut random = Random::new(1);
        // 1 % of the text: √(10⁻³ / 10⁻²) + 10⁻³ / 10⁻² = 0.416.
        let kept = (0..100_000).filter(|_| sampler.keeps(1_000, 100_000, &mut random)).count();
        assert!((kept as f64 / 1e5 - 0.1f64.sqrt() - 0.1).abs() < 0.008, "{kept}");
        // 0.26 % of the text: 0.62 + 0.38 = 1.
        assert!((0..1000).all(|_| sampler.keeps(260, 100_000, &mut random)), "rare words stay");
    }

    #[test]
    fn windows_stay_in_the_sentence_and_reach_the_last_word() {
        let fixed = sampler(Config { window: 2, window_shape: WindowShape::Fixed, ..Config::default() });
        let mut random = Random::new(1);
        let reaches: Vec<_> = (0..4).map(|i| fixed.reach(i, 4, &mut random)).collect();
        let expected = [(0, 2), (1, 2), (2, 1), (2, 0)];
        assert_eq!(reaches, expected.map(|(left, right)| Reach { left, right }));
        let words = [5, 6, 7, 8].map(WordId::from_saved);
        let contexts: Vec<_> = (0..4).map(|i| reaches[i].contexts(&words, i).collect::<Vec<_>>()).collect();
        let expected: [&[u32]; 4] = [&[6, 7], &[5, 7, 8], &[5, 6, 8], &[6, 7]];
        assert_eq!(
            contexts,
            expected.map(|ids| ids.iter().map(|&id| WordId::from_saved(id)).collect::<Vec<_>>())
        );
    }

    #[test]
    fn shrinking_windows_are_uniform_from_one_to_window() {
        let sampler = sampler(Config::default());
        let mut random = Random::new(4);
        let mut seen = [0u32; 6];
        for _ in 0..50_000 {
            let reach = sampler.reach(10, 21, &mut random);
            assert_eq!(reach.left, reach.right);
            seen[usize::from(reach.left)] += 1;
        }
        assert_eq!(seen[0], 0);
        assert!(seen[1..].iter().all(|n| (9_500..10_500).contains(n)), "{seen:?}");
    }
}
