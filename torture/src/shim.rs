//! The library that counts, records and breaks the file calls of the program under attack.

#[path = "../shim/src/control.rs"]
mod control;

use std::env;
use std::fs::{self, File};
use std::mem::offset_of;
use std::ops::RangeInclusive;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use tempfile::TempDir;

pub use control::{Action, Control, Head, Kind};

/// The shim for one folder. Every program that is started with it has its own numbering of calls, from 1.
pub struct Shim {
    library: PathBuf,
    root: PathBuf,
    place: TempDir,
    control: File,
}

/// What is to happen, and at which calls.
#[derive(Clone, Debug)]
pub struct Plan {
    pub action: Action,
    pub calls: RangeInclusive<u64>,
    pub kinds: u64,
    /// The error that a failing call returns, or the milliseconds that a slow one takes.
    pub argument: u64,
}

impl Plan {
    /// This action at one call of any kind.
    pub fn at(action: Action, call: u64) -> Plan {
        Plan { action, calls: call..=call, kinds: u64::MAX, argument: 0 }
    }
}

impl Shim {
    /// For the files below a folder, which is named without links.
    pub fn new(root: &Path) -> Result<Shim> {
        let library = env::current_exe()?.with_file_name("libtorture_shim.so");
        ensure!(
            library.exists(),
            "{} does not exist: build torture-shim in the same profile",
            library.display()
        );
        let place = TempDir::new()?;
        let control = place.path().join("control");
        let control = File::options().read(true).write(true).create(true).truncate(true).open(control)?;
        control.set_len(size_of::<Control>() as u64)?;
        Ok(Shim {
            library,
            root: root.canonicalize().with_context(|| root.display().to_string())?,
            place,
            control,
        })
    }

    /// Loads the library into the program that is started next, with a new numbering.
    pub fn attach(&self, command: &mut Command, plan: Option<&Plan>) -> Result<()> {
        self.set(offset_of!(Control, calls), 0)?;
        self.plan(plan)?;
        command.env("LD_PRELOAD", &self.library).env(control::ROOT, &self.root);
        command.env(control::CONTROL, self.place.path().join("control"));
        Ok(())
    }

    /// As [`Shim::attach`], with a journal.
    pub fn record(&self, command: &mut Command) -> Result<()> {
        self.attach(command, None)?;
        command.env(control::JOURNAL, self.journal_path());
        Ok(())
    }

    /// The bytes of the journal.
    pub fn journal(&self) -> Result<Vec<u8>> {
        Ok(fs::read(self.journal_path())?)
    }

    fn journal_path(&self) -> PathBuf {
        self.place.path().join("journal")
    }

    /// Changes what is to happen, also while the program runs.
    pub fn plan(&self, plan: Option<&Plan>) -> Result<()> {
        // Nothing happens while the rest is being changed.
        self.set(offset_of!(Control, action), Action::Nothing as u64)?;
        let Some(plan) = plan else { return Ok(()) };
        self.set(offset_of!(Control, first), *plan.calls.start())?;
        self.set(offset_of!(Control, last), *plan.calls.end())?;
        self.set(offset_of!(Control, kinds), plan.kinds)?;
        self.set(offset_of!(Control, argument), plan.argument)?;
        self.set(offset_of!(Control, action), plan.action as u64)
    }

    /// Calls that have begun since the program was started.
    pub fn calls(&self) -> Result<u64> {
        self.get(offset_of!(Control, calls))
    }

    // The program has the file mapped; Linux shows it what is written here, and the other way round.
    fn set(&self, offset: usize, value: u64) -> Result<()> {
        Ok(self.control.write_all_at(&value.to_ne_bytes(), offset as u64)?)
    }

    fn get(&self, offset: usize) -> Result<u64> {
        let mut value = [0; 8];
        self.control.read_exact_at(&mut value, offset as u64)?;
        Ok(u64::from_ne_bytes(value))
    }
}
