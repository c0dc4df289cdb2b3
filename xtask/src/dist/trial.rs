//! Tries what was built as its users would: without Rust, on a system that is thrown away.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, ensure};

use super::{Part, Release, copy, crates, debian, program};
use crate::package;
use xtask::command::{root, run, run_quietly, target_folder};

/// Tries the parts that can be tried.
pub fn run_all(release: &Release, parts: &[Part]) -> Result<()> {
    if parts.contains(&Part::Tarball) {
        try_tarball(release)?;
    }
    if parts.contains(&Part::Debian) {
        try_debian(release)?;
    }
    if parts.contains(&Part::Crates) {
        crates::try_them()?;
    }
    if parts.contains(&Part::Python) {
        package::test_wheel(&artifact(release, ".whl")?)?;
    }
    Ok(())
}

/// The only artifact whose name ends so.
fn artifact(release: &Release, ending: &str) -> Result<PathBuf> {
    for entry in fs::read_dir(&release.folder)? {
        let path = entry?.path();
        if path.to_string_lossy().ends_with(ending) {
            return Ok(path);
        }
    }
    anyhow::bail!("{} has no file *{ending}", release.folder.display())
}

/// Unpacks the tarball, and measures what is in it.
fn try_tarball(release: &Release) -> Result<()> {
    let tarball = artifact(release, "-linux.tar.gz")?;
    let folder = emptied("dist-trial-tarball")?;
    run(Command::new("tar").arg("-xf").arg(&tarball).arg("-C").arg(&folder).arg("--strip-components=1"))?;
    let program = folder.join("skipstream");
    program::check_glibc(&program)?;
    ensure!(folder.join("man/skipstream-train.1").exists(), "the tarball has no man pages");
    let start = Instant::now();
    const STARTS: u32 = 20;
    for _ in 0..STARTS {
        run_quietly(Command::new(&program).arg("--version").stdout(std::process::Stdio::null()))?;
    }
    let bytes = |path: &Path| fs::metadata(path).map(|file| file.len() as f64 / 1e6);
    println!(
        "tarball {:.1} MB, program {:.1} MB, starts in {:.1} ms",
        bytes(&tarball)?,
        bytes(&program)?,
        start.elapsed().as_secs_f64() * 1e3 / f64::from(STARTS)
    );
    Ok(())
}

/// Boots systemd in a container whose files are a throw-away layer above this system's, and installs the package there.
fn try_debian(release: &Release) -> Result<()> {
    let folder = emptied("dist-trial-debian")?;
    let trial = folder.join("trial");
    copy(&root().join("packaging/tests/debian.sh"), &trial.join("debian.sh"))?;
    copy(&artifact(release, ".deb")?, &trial.join("old.deb"))?;
    debian::build(release, &format!("{}+next", release.version), &trial.join("new.deb"))?;

    let layer = |name: &str| -> Result<PathBuf> {
        let path = folder.join(name);
        fs::create_dir_all(&path)?;
        Ok(path)
    };
    let (upper, work, system) = (layer("upper")?, layer("work")?, layer("system")?);
    let units = upper.join("etc/systemd/system");
    fs::create_dir_all(units.join("multi-user.target.wants"))?;
    let unit = "[Unit]\nSuccessAction=poweroff-force\nFailureAction=poweroff-force\n\
                [Service]\nType=oneshot\nTimeoutStartSec=5min\n\
                ExecStart=/bin/bash -c '/trial/debian.sh >/trial/log 2>&1'\n";
    fs::write(units.join("trial.service"), unit)?;
    std::os::unix::fs::symlink("../trial.service", units.join("multi-user.target.wants/trial.service"))?;

    // A machine of its own.
    fs::write(upper.join("etc/machine-id"), "uninitialized\n")?;

    let options = format!("lowerdir=/,upperdir={},workdir={}", upper.display(), work.display());
    run(Command::new("mount").args(["-t", "overlay", "overlay", "-o", &options]).arg(&system))
        .context("the Debian package is tried as root, on a system with overlayfs")?;
    let mut boot = Command::new("systemd-nspawn");
    boot.args([
        "--quiet",
        "--boot",
        "--register=no",
        "--keep-unit",
        "--private-network",
        "--machine=skipstream-trial",
    ]);
    boot.arg("--directory").arg(&system).arg(format!("--bind={}:/trial", trial.display()));
    let log = folder.join("boot.log");
    // How the container ends says nothing: the log of the trial does.
    let booted = boot.stdout(fs::File::create(&log)?).stdin(std::process::Stdio::null()).status();
    run(Command::new("umount").arg(&system))?;
    booted.context("install systemd-nspawn: `apt-get install systemd-container`")?;
    let report = fs::read_to_string(trial.join("log"))
        .with_context(|| format!("the container did not run the trial: see {}", log.display()))?;
    print!("{report}");
    ensure!(report.ends_with("PASSED\n"), "the Debian package failed its trial");
    Ok(())
}

/// An empty folder in the target folder.
fn emptied(name: &str) -> Result<PathBuf> {
    let folder = target_folder()?.join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    fs::create_dir_all(&folder)?;
    Ok(folder)
}
