//! Bounds memory: a full vocabulary evicts its rarest words for new ones.

use skipstream::{Config, MiniBatchOptions, Result, Strategy, Trainer};

fn main() -> Result<()> {
    // Smaller buffers leave more of the memory to the vocabulary.
    let options =
        MiniBatchOptions { batch_words: 20_000, replay_words: 20_000, ..MiniBatchOptions::default() };
    let strategy = Strategy::MiniBatch(options);
    let config = Config { dimensions: 20, strategy, ..Config::default() }.within_memory(30_000_000)?;
    println!("30 MB are enough for {} words", config.max_vocabulary);

    let mut trainer = Trainer::new(Config { max_vocabulary: 1_000, ..config })?;
    println!("1,000 words take at most {} bytes", trainer.memory_bound().total());
    // Every third word is new, and `the` is in every sentence.
    let sentences = (0..20_000).map(|number| [format!("id{number}"), "the".to_owned(), "end".to_owned()]);
    trainer.train(sentences)?;

    let progress = trainer.progress();
    println!("{} words known, {} evicted", progress.vocabulary, progress.evictions);
    assert!(progress.vocabulary <= 1_000);
    assert!(trainer.embeddings()?.vector("the").is_some());
    Ok(())
}
