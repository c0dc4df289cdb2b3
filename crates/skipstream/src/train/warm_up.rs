//! The start of a stream, counted before it is trained.
//!
//! Algorithm 1 trains its first words with noise words from the few that it has seen, and drops words that are not frequent
//! in the end. A warm-up is one batch of Algorithm 2, trained pair by pair: counts, noise and subsampling take in all
//! of it first.

use super::Observer;
use super::mini_batch::{Batch, Intake};
use super::read_ahead::Text;
use super::reports::Reports;
use super::sentences::Sentences;
use super::trainer::Stream;
use crate::config::Settings;

impl Sentences {
    /// Learns the next batch of the warm-up: all of it, unless sentences have weights. Returns whether the observer asks for a
    /// pause, or `None` if there is no text.
    ///
    /// A pause comes after the warm-up, because only whole batches leave a state that can be saved. If the text ends first,
    /// what was read is learned, and more text continues the warm-up with another batch.
    pub(super) fn warm_up(
        &mut self,
        settings: &Settings,
        stream: &mut Stream,
        text: &mut Text<'_>,
        report: &mut Reports,
        observer: &mut dyn Observer,
    ) -> Option<bool> {
        let Stream { vocabulary, parameters, initial, .. } = &mut *stream;
        let initial = initial.as_ref();
        let first = vocabulary.tokens();
        let intake = Intake::new(settings, first).expect("only phrases can fail, and there are none");
        let (mut intake, mut batch) = (intake, Batch::default());
        // The number of a batch decides on its random numbers. The token that it begins with is as good.
        intake.batches = first;
        if !intake.take_in(text, vocabulary, initial, &mut batch) {
            return None;
        }
        for fresh in &batch.fresh {
            fresh.reset(parameters.rows_mut(fresh.id), settings.dimensions(), settings.seed(), initial);
        }
        self.noise.recount(&batch.frequencies, &mut self.random);
        let Sentences { noise, random, step, .. } = self;
        let mut pause = false;
        for (position, (&word, reach)) in batch.words.iter().zip(&batch.reaches).enumerate() {
            for context in reach.contexts(&batch.words, position) {
                let loss = step.train(&mut stream.parameters, word, context, || noise.draw(random));
                stream.totals.pairs += 1;
                stream.totals.loss += loss;
            }
            pause |= report.is_paused(1, stream, observer);
        }
        Some(pause)
    }
}
