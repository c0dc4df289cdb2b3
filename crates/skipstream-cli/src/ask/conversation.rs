//! Questions typed at a terminal, with a history.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::Query;
use super::answers::Answers;
use crate::output::note;

/// Asks for questions until Ctrl-D. Ctrl-C gives up a line.
pub fn hold<Q: Query>(model: &Path, answers: &mut Answers<'_, Q>) -> Result<()> {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let prompt = format!("{name}> ");
    let mut editor = DefaultEditor::new().context("the terminal")?;
    let history = history_file();
    if let Some(path) = &history {
        // There is none at first, and a conversation goes well without one.
        let _ = editor.load_history(path);
    }
    note(format_args!("{}, a question on each line; Ctrl-D ends", Q::SHAPE.form));
    for number in 1.. {
        match editor.readline(&prompt) {
            Ok(line) => {
                // Whether it is remembered makes no difference to the answer.
                let _ = editor.add_history_entry(&line);
                answers.answer_line(number, &line)?;
            }
            Err(ReadlineError::Interrupted) => {}
            Err(ReadlineError::Eof) => break,
            Err(error) => return Err(error).context("the terminal"),
        }
    }
    if let Some(path) = &history {
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let saved = folder.context("the folder").and_then(|()| Ok(editor.append_history(path)?));
        if let Err(error) = saved {
            note(format_args!("note: {}: the history was not kept: {error:#}", path.display()));
        }
    }
    Ok(())
}

/// In the folder of the user's state (`~/.local/state` on Linux), or of data where systems have no such folder.
fn history_file() -> Option<PathBuf> {
    let folder = dirs::state_dir().or_else(dirs::data_local_dir)?;
    Some(folder.join("skipstream").join("history"))
}
