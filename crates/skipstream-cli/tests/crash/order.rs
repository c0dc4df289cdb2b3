//! In which order lines were learned.

use std::path::Path;

use skipstream::Trainer;

/// The markers of all lines in the model on disk, in the order in which they were learned. None was learned twice.
pub fn learned_lines(data: &Path) -> Vec<String> {
    let trainer = Trainer::load(data.join("model.safetensors"), None).unwrap();
    let vocabulary = trainer.vocabulary();
    assert_eq!(vocabulary.totals().evictions, 0, "all markers are there");
    let mut markers: Vec<(u64, &str)> = Vec::new();
    for id in vocabulary.ids() {
        let word = vocabulary.word(id);
        if word.starts_with('c')
            && word.contains('r')
            && word.contains('l')
            && word.ends_with(|c: char| c.is_ascii_digit())
        {
            assert_eq!(vocabulary.count(id), 1, "`{word}` was learned more than once");
            markers.push((vocabulary.first_token(id), word));
        }
    }
    markers.sort_unstable();
    markers.into_iter().map(|(_, word)| word.to_owned()).collect()
}
