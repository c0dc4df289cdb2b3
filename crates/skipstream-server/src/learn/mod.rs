//! Numbered lines → a model, with checkpoints that say how far it came.
