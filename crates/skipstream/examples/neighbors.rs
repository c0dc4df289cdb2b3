//! Learns lines of text and asks for neighbors.

use skipstream::{Config, Result, Trainer};

fn main() -> Result<()> {
    let drinks = "people drink tea with milk\npeople drink coffee with sugar\n".repeat(500);
    let ships = "a ship crosses the sea\na boat crosses the lake\n".repeat(500);

    let mut trainer = Trainer::new(Config { dimensions: 20, subsample: 0.0, ..Config::default() })?;
    trainer.train_lines(drinks.as_bytes())?;
    trainer.train_lines(ships.as_bytes())?;
    // Sentences that are split into tokens already.
    trainer.train([["New York", "lies", "by", "the", "sea"]])?;

    let embeddings = trainer.embeddings()?;
    for word in ["tea", "ship"] {
        println!("{word}:");
        for neighbor in embeddings.neighbors(word, 3)? {
            println!("  {} {:.2}", neighbor.word, neighbor.similarity);
        }
    }
    println!("tea and coffee: {:.2}", embeddings.similarity("tea", "coffee")?);
    Ok(())
}
