//! The presidents' addresses to Congress, 1790 to 2021: a word arrives, and a word moves.

use std::path::PathBuf;
use std::process::Command;

use anyhow::Result;

use super::Demo;
use xtask::command::{root, shortened};

/// A word that moves between the two halves, and one that arrives in the second.
const WORDS: [&str; 2] = ["energy", "nuclear"];

/// Learns the first half, asks, learns the second half, asks again, and lists what changed.
pub fn show(demo: &Demo) -> Result<()> {
    println!("\nA model learns the presidents' addresses to Congress, from 1790 to 1939.");
    demo.show(demo.skipstream("train").args(["--text", "prose"]).arg(text("1790-1939")))?;
    demo.show(demo.skipstream("neighbors").args(WORDS).args(["-n", "5"]))?;

    println!("\nThe same model goes on with 1940 to 2021. Nothing is read twice.");
    demo.show(demo.skipstream("train").arg("--keep-previous").arg(text("1940-2021")))?;
    demo.show(demo.skipstream("neighbors").args(WORDS).args(["-n", "5"]))?;

    println!("\nWhat changed between 1939 and 2021?");
    let previous = format!("{}.previous", demo.model.display());
    demo.show(Command::new(&demo.program).args(["diff", "-n", "5"]).arg(previous).arg(&demo.model))?;

    let (program, model) = (demo.program.display(), demo.model.display());
    println!(
        "\nNow try:\n\n  \
         {program} neighbors --model {model} security\n  \
         {program} train --model my.safetensors --text prose YOUR-FILES\n  \
         cargo install --path crates/skipstream-cli    # the whole command, with `serve`\n  \
         cargo xtask demo wikipedia                    # 12.6 million words, downloaded with pip"
    );
    Ok(())
}

/// A folder of the text, as a person would type it.
fn text(years: &str) -> PathBuf {
    shortened(root().join("texts/state-of-the-union").join(years))
}
