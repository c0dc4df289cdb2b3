//! The program with what belongs to it, and its tarball.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};

use super::{Release, copy, write_output};
use xtask::command::{root, run, run_quietly, target_folder};

/// The oldest C library that the program runs with: that of CentOS 7, Debian 8 and Ubuntu 14.04, as manylinux2014 says.
pub const GLIBC: &str = "2.17";

/// What people complete commands in, and the names of the scripts.
const SHELLS: [(&str, &str); 3] =
    [("bash", "skipstream.bash"), ("zsh", "_skipstream"), ("fish", "skipstream.fish")];

/// A folder with the program, and the folders `man` and `completions`.
pub struct Program {
    pub folder: PathBuf,
}

impl Program {
    pub fn path(&self) -> PathBuf {
        self.folder.join("skipstream")
    }
}

/// The target for which `dist` builds.
pub fn triple() -> String {
    format!("{}-unknown-linux-gnu", env::consts::ARCH)
}

/// Builds the program with zig as its linker, which knows the symbols of every C library.
pub fn build(release: &Release) -> Result<Program> {
    let mut build = release.tools.python("cargo-zigbuild");
    build.args(["zigbuild", "--release", "--locked", "--package", "skipstream-cli", "--features", "brokers"]);
    build.args(["--target", &format!("{}.{GLIBC}", triple())]);
    build.arg("--config").arg("profile.release.strip=\"symbols\"");
    run(release.reproducible(&mut build)?)?;

    // cargo-deb finds files there by paths that begin with `target/release`.
    let folder = target_folder()?.join(triple()).join("release/dist");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let program = Program { folder };
    copy(&target_folder()?.join(triple()).join("release/skipstream"), &program.path())?;
    let man = program.folder.join("man");
    run_quietly(Command::new(program.path()).arg("man").arg("--out").arg(&man))?;
    for (shell, name) in SHELLS {
        let script = program.folder.join("completions").join(name);
        write_output(Command::new(program.path()).args(["completions", shell]), &script)?;
    }
    for name in ["LICENSE-APACHE", "LICENSE-MIT", "README.md", "CHANGELOG.md"] {
        copy(&root().join(name), &program.folder.join(name))?;
    }
    Ok(program)
}

/// Packs the folder.
pub fn tarball(release: &Release, program: &Program) -> Result<()> {
    let name = format!("skipstream-{}-{}-linux", release.version, env::consts::ARCH);
    let path = release.folder.join(format!("{name}.tar.gz"));
    let mut pack = Command::new("tar");
    pack.args(["--create", "--sort=name", "--owner=0", "--group=0", "--numeric-owner", "--mode=go-w,a+r"]);
    pack.arg(format!("--mtime=@{}", release.time)).arg(format!("--transform=s,^\\.,{name},"));
    pack.args(["--use-compress-program", "gzip --best --no-name", "--file"]).arg(&path);
    run(pack.arg("--directory").arg(&program.folder).arg("."))
}

/// Checks that the program asks for no newer C library.
pub fn check_glibc(program: &Path) -> Result<()> {
    let symbols = xtask::command::output(Command::new("objdump").arg("-T").arg(program))?;
    let number = |version: &str| {
        let parts = version.split('.').map(str::parse::<u32>);
        parts.collect::<Result<Vec<_>, _>>().unwrap_or_default()
    };
    let versions = symbols.split("GLIBC_").skip(1);
    let versions = versions.map(|rest| rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next());
    let newest = versions.flatten().max_by_key(|version| number(version)).unwrap_or_default();
    println!("{} needs glibc {newest}", program.display());
    ensure!(number(newest) <= number(GLIBC), "it should run with glibc {GLIBC}");
    Ok(())
}
