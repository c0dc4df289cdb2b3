//! The interactive prompt, with history.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use rustyline::DefaultEditor;
use rustyline::error::ReadlineError;

use super::answers::Answers;
use crate::output::note;

/// Prompts for questions until Ctrl-D. Ctrl-C discards the current line.
pub fn hold(model: &Path, answers: &mut Answers<'_>) -> Result<()> {
    let name = model.file_name().unwrap_or(model.as_os_str()).to_string_lossy();
    let prompt = format!("{name}> ");
    let mut editor = DefaultEditor::new().context("the terminal")?;
    let history = history_file();
    if let Some(path) = &history {
        // There is no history at first, and none is needed.
        let _ = editor.load_history(path);
    }
    note(format_args!("Type {}, one question per line; Ctrl-D quits", answers.shape.form));
    for number in 1.. {
        match editor.readline(&prompt) {
            Ok(line) => {
                // A failure to record history does not matter here.
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
            note(format_args!("note: {}: cannot save the history: {error:#}", path.display()));
        }
    }
    Ok(())
}

/// In the user's state directory (`~/.local/state` on Linux), or the data directory on systems without one.
fn history_file() -> Option<PathBuf> {
    let folder = dirs::state_dir().or_else(dirs::data_local_dir)?;
    Some(folder.join("skipstream").join("history"))
}
