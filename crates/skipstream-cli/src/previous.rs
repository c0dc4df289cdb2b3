//! The model as it was before the last training, kept next to the model as `NAME.previous`.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use skipstream::Error;
use skipstream::unstable::{replace, sync_name};

/// Where the previous state of a model is kept.
pub fn path(model: &Path) -> PathBuf {
    let mut name = model.file_name().unwrap_or_default().to_owned();
    name.push(".previous");
    model.with_file_name(name)
}

/// Keeps the model file, which is about to be replaced: by a hard link, or by a copy if the file system has no links.
///
/// If the process is killed or the power fails, the previous state is the one kept before or this one, whole.
pub fn keep(model: &Path) -> Result<()> {
    let previous = path(model);
    // Not a name that `replace` uses, because it truncates what a killed process left.
    let mut link = OsString::from(".");
    link.push(previous.file_name().unwrap_or_default());
    link.push(".link");
    let link = model.with_file_name(link);
    let _ = fs::remove_file(&link);
    if fs::hard_link(model, &link).is_ok() {
        fs::rename(&link, &previous).with_context(|| previous.display().to_string())?;
        // If both were links to the same file already, the rename did nothing.
        let _ = fs::remove_file(&link);
        // The model is replaced next. That must not be on disk before this is.
        return sync_name(&previous).context("cannot keep the previous model");
    }
    replace(&previous, |copy| {
        let copied = File::open(model).and_then(|mut file| io::copy(&mut file, copy));
        copied.map(|_| ()).map_err(|source| Error::Io { path: model.to_owned(), source })
    })
    .context("cannot keep the previous model")
}
