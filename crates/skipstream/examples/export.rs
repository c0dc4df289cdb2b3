//! Writes vectors for other programs, and reads them back.

use std::error::Error;

use skipstream::formats::{self, Format};
use skipstream::{Config, Trainer, Vectors};

fn main() -> Result<(), Box<dyn Error>> {
    let mut trainer = Trainer::new(Config { dimensions: 20, ..Config::default() })?;
    trainer.train_lines("one two three four five\n".repeat(100).as_bytes())?;
    // Train the text that still waits for its replay, and take the target vectors, as word2vec does.
    trainer.finish();
    let embeddings = trainer.embeddings_of(Vectors::Target)?;

    let folder = tempfile::tempdir()?;
    for (format, name) in [(Format::Word2vecText, "vectors.txt"), (Format::Word2vecBinary, "vectors.bin")] {
        let path = folder.path().join(name);
        formats::save(&embeddings, format, &path)?;
        let bytes = std::fs::metadata(&path)?.len();
        println!("{name}: {bytes} bytes, {} words", formats::load(&path, Vectors::default())?.len());
    }
    Ok(())
}
