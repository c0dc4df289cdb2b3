//! Saves a checkpoint and resumes from it: files that were learned are skipped, and a file that grew is continued.

use std::error::Error;
use std::fs;
use std::path::Path;

use skipstream::{Config, Trainer};

/// Learns what is new in the file, and saves the model.
fn learn(trainer: &mut Trainer, text: &Path, model: &Path) -> skipstream::Result<()> {
    let mut files = trainer.files([text])?;
    trainer.train_source(&mut files)?;
    // The model file remembers how far each file was read.
    files.record_positions(trainer.ledger_mut())?;
    trainer.save(model)
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let (text, model) = (folder.path().join("news.txt"), folder.path().join("news.safetensors"));

    fs::write(&text, "rain in the morning\n".repeat(100))?;
    let mut trainer = Trainer::new(Config { dimensions: 20, ..Config::default() })?;
    learn(&mut trainer, &text, &model)?;
    println!("first run: {} words", trainer.progress().tokens);
    drop(trainer);

    // Later, in another process.
    fs::write(&text, "rain in the morning\n".repeat(100) + "sun in the evening\n")?;
    let mut trainer = Trainer::load(&model, None)?;
    learn(&mut trainer, &text, &model)?;
    println!("second run: {} words", trainer.progress().tokens);
    assert_eq!(trainer.progress().tokens, 404);
    Ok(())
}
