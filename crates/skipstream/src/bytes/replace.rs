//! Atomic replacement of files.

use std::ffi::OsString;
use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use super::BUFFER_BYTES;
use crate::{Error, Result};

/// Writes a file under a temporary name in the same folder, syncs it, and renames it.
///
/// After a crash the file is either the old one or the new one. Two processes that write the same file at once get an error.
/// A symlink is replaced, and the file that it leads to stays as it is. A device or a folder is not replaced.
pub fn replace(path: impl AsRef<Path>, write: impl FnOnce(&mut BufWriter<File>) -> Result<()>) -> Result<()> {
    let path = path.as_ref();
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return Err(Error::io(path)(io::Error::new(
            io::ErrorKind::InvalidInput,
            "not a regular file, so it is not replaced",
        )));
    }
    let temporary = temporary_name(path);
    let mut file = BufWriter::with_capacity(BUFFER_BYTES, create(&temporary)?);
    let finished = write(&mut file)
        .and_then(|()| file.flush().and_then(|()| file.get_ref().sync_all()).map_err(Error::io(&temporary)));
    if let Err(error) = finished {
        // A partial file is useless, and the disk may be full.
        let _ = fs::remove_file(&temporary);
        return Err(error);
    }
    if let Err(error) = fs::rename(&temporary, path) {
        let _ = fs::remove_file(&temporary);
        return Err(Error::io(path)(error));
    }
    sync_name(path)
}

/// Makes a name durable: that a file was created, renamed or removed is on disk once its folder is synced.
pub fn sync_name(path: impl AsRef<Path>) -> Result<()> {
    // Not all systems can sync a folder.
    #[cfg(unix)]
    {
        let folder = path.as_ref().parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = folder.unwrap_or(Path::new("."));
        File::open(folder).and_then(|folder| folder.sync_all()).map_err(Error::io(folder))?;
    }
    Ok(())
}

/// Creates a folder with its missing ancestors, and makes their names durable: what is synced in a folder is lost with it.
pub fn create_folder(path: impl AsRef<Path>) -> Result<()> {
    let path = path.as_ref();
    let is_missing = |folder: &&Path| !folder.as_os_str().is_empty() && !folder.exists();
    let missing: Vec<&Path> = path.ancestors().take_while(is_missing).collect();
    fs::create_dir_all(path).map_err(Error::io(path))?;
    if missing.is_empty() {
        // A killed process may have created it. If not, its parent need not be ours to read.
        let _ = sync_name(path);
    }
    missing.into_iter().rev().try_for_each(sync_name)
}

/// A new file that no other process writes. Whatever else has the name is removed and not written to: what a killed process
/// left, or a link to another file.
fn create(temporary: &Path) -> Result<File> {
    loop {
        match File::create_new(temporary) {
            Ok(file) if claim(&file, temporary)? => return Ok(file),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove(temporary)?,
            Err(error) => return Err(Error::io(temporary)(error)),
        }
    }
}

/// Removes a file, unless another process writes it.
fn remove(temporary: &Path) -> Result<()> {
    let is_file = fs::symlink_metadata(temporary).is_ok_and(|there| there.is_file());
    // Locked until it is removed. A link has no writer.
    let _locked = match is_file.then(|| File::options().write(true).open(temporary)) {
        None => None,
        Some(Ok(file)) if claim(&file, temporary)? => Some(file),
        Some(Ok(_)) => return Ok(()),
        Some(Err(error)) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Some(Err(error)) => return Err(Error::io(temporary)(error)),
    };
    match fs::remove_file(temporary) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::io(temporary)(error)),
        _ => Ok(()),
    }
}

/// Locks an open file, or fails if another process writes it. Returns false if it no longer has this name, because its writer
/// has renamed it meanwhile: it is the complete new file then, and must be left alone.
fn claim(file: &File, temporary: &Path) -> Result<bool> {
    match file.try_lock() {
        Err(TryLockError::WouldBlock) => {
            let busy = io::Error::new(io::ErrorKind::ResourceBusy, "another process writes this file now");
            Err(Error::io(temporary)(busy))
        }
        // Not all systems can lock, and a lock is only for the rare case of two writers.
        Ok(()) | Err(TryLockError::Error(_)) => Ok(is_still_at(file, temporary)),
    }
}

#[cfg(unix)]
pub(super) fn is_still_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(there)) => (ours.dev(), ours.ino()) == (there.dev(), there.ino()),
        _ => false,
    }
}

/// Elsewhere an open file cannot be renamed.
#[cfg(not(unix))]
pub(super) fn is_still_at(_: &File, _: &Path) -> bool {
    true
}

/// `.NAME.partial` beside the file: always the same, so that what a killed process left is overwritten.
fn temporary_name(path: &Path) -> PathBuf {
    let mut name = OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(".partial");
    path.with_file_name(name)
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    #[test]
    fn a_failed_write_leaves_the_old_file_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("model");
        fs::write(&path, "old").unwrap();
        let failed = replace(&path, |file| {
            file.write_all(b"half").unwrap();
            Err(Error::setting("x", 0, "1"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failed_rename_leaves_the_old_file_and_nothing_else() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("model");
        // It becomes a folder while the new file is being written.
        let failed = replace(&path, |_| {
            fs::create_dir(&path).unwrap();
            Ok(())
        });
        assert!(failed.unwrap_err().to_string().starts_with(&path.display().to_string()));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn folders_are_created_with_their_ancestors() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("a/b/c");
        create_folder(&path).unwrap();
        create_folder(&path).unwrap();
        assert!(path.is_dir());
        fs::write(path.join("file"), "").unwrap();
        let message = create_folder(path.join("file/d")).unwrap_err().to_string();
        assert!(message.starts_with(&path.join("file/d").display().to_string()), "{message}");
    }

    #[test]
    fn what_a_killed_process_left_is_overwritten() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("model");
        fs::write(folder.path().join(".model.partial"), "a long rest").unwrap();
        replace(&path, |file| file.write_all(b"new").map_err(Error::io("model"))).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn two_writers_of_one_file_are_told() {
        let folder = TempDir::new().unwrap();
        let path = folder.path().join("model");
        replace(&path, |_| {
            let message = replace(&path, |_| Ok(())).unwrap_err().to_string();
            assert!(message.ends_with(".model.partial: another process writes this file now"), "{message}");
            Ok(())
        })
        .unwrap();
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_replaced_and_not_followed() {
        for (name, target) in [("model", "file"), (".model.partial", "file"), (".model.partial", "none")] {
            let folder = TempDir::new().unwrap();
            let file = folder.path().join("file");
            fs::write(&file, "of somebody").unwrap();
            std::os::unix::fs::symlink(target, folder.path().join(name)).unwrap();
            let model = folder.path().join("model");
            replace(&model, |out| out.write_all(b"new").map_err(Error::io("model"))).unwrap();
            assert!(!model.is_symlink() && fs::read(&model).unwrap() == b"new");
            assert_eq!(fs::read(&file).unwrap(), b"of somebody");
            assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2, "{name} to {target}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn another_name_of_a_file_is_not_written_to() {
        let folder = TempDir::new().unwrap();
        let [file, model] = ["file", "model"].map(|name| folder.path().join(name));
        fs::write(&file, "of somebody").unwrap();
        fs::hard_link(&file, folder.path().join(".model.partial")).unwrap();
        replace(&model, |out| out.write_all(b"new").map_err(Error::io("model"))).unwrap();
        assert_eq!(fs::read(&file).unwrap(), b"of somebody");
    }

    #[cfg(unix)]
    #[test]
    fn a_device_is_refused() {
        let folder = TempDir::new().unwrap();
        let device = folder.path().join("device");
        std::os::unix::fs::symlink("/dev/null", &device).unwrap();
        let message = replace(&device, |_| Ok(())).unwrap_err().to_string();
        assert!(message.ends_with("device: not a regular file, so it is not replaced"), "{message}");
        assert!(replace(folder.path(), |_| Ok(())).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn a_file_that_was_renamed_between_opening_and_locking_is_left_alone() {
        let folder = TempDir::new().unwrap();
        let (path, temporary) = (folder.path().join("model"), folder.path().join(".model.partial"));
        fs::write(&temporary, "the other's").unwrap();
        let opened = File::options().write(true).open(&temporary).unwrap();
        fs::rename(&temporary, &path).unwrap();
        assert!(!claim(&opened, &temporary).unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"the other's");
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let message = replace("/no/such/folder/file", |_| Ok(())).unwrap_err().to_string();
        assert!(message.starts_with("/no/such/folder/.file.partial: "), "{message}");
    }
}
