//! Expands names, patterns and folders to files.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::error::TextError;
use crate::{Error, Result};

/// The maximum depth of nested folders, so that a symlink cycle has an end.
const MAX_DEPTH: usize = 64;

/// Finds the files that a name, a pattern or a folder means.
///
/// - A name that exists is that file, whatever characters it has.
/// - A folder means all files in it and in its subfolders, except hidden ones (names that start with a dot) and temporary
///   ones (`~`, `.tmp`, `.partial`, `.swp`).
/// - Anything else with `*`, `?` or `[` in it is a pattern: `*` and `?` match within a name, `**` matches folders.
///   Hidden files match only a pattern that starts with a dot; folders do not match.
///
/// A symlink that leads nowhere counts as a file. Files are ordered by the bytes of their paths, on every system. A pattern without a match, a folder without files and
/// a folder that cannot be read are errors.
///
/// ```
/// use skipstream::corpus::find;
///
/// # let folder = tempfile::tempdir()?;
/// # for name in ["monday.txt", "tuesday.txt"] { std::fs::write(folder.path().join(name), "")?; }
/// let files = find(folder.path().join("*.txt"))?;
/// assert_eq!(files, [folder.path().join("monday.txt"), folder.path().join("tuesday.txt")]);
/// assert_eq!(find(folder.path())?, files);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn find(pattern: impl AsRef<Path>) -> Result<Vec<PathBuf>> {
    let path = pattern.as_ref();
    let mut files = match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => in_folder(path)?,
        Ok(_) => return Ok(vec![path.to_owned()]),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match path.to_str().filter(|name| is_pattern(name)) {
                Some(pattern) => matching(pattern)?,
                None => return Err(Error::io(path)(error)),
            }
        }
        Err(error) => return Err(Error::io(path)(error)),
    };
    files.sort_by(|one, other| one.as_os_str().as_encoded_bytes().cmp(other.as_os_str().as_encoded_bytes()));
    Ok(files)
}

fn is_pattern(name: &str) -> bool {
    name.contains(['*', '?', '['])
}

/// `glob` only compares names: its own directory walk panics at a name that is not UTF-8.
fn matching(pattern: &str) -> Result<Vec<PathBuf>> {
    let compiled = |part: &str| {
        let invalid = |error: glob::PatternError| Error::text(pattern, TextError::Pattern(error.to_string()));
        glob::Pattern::new(part).map_err(invalid)
    };
    compiled(pattern)?;
    let mut found = vec![PathBuf::new()];
    for component in Path::new(pattern).components() {
        let part = component.as_os_str().to_string_lossy();
        let mut next = Vec::new();
        for path in found {
            if part == "**" {
                below(path, &mut next)?;
            } else if is_pattern(&part) {
                let wanted = compiled(&part)?;
                next.extend(children(&path)?.into_iter().filter(|child| {
                    let name = child.file_name().unwrap_or_default().to_string_lossy();
                    // A hidden file matches only a pattern that starts with a dot.
                    name.starts_with('.') == part.starts_with('.') && wanted.matches(&name)
                }));
            } else {
                next.push(path.join(component));
            }
        }
        found = next;
    }
    // A name after the last star may not exist, and several `**` may find one file more than once.
    found.retain(|path| path.symlink_metadata().is_ok() && !path.is_dir());
    found.sort();
    found.dedup();
    if found.is_empty() {
        return Err(Error::text(pattern, TextError::NoMatch));
    }
    Ok(found)
}

/// Adds a folder and its subfolders that are not hidden. Symlinks are not followed, because they may form a cycle.
fn below(folder: PathBuf, folders: &mut Vec<PathBuf>) -> Result<()> {
    let is_hidden =
        |path: &Path| path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
    let mut waiting = vec![folder];
    while let Some(folder) = waiting.pop() {
        let children = children(&folder)?.into_iter();
        waiting.extend(children.filter(|child| child.is_dir() && !child.is_symlink() && !is_hidden(child)));
        folders.push(folder);
    }
    Ok(())
}

/// The entries of a folder; none if it is not a folder.
fn children(folder: &Path) -> Result<Vec<PathBuf>> {
    let is_here = folder.as_os_str().is_empty();
    let opened = if is_here { Path::new(".") } else { folder };
    if !opened.is_dir() {
        return Ok(Vec::new());
    }
    let mut children = Vec::new();
    for entry in fs::read_dir(opened).map_err(Error::io(opened))? {
        children.push(folder.join(entry.map_err(Error::io(opened))?.file_name()));
    }
    Ok(children)
}

fn in_folder(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = folders.pop() {
        if depth > MAX_DEPTH {
            return Err(Error::text(folder, TextError::TooDeep { limit: MAX_DEPTH }));
        }
        for entry in fs::read_dir(&folder).map_err(Error::io(&folder))? {
            let entry = entry.map_err(Error::io(&folder))?;
            if is_ignored(entry.file_name().as_encoded_bytes()) {
                continue;
            }
            let path = entry.path();
            // Symlinks are followed: a folder of symlinks to files is a folder of files.
            match fs::metadata(&path) {
                Ok(metadata) if metadata.is_dir() => folders.push((path, depth + 1)),
                Ok(metadata) if metadata.is_file() => files.push(path),
                Ok(_) => {}
                // A symlink that leads nowhere. The reader leaves it out, and says so.
                Err(error) if error.kind() == io::ErrorKind::NotFound => files.push(path),
                Err(error) => return Err(Error::io(&path)(error)),
            }
        }
    }
    if files.is_empty() {
        return Err(Error::text(folder, TextError::EmptyFolder));
    }
    Ok(files)
}

/// Whether a name belongs to a hidden or temporary file.
fn is_ignored(name: &[u8]) -> bool {
    let endings: [&[u8]; 4] = [b"~", b".tmp", b".partial", b".swp"];
    name.starts_with(b".") || endings.iter().any(|ending| name.ends_with(ending))
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    fn folder(names: &[&str]) -> TempDir {
        let folder = TempDir::new().unwrap();
        for name in names {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "text").unwrap();
        }
        folder
    }

    /// What was found, relative to the folder; or the message without the folder.
    fn found(folder: &TempDir, pattern: &str) -> std::result::Result<Vec<String>, String> {
        let root = format!("{}/", folder.path().display());
        match find(folder.path().join(pattern)) {
            Ok(paths) => Ok(paths.iter().map(|path| path.display().to_string().replace(&root, "")).collect()),
            Err(error) => Err(error.to_string().replace(&root, "")),
        }
    }

    #[test]
    fn a_folder_is_all_its_files_in_the_order_of_their_bytes() {
        let names = [
            "b/2.txt",
            "b/10.txt",
            "a.txt",
            "Z.txt",
            ".hidden",
            ".git/config",
            "x.tmp",
            "y~",
            "b/.m.partial",
        ];
        let folder = folder(&names);
        assert_eq!(found(&folder, "").unwrap(), ["Z.txt", "a.txt", "b/10.txt", "b/2.txt"]);
        assert_eq!(found(&folder, "b").unwrap(), ["b/10.txt", "b/2.txt"]);
    }

    #[test]
    fn patterns_stay_within_names_but_for_two_stars() {
        let folder = folder(&["a.gz", "b.txt", "n/c.gz", "n/m/d.gz", "n/.e.gz"]);
        assert_eq!(found(&folder, "*.gz").unwrap(), ["a.gz"]);
        assert_eq!(found(&folder, "**/*.gz").unwrap(), ["a.gz", "n/c.gz", "n/m/d.gz"]);
        assert_eq!(found(&folder, "?.[gt]*").unwrap(), ["a.gz", "b.txt"]);
        assert_eq!(found(&folder, "n*").unwrap_err(), "n*: no file matches this pattern");
        assert!(found(&folder, "a***").unwrap_err().starts_with("a***: invalid pattern: "));
        assert_eq!(found(&folder, "n/**/m/*.gz").unwrap(), ["n/m/d.gz"]);
        assert_eq!(found(&folder, "**/m/**/*.gz").unwrap(), ["n/m/d.gz"]);
        assert_eq!(found(&folder, "**/**/d.gz").unwrap(), ["n/m/d.gz"]);
        assert_eq!(found(&folder, "?/c.gz").unwrap(), ["n/c.gz"]);
        assert_eq!(found(&folder, "n/../*.gz").unwrap(), ["n/../a.gz"]);
        assert_eq!(found(&folder, "*/*/*/*").unwrap_err(), "*/*/*/*: no file matches this pattern");
        assert_eq!(found(&folder, "**").unwrap_err(), "**: no file matches this pattern");
        assert_eq!(found(&folder, "n/.*").unwrap(), ["n/.e.gz"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_name_need_not_be_utf_8() {
        use std::os::unix::ffi::OsStrExt;

        let folder = folder(&["a.txt"]);
        let name = folder.path().join(std::ffi::OsStr::from_bytes(b"n\xff.txt"));
        fs::write(&name, "text").unwrap();
        assert_eq!(find(folder.path().join("*.txt")).unwrap(), [folder.path().join("a.txt"), name.clone()]);
        assert_eq!(find(folder.path().join("n?.txt")).unwrap(), [name]);
    }

    #[test]
    fn a_file_that_is_there_is_that_file() {
        let folder = folder(&["news[1].txt", "news1.txt", "*"]);
        assert_eq!(found(&folder, "news[1].txt").unwrap(), ["news[1].txt"]);
        assert_eq!(found(&folder, "*").unwrap(), ["*"]);
        assert_eq!(found(&folder, "news[12].txt").unwrap(), ["news1.txt"]);
    }

    #[test]
    fn what_is_not_there_is_named() {
        let folder = folder(&[]);
        fs::create_dir(folder.path().join("empty")).unwrap();
        assert_eq!(found(&folder, "empty").unwrap_err(), "empty: there are no files in this folder");
        assert!(found(&folder, "none.txt").unwrap_err().starts_with("none.txt: "));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_that_leads_nowhere_is_found_like_a_file() {
        let folder = folder(&["a.txt"]);
        std::os::unix::fs::symlink("nowhere", folder.path().join("link.txt")).unwrap();
        for pattern in ["", "*.txt"] {
            assert_eq!(found(&folder, pattern).unwrap(), ["a.txt", "link.txt"]);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_ring_of_links_has_an_end() {
        let folder = folder(&["a/b.txt"]);
        std::os::unix::fs::symlink(folder.path().join("a"), folder.path().join("a/ring")).unwrap();
        let error = found(&folder, "").unwrap_err();
        assert!(error.contains("nested folders") || error.contains("links"), "{error}");
    }
}
