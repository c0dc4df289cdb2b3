//! A lock so that only one process trains a model.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Context, Result, bail};
use skipstream::unstable::Lock;

/// Takes the exclusive lock on a model file, or fails if another process holds it.
///
/// The lock file is `.NAME.lock` next to the model, because each save replaces the model file.
pub fn take(model: &Path) -> Result<Lock> {
    let Some(name) = model.file_name() else { bail!("{}: not a file path", model.display()) };
    let folder = model.parent().filter(|folder| *folder != Path::new(""));
    if let Some(folder) = folder.filter(|folder| !folder.is_dir()) {
        bail!(
            "{}: there is no such folder; create it, or choose another place for the model",
            folder.display()
        );
    }
    let mut lock_name = OsString::from(".");
    lock_name.push(name);
    lock_name.push(".lock");
    let lock = Lock::take(model.with_file_name(lock_name))
        .with_context(|| format!("{}: cannot create a model here", model.display()))?;
    lock.with_context(|| {
        format!("{}: another process is training this model; wait for it or stop it", model.display())
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn a_model_is_locked_until_the_lock_is_dropped_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("m.safetensors");
        let lock = take(&model).unwrap();
        let message = take(&model).unwrap_err().to_string();
        assert!(message.contains("another process"), "{message}");
        drop(lock);
        drop(take(&model).unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_an_error() {
        let message = take(Path::new("/no/such/m")).unwrap_err();
        assert!(message.to_string().starts_with("/no/such: there is no such folder"), "{message}");
    }
}
