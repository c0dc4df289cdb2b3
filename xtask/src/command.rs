//! Runs other programs: prints the command, checks the exit status, and retries downloads.

use std::env;
use std::fs::File;
use std::io::{self, BufRead, BufReader, IsTerminal};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// Attempts of a download, and the pause between them.
const TRIES: u32 = 3;
const PAUSE: Duration = Duration::from_secs(5);

/// The folder of the workspace.
pub fn root() -> PathBuf {
    let manifest_folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest_folder.parent().unwrap_or(manifest_folder).into()
}

/// The cargo that runs us, with the workspace as its working directory.
pub fn cargo() -> Command {
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(root());
    command
}

/// Prints the command, runs it, and fails if it fails.
pub fn run(command: &mut Command) -> Result<()> {
    eprintln!("$ {}", line(command));
    run_quietly(command)
}

/// Runs the command and fails if it fails.
pub fn run_quietly(command: &mut Command) -> Result<()> {
    let status = command.status().with_context(|| format!("could not start {:?}", command.get_program()))?;
    ensure!(status.success(), "`{}` failed: {status}", line(command));
    Ok(())
}

/// Runs the command and returns what it prints, without the last line break. Fails if it fails.
pub fn output(command: &mut Command) -> Result<String> {
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.with_context(|| format!("could not start {:?}", command.get_program()))?;
    ensure!(output.status.success(), "`{}` failed: {}", line(command), output.status);
    Ok(String::from_utf8(output.stdout)?.trim_end().to_owned())
}

/// Runs the command with its output in `log`, and fails if it fails.
pub fn run_logged(command: &mut Command, log: &Path) -> Result<()> {
    let output = File::create(log).with_context(|| format!("could not write {}", log.display()))?;
    run_quietly(command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output))
        .with_context(|| format!("see {}", log.display()))
}

/// Runs a command that downloads something, up to three times.
pub fn run_with_retries(command: &mut Command) -> Result<()> {
    for attempt in 1..TRIES {
        match run(command) {
            Ok(()) => return Ok(()),
            Err(error) => eprintln!("attempt {attempt} of {TRIES}: {error:#}"),
        }
        thread::sleep(PAUSE);
    }
    run(command)
}

/// Whether a program can be started.
pub fn exists(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version");
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok()
}

/// The command as a person would type it.
pub fn line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    // Nobody types the full path of cargo.
    let program = if program.ends_with("cargo") { "cargo".into() } else { program.to_string_lossy() };
    let arguments = command.get_args().map(|argument| argument.to_string_lossy());
    [program].into_iter().chain(arguments).collect::<Vec<_>>().join(" ")
}

/// Builds the release binary and returns its path.
pub fn build_skipstream() -> Result<PathBuf> {
    run(cargo().args(["build", "--release", "--package", "skipstream-cli", "--features", "brokers"]))?;
    Ok(shortened(program("release")?))
}

/// Builds skipstream for the demo: without the service and Parquet, in a profile that compiles fast. Shows the
/// progress in one line and returns the path of the program.
pub fn build_quickly() -> Result<PathBuf> {
    let mut build = cargo();
    build.args([
        "build",
        "--quiet",
        "--profile",
        "quick",
        "--package",
        "skipstream-cli",
        "--no-default-features",
        "--features",
        "codecs",
    ]);
    build.args(["--locked", "--message-format", "json-render-diagnostics"]).stdout(Stdio::piped());
    let start = Instant::now();
    let mut building = build.spawn().context("could not start cargo")?;
    eprint!("Building skipstream");
    for (message, number) in
        BufReader::new(building.stdout.take().context("cargo has no output")?).lines().zip(1..)
    {
        message?;
        if io::stderr().is_terminal() {
            eprint!("\rBuilding skipstream: {number} crates in {} s ", start.elapsed().as_secs());
        }
    }
    ensure!(building.wait()?.success(), "`{}` failed", line(&build));
    eprintln!("\rBuilt skipstream in {} s.            ", start.elapsed().as_secs());
    Ok(shortened(program("quick")?))
}

/// The program in SKIPSTREAM, or else a build in the profile of `cargo test`.
pub fn program_for_tests() -> Result<PathBuf> {
    if let Some(program) = env::var_os("SKIPSTREAM") {
        return Ok(program.into());
    }
    run(cargo().args(["build", "--package", "skipstream-cli", "--features", "brokers", "--locked"]))?;
    program("debug")
}

fn program(profile: &str) -> Result<PathBuf> {
    let program = target_folder()?.join(profile).join(format!("skipstream{}", env::consts::EXE_SUFFIX));
    ensure!(program.exists(), "cargo built skipstream, but {} does not exist", program.display());
    Ok(program)
}

/// The target folder of cargo: we are `target/PROFILE/xtask` or `target/PROFILE/experiments`.
pub fn target_folder() -> Result<PathBuf> {
    let xtask = env::current_exe().context("could not find the folder of the build")?;
    match xtask.parent().and_then(Path::parent) {
        Some(target) => Ok(target.into()),
        None => bail!("{} is not in a target folder of cargo", xtask.display()),
    }
}

/// The path relative to the current folder, if it is below it.
pub fn shortened(path: PathBuf) -> PathBuf {
    let below = env::current_dir().ok().and_then(|here| path.strip_prefix(here).ok().map(PathBuf::from));
    below.unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command() {
        let error = run_quietly(Command::new("false").arg("--no-such-option")).unwrap_err();
        assert!(error.to_string().contains("false --no-such-option"));
    }

    #[test]
    fn cargo_is_shown_as_it_is_typed() {
        assert_eq!(line(Command::new("/somewhere/bin/cargo").arg("build")), "cargo build");
        assert_eq!(line(&Command::new("target/skipstream")), "target/skipstream");
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = run_quietly(&mut Command::new("no-such-program")).unwrap_err();
        assert!(error.to_string().contains("no-such-program"));
        assert!(!exists("no-such-program"));
    }
}
