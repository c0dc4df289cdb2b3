//! One process at a time writes a model.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

/// The right to write a model, until it is dropped or the process ends, however it ends.
///
/// The lock is on `.NAME.lock` beside the model, because each save replaces the model itself.
#[derive(Debug)]
pub struct ModelLock {
    path: PathBuf,
    _file: File,
}

impl ModelLock {
    /// Takes the lock, or says that another process has it.
    pub fn take(model: &Path) -> Result<ModelLock> {
        let Some(name) = model.file_name() else {
            bail!("{}: this is not the path of a file", model.display());
        };
        let mut lock_name = OsString::from(".");
        lock_name.push(name);
        lock_name.push(".lock");
        let path = model.with_file_name(lock_name);
        loop {
            let file = OpenOptions::new()
                .create(true)
                .truncate(false)
                .write(true)
                .open(&path)
                .with_context(|| format!("{}: cannot be written here", model.display()))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => bail!(
                    "{}: another process is training this model; wait for it, or stop it",
                    model.display()
                ),
                Err(TryLockError::Error(error)) => {
                    return Err(error).with_context(|| format!("{}: cannot be locked", path.display()));
                }
            }
            if is_still_at(&file, &path) {
                return Ok(ModelLock { path, _file: file });
            }
            // Its last owner removed it between our opening and our locking.
        }
    }
}

impl Drop for ModelLock {
    fn drop(&mut self) {
        // While it is still locked. What cannot be removed does no harm: the lock ends with the process.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(unix)]
fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere a file that is open cannot be removed.
#[cfg(not(unix))]
fn is_still_at(_: &File, _: &Path) -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_is_locked_until_the_lock_is_dropped_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.safetensors");
        let lock = ModelLock::take(&model).unwrap();
        let message = ModelLock::take(&model).unwrap_err().to_string();
        assert!(message.contains("another process"), "{message}");
        drop(lock);
        drop(ModelLock::take(&model).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let message = ModelLock::take(Path::new("/no/such/m")).unwrap_err();
        assert!(message.to_string().starts_with("/no/such/m: "), "{message}");
    }
}
