//! The update of one pair with its own noise words, for the strategies that train pair by pair.

use crate::config::Settings;
use crate::kernel::{Kernel, Optimizer};
use crate::parameters::{Accumulators, LANES, Lanes, Parameters, RowMut};
use crate::vocabulary::WordId;

#[derive(Clone, Debug)]
pub(super) struct PairStep {
    kernel: Kernel,
    pub optimizer: Optimizer,
    negatives: usize,
    drawn: Vec<WordId>,
    gradient: Vec<Lanes>,
}

impl PairStep {
    pub fn new(settings: &Settings, kernel: Kernel) -> PairStep {
        PairStep {
            kernel,
            optimizer: Optimizer {
                learning_rate: settings.learning_rate(),
                dimensions: settings.dimensions(),
            },
            negatives: settings.negatives(),
            drawn: Vec::new(),
            gradient: vec![[0.0; LANES]; settings.dimensions().div_ceil(LANES)],
        }
    }

    /// Draws k noise words, and updates t of the target, c of the context and c of the noise words. Returns the loss.
    pub fn train(
        &mut self,
        parameters: &mut Parameters,
        target: WordId,
        context: WordId,
        mut draw: impl FnMut() -> Option<WordId>,
    ) -> f64 {
        let layout = parameters.layout();
        let Parameters { target: targets, context: contexts, .. } = parameters;
        let target = layout.row_in_matrix(target);
        self.drawn.clear();
        for _ in 0..self.negatives {
            if let Some(negative) = draw_other(context, &mut draw) {
                let row = layout.row_in_matrix(negative);
                self.kernel.prefetch_row(contexts.rows.row(row));
                if let Accumulators::Dimension(sums) = &contexts.accumulators {
                    self.kernel.prefetch_row(sums.row(row));
                }
                self.drawn.push(negative);
            }
        }
        let mut loss = 0.0;
        self.gradient.fill([0.0; LANES]);
        let mut train = |word: WordId, positive| {
            let row = layout.row_in_matrix(word);
            let RowMut { values, state } = contexts.row_mut(row);
            loss += self.kernel.train_context(
                self.optimizer,
                positive,
                targets.rows.row(target),
                values,
                state,
                &mut self.gradient,
            );
        };
        train(context, true);
        for &negative in &self.drawn {
            train(negative, false);
        }
        let RowMut { values, state } = targets.row_mut(target);
        self.kernel.descend(self.optimizer, 1.0, &self.gradient, values, state);
        loss
    }
}

/// Draws a word other than the context. `None` if there seems to be no other word.
fn draw_other(context: WordId, draw: &mut impl FnMut() -> Option<WordId>) -> Option<WordId> {
    (0..64).find_map(|_| draw().filter(|&negative| negative != context))
}
