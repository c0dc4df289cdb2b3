//! Walker's alias table, built by Vose's method: any distribution, one random number per draw.

use crate::random::Random;

/// A sampler of fixed weights.
#[derive(Clone, Debug, Default)]
pub struct AliasTable {
    columns: Vec<Column>,
    scaled: Vec<f64>,
    small: Vec<u32>,
    large: Vec<u32>,
}

/// A column gives its own index with probability `own` / 2³², and `alias` otherwise.
#[derive(Clone, Copy, Debug)]
struct Column {
    own: u32,
    alias: u32,
}

impl AliasTable {
    /// Rebuilds the table for these weights, in O(n). Indices of weight 0 are never drawn.
    pub fn rebuild(&mut self, weights: impl Iterator<Item = f64>) {
        self.scaled.clear();
        self.scaled.extend(weights);
        self.columns.clear();
        self.small.clear();
        self.large.clear();
        let total: f64 = self.scaled.iter().sum();
        if total <= 0.0 {
            return;
        }
        let scale = self.scaled.len() as f64 / total;
        for (index, weight) in (0u32..).zip(&mut self.scaled) {
            *weight *= scale;
            if *weight < 1.0 {
                self.small.push(index);
            } else {
                self.large.push(index);
            }
            self.columns.push(Column { own: u32::MAX, alias: index });
        }
        // What rounding leaves over at the end counts as 1, but an index of weight 0 must not be drawn.
        let fallback = self.large.first().copied().unwrap_or(0);
        while let Some(small) = self.small.pop() {
            let own = self.scaled[small as usize];
            let Some(&large) = self.large.last() else {
                if own == 0.0 {
                    self.columns[small as usize] = Column { own: 0, alias: fallback };
                }
                continue;
            };
            self.columns[small as usize] = Column { own: (own * 2f64.powi(32)) as u32, alias: large };
            let left = &mut self.scaled[large as usize];
            *left -= 1.0 - own;
            if *left < 1.0 {
                self.large.pop();
                self.small.push(large);
            }
        }
    }

    /// Draws an index with probability ∝ its weight. `None` if all weights are 0.
    #[inline]
    pub fn draw(&self, random: &mut Random) -> Option<u32> {
        let bits = random.bits();
        let index = ((bits >> 32) * self.columns.len() as u64) >> 32;
        let column = self.columns.get(index as usize)?;
        Some(if (bits as u32) < column.own || column.own == u32::MAX { index as u32 } else { column.alias })
    }
}
