//! The derivation of the update, and the reference for the fast kernels.
//!
//! The loss of a pair (t, c) with negatives v₁ … v_k is
//!
//! ```text
//! L = −log σ(t·c) − Σ log σ(−t·v)
//! ```
//!
//! With the label y = 1 for c and 0 for a negative, and x the logit, ∂L/∂x = σ(x) − y, called the slope; so
//! ∂L/∂c = slope · t and ∂L/∂t = Σ slope · c. Contexts and negatives are updated one after another, the target
//! at the end with the sum of its gradients. AdaGrad (Duchi et al. 2011): G += g², step η g / √G, for each
//! dimension; by row, G grows by the mean of g² over the dimensions.

use super::super::{Optimizer, State};

/// Trains a target with one context (label 1) or one negative (label 0): updates the context's row, adds to the
/// target's gradient, and returns the loss.
pub(crate) fn train_context(
    optimizer: Optimizer,
    positive: bool,
    target: &[f32],
    context: &mut [f32],
    state: State<'_>,
    target_gradient: &mut [f32],
) -> f64 {
    let logit: f32 = target.iter().zip(&*context).map(|(t, c)| t * c).sum();
    let sigmoid = 1.0 / (1.0 + (-logit).exp());
    let slope = sigmoid - if positive { 1.0 } else { 0.0 };
    for (gradient, c) in target_gradient.iter_mut().zip(&*context) {
        *gradient += slope * c;
    }
    let gradient: Vec<f32> = target.iter().map(|t| slope * t).collect();
    descend(optimizer, &gradient, context, state);
    let signed = f64::from(if positive { -logit } else { logit });
    signed.max(0.0) + (-signed.abs()).exp().ln_1p()
}

/// row −= rate · gradient, with the rate of the optimizer.
pub(crate) fn descend(optimizer: Optimizer, gradient: &[f32], row: &mut [f32], state: State<'_>) {
    let rate = optimizer.learning_rate;
    match state {
        State::Dimension(sums) => {
            for ((g, value), sum) in gradient.iter().zip(row).zip(sums.as_flattened_mut()) {
                *sum += g * g;
                if *sum > 0.0 {
                    *value -= rate * g / sum.sqrt();
                }
            }
        }
        State::Row(sum) => {
            *sum += gradient.iter().map(|g| g * g).sum::<f32>() / gradient.len() as f32;
            if *sum > 0.0 {
                for (g, value) in gradient.iter().zip(row) {
                    *value -= rate * g / sum.sqrt();
                }
            }
        }
        State::None => {
            for (g, value) in gradient.iter().zip(row) {
                *value -= rate * g;
            }
        }
    }
}
