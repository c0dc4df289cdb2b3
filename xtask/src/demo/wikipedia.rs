//! Wikipedia, day by day: each day, the program is started again and continues the model of the day before.

use std::path::Path;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::{Demo, FOLDER, days};
use xtask::command::{line, run_quietly};
use xtask::text::grouped;
use xtask::wikipedia;

const N_DAYS: u64 = 10;

/// Words whose neighbors are easy to judge.
const WORDS: [&str; 4] = ["computer", "france", "music", "gold"];

const SOURCE: &str = "The text is the first 100 MB of the English Wikipedia of March 2006 (known as enwik8; CC BY-SA), \
    reduced to\nlowercase words. pip downloads it inside a source package that contains it as a data file; no code of the \
    package is run.";

/// Prepares the text, trains one model day by day, and shows neighbors along the way.
pub fn show(demo: &Demo) -> Result<()> {
    println!("{SOURCE}");
    let text = wikipedia::prepare(Path::new(FOLDER)).context(
        "could not download the text from the Python package registry; this needs python3 with pip, and the network",
    )?;
    let days = days::cut(&text, N_DAYS, &Path::new(FOLDER).join("days"))?;
    println!(
        "\nEach day the program starts again and continues the model of the day before; nothing is read twice."
    );
    let mut n_words = 0;
    let mut seconds = 0.0;
    for (index, day) in days.iter().enumerate() {
        let mut train = demo.skipstream("train");
        train.arg("--quiet").arg(&day.path);
        if index == 0 {
            println!("\n$ {}", line(&train));
        }
        let start = Instant::now();
        run_quietly(&mut train)?;
        let elapsed = start.elapsed().as_secs_f64();
        // Otherwise a program that does nothing would look fast.
        ensure!(demo.model.exists(), "`{}` saved no model", line(&train));
        n_words += day.n_words;
        seconds += elapsed;
        println!(
            "day {:>2} of {N_DAYS}: {} words in {elapsed:.2} s, {} words/s",
            index + 1,
            grouped(day.n_words),
            grouped((day.n_words as f64 / elapsed) as u64)
        );
        let number = index as u64 + 1;
        if [1, N_DAYS / 2, N_DAYS].contains(&number) {
            demo.show(demo.skipstream("neighbors").args(WORDS).args(["-n", "6"]))?;
            println!();
        }
    }
    println!(
        "Learned {} words in {seconds:.1} s: {} words/s, including reading the text and saving the model each day.",
        grouped(n_words),
        grouped((n_words as f64 / seconds) as u64)
    );
    Ok(())
}
