//! Questions from a pipe or a file, one per line.

use std::io::{BufRead, Read as _};

use anyhow::{Context, Result};

use super::answers::Answers;

/// The maximum length of a question in bytes.
const LONGEST_LINE: u64 = 1 << 16;

/// Answers line by line. Prints each answer before it reads the next line, so that another program can query through two
/// pipes.
pub fn answer(mut input: impl BufRead, answers: &mut Answers<'_>) -> Result<()> {
    let mut line = Vec::new();
    for number in 1.. {
        line.clear();
        let read = (&mut input).take(LONGEST_LINE + 1).read_until(b'\n', &mut line);
        if read.context("standard input")? == 0 {
            break;
        }
        if line.len() as u64 > LONGEST_LINE {
            answers.misunderstand(number, &format!("the line is longer than {LONGEST_LINE} bytes"))?;
            if line.last() != Some(&b'\n') {
                input.skip_until(b'\n').context("standard input")?;
            }
            continue;
        }
        match str::from_utf8(&line) {
            Ok(line) => answers.answer_line(number, line)?,
            Err(error) => {
                let place = error.valid_up_to() + 1;
                answers.misunderstand(number, &format!("byte {place} of the line is not valid UTF-8"))?;
            }
        }
    }
    Ok(())
}
