//! Builds what a release consists of, in `target/dist`, and tries it as its users would.
//!
//! The same commit gives the same bytes: times are those of the commit, paths are replaced, and what has an order is sorted.

mod crates;
mod debian;
mod program;
mod python;
mod sbom;
mod tools;
mod trial;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use clap::{Args, ValueEnum};

use tools::Tools;
use xtask::command::{output, root, run_quietly, target_folder};

/// Options of `cargo xtask dist`.
#[derive(Args)]
pub struct Options {
    /// What to build [default: everything]
    #[arg(value_enum)]
    parts: Vec<Part>,
    /// Build everything a second time, and compare the checksums
    #[arg(long)]
    twice: bool,
    /// Install what was built, without Rust, and run the tests against it (the Debian package as root)
    #[arg(long)]
    test: bool,
}

/// Something to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Part {
    /// Python wheel and source distribution
    Python,
    /// Program with man pages and completions, in a tarball
    Tarball,
    /// Debian package with a systemd unit
    Debian,
    /// Crates as they would be published
    Crates,
    /// List of all dependencies (CycloneDX)
    Sbom,
}

/// A release that is being built.
struct Release {
    version: String,
    /// Where the artifacts are written.
    folder: PathBuf,
    /// Time of the commit, in seconds since 1970.
    time: String,
    tools: Tools,
}

/// Builds the parts, and writes their checksums.
pub fn run(options: &Options) -> Result<()> {
    ensure!(cfg!(target_os = "linux"), "`dist` runs on Linux; RELEASING.md says how others are built");
    let parts = if options.parts.is_empty() { Part::value_variants() } else { &options.parts };
    let release = Release::of_the_commit()?;
    let sums = release.build(parts)?;
    if options.twice {
        // The compiler works again, not only the packagers.
        fs::remove_dir_all(target_folder()?.join(program::triple()).join("release"))?;
        let again = release.build(parts)?;
        for (name, sum) in &sums {
            let same = again.get(name) == Some(sum);
            println!("{} {name}", if same { "same     " } else { "DIFFERENT" });
        }
        ensure!(sums == again, "the second build differs from the first");
    }
    if options.test {
        trial::run_all(&release, parts)?;
    }
    Ok(())
}

impl Release {
    fn of_the_commit() -> Result<Release> {
        let folder = target_folder()?.join("dist");
        let time = output(Command::new("git").args(["log", "-1", "--format=%ct"]).current_dir(root()))?;
        Ok(Release { version: version()?, folder, time, tools: Tools::install()? })
    }

    /// Builds the parts in an empty folder, and returns the checksum of each file.
    fn build(&self, parts: &[Part]) -> Result<BTreeMap<String, String>> {
        if self.folder.exists() {
            fs::remove_dir_all(&self.folder)?;
        }
        fs::create_dir_all(&self.folder)?;
        if parts.contains(&Part::Python) {
            python::build(self)?;
        }
        if parts.contains(&Part::Tarball) || parts.contains(&Part::Debian) {
            let program = program::build(self)?;
            if parts.contains(&Part::Tarball) {
                program::tarball(self, &program)?;
            }
            if parts.contains(&Part::Debian) {
                debian::build(self, &self.version, &self.folder)?;
            }
        }
        if parts.contains(&Part::Crates) {
            crates::build(self)?;
        }
        if parts.contains(&Part::Sbom) {
            sbom::build(self)?;
        }
        self.checksums()
    }

    /// Writes `SHA256SUMS`.
    fn checksums(&self) -> Result<BTreeMap<String, String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            names.push(entry?.file_name());
        }
        names.sort();
        let list = output(Command::new("sha256sum").args(&names).current_dir(&self.folder))?;
        println!("{list}");
        fs::write(self.folder.join("SHA256SUMS"), format!("{list}\n"))?;
        let sums = list.lines().filter_map(|line| line.split_once("  "));
        Ok(sums.map(|(sum, name)| (name.to_owned(), sum.to_owned())).collect())
    }

    /// Lets a build use the time of the commit, and no paths of this machine.
    fn reproducible<'a>(&self, command: &'a mut Command) -> Result<&'a mut Command> {
        let cargo = std::env::var_os("CARGO_HOME").map(PathBuf::from);
        let cargo = cargo.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
        let cargo = cargo.context("no home folder")?;
        let places = [(root(), "skipstream"), (cargo, "cargo"), (target_folder()?, "target")];
        let flags = |option: &str| {
            let flag = |(path, name): &(PathBuf, &str)| format!("{option}={}=/{name}", path.display());
            places.iter().map(flag).collect::<Vec<_>>().join(" ")
        };
        command.env("SOURCE_DATE_EPOCH", &self.time);
        command.env("RUSTFLAGS", flags("--remap-path-prefix")).env("CFLAGS", flags("-ffile-prefix-map"));
        Ok(command.current_dir(root()))
    }
}

/// The version of all crates.
fn version() -> Result<String> {
    let manifest = fs::read_to_string(root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(line.context("Cargo.toml has no version")?.trim_matches('"').to_owned())
}

/// Copies a file, and creates the folder that it is copied to.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::copy(from, to).with_context(|| format!("copying {} to {}", from.display(), to.display()))?;
    Ok(())
}

/// Runs a program of the staging area quietly.
fn write_output(command: &mut Command, path: &Path) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    run_quietly(command.stdout(fs::File::create(path)?))
}
