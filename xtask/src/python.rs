//! Python virtual environments.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::command::{run, run_with_retries};

/// A virtual environment in a folder.
#[derive(Clone)]
pub struct Environment {
    folder: PathBuf,
}

impl Environment {
    /// The environment in a folder, whether or not it exists.
    pub fn at(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// Creates the environment in a folder, or reuses an existing one.
    pub fn prepare(folder: PathBuf) -> Result<Self> {
        let environment = Self::at(folder);
        if !environment.exists() {
            run(Command::new("python3").args(["-m", "venv"]).arg(&environment.folder))
                .context("could not create a Python environment")?;
        }
        Ok(environment)
    }

    /// Whether the environment was created.
    pub fn exists(&self) -> bool {
        self.program("python").exists()
    }

    /// Installs a package unless it is installed.
    pub fn install(&self, package: &str) -> Result<()> {
        let mut show = self.pip("show");
        show.arg(package).stdout(Stdio::null()).stderr(Stdio::null());
        if show.status()?.success() {
            return Ok(());
        }
        run_with_retries(self.pip("install").arg("--quiet").arg(package))
    }

    /// Installs the packages listed in a file, unless the same list was installed before.
    pub fn install_all(&self, requirements: &Path) -> Result<()> {
        let wanted = fs::read_to_string(requirements).with_context(|| requirements.display().to_string())?;
        let installed = self.folder.join("installed-requirements.txt");
        if fs::read_to_string(&installed).is_ok_and(|list| list == wanted) {
            return Ok(());
        }
        run_with_retries(self.pip("install").arg("--quiet").arg("--requirement").arg(requirements))?;
        fs::write(&installed, wanted).with_context(|| installed.display().to_string())
    }

    /// Builds and installs the package in a folder, even if it is installed, because its sources may be newer.
    pub fn install_folder(&self, folder: &Path) -> Result<()> {
        run_with_retries(self.pip("install").args(["--quiet", "--force-reinstall"]).arg(folder))
    }

    /// A pip command.
    pub fn pip(&self, verb: &str) -> Command {
        let mut command = Command::new(self.program("python"));
        command.args(["-m", "pip", verb, "--disable-pip-version-check"]);
        command
    }

    /// The path of a program in the environment.
    pub fn program(&self, name: &str) -> PathBuf {
        self.folder.join("bin").join(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_that_was_installed_is_not_installed_again() {
        let folder = tempfile::tempdir().unwrap();
        let requirements = folder.path().join("requirements.txt");
        fs::write(&requirements, "gensim\n").unwrap();
        fs::write(folder.path().join("installed-requirements.txt"), "gensim\n").unwrap();
        // There is no Python here, so starting anything fails.
        let environment = Environment::at(folder.path().into());
        assert!(!environment.exists());
        environment.install_all(&requirements).unwrap();
    }

    #[test]
    fn a_missing_list_is_named() {
        let error = Environment::at("nowhere".into()).install_all(Path::new("no-list.txt")).unwrap_err();
        assert!(format!("{error:#}").starts_with("no-list.txt: "));
    }
}
