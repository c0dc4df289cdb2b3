//! Training in a few words, for tests.

use crate::Trainer;
use crate::corpus::Lines;

/// Learns lines of text.
pub(crate) fn learn(trainer: &mut Trainer, text: &str) {
    let options = trainer.settings().text().clone();
    trainer.train_source(&mut Lines::new(text.as_bytes(), "text", &options).unwrap()).unwrap();
}

/// The bytes of the model file.
pub(crate) fn bytes(trainer: &Trainer) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    trainer.save(&path).unwrap();
    std::fs::read(path).unwrap()
}
