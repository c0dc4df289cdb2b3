//! Lock files: one process at a time.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};

use super::replace::is_still_at;
use crate::{Error, Result};

/// An exclusive lock, until it is dropped or the process ends, however it ends.
///
/// ```
/// use skipstream::unstable::Lock;
///
/// # let folder = tempfile::tempdir().unwrap();
/// let path = folder.path().join(".model.lock");
/// let lock = Lock::take(&path)?.expect("nobody else has it");
/// assert!(Lock::take(&path)?.is_none());
/// drop(lock);
/// assert!(Lock::take(&path)?.is_some());
/// # Ok::<(), skipstream::Error>(())
/// ```
#[derive(Debug)]
pub struct Lock {
    path: PathBuf,
    _file: File,
}

impl Lock {
    /// Takes the lock on a file, which is created for it; `None` if another process has it.
    pub fn take(path: impl AsRef<Path>) -> Result<Option<Lock>> {
        let path = path.as_ref();
        loop {
            let file = File::options().create(true).truncate(false).write(true).open(path);
            let file = file.map_err(Error::io(path))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(Error::io(path)(error)),
            }
            if is_still_at(&file, path) {
                return Ok(Some(Lock { path: path.to_owned(), _file: file }));
            }
            // Its last owner removed it between our opening and our locking.
        }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Removed while it is still locked. A file that cannot be removed does no harm: the lock ends with the process.
        let _ = fs::remove_file(&self.path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_the_lock_until_it_is_dropped_and_nothing_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".lock");
        let lock = Lock::take(&path).unwrap();
        assert!(lock.is_some() && Lock::take(&path).unwrap().is_none());
        drop(lock);
        drop(Lock::take(&path).unwrap().unwrap());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let message = Lock::take("/no/such/folder/.lock").unwrap_err().to_string();
        assert!(message.starts_with("/no/such/folder/.lock: "), "{message}");
    }
}
