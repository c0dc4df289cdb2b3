//! Follows a file that grows, as `tail -F` does.

use std::error::Error;
use std::fs::{self, OpenOptions};
use std::io::Write;
use std::thread;
use std::time::Duration;

use skipstream::{Config, StopReason, Trainer};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("app.log");
    fs::write(&path, "")?;

    // Another thread appends lines.
    let log = path.clone();
    let writer = thread::spawn(move || -> std::io::Result<()> {
        let mut log = OpenOptions::new().append(true).open(log)?;
        for number in 0..5 {
            writeln!(log, "request {number} took long")?;
            thread::sleep(Duration::from_millis(100));
        }
        Ok(())
    });

    let mut trainer = Trainer::new(Config { dimensions: 20, ..Config::default() })?;
    let mut follow = trainer.follow([&path])?;
    while trainer.progress().tokens < 5 * 4 {
        // The call returns when everything that was written so far is learned.
        let reason = trainer.train_source(&mut follow)?;
        assert_eq!(reason, StopReason::Pending);
        println!("{} words", trainer.progress().tokens);
        thread::sleep(Duration::from_millis(50));
    }
    writer.join().expect("the writer does not panic")?;
    println!("words learned: {}", trainer.embeddings()?.len());
    Ok(())
}
