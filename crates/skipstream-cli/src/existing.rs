//! `--force`: a file that exists is replaced only if that was asked for.

use std::path::Path;

use anyhow::{Result, bail};
use clap::Args;

/// The argument of commands that write a new file.
#[derive(Clone, Copy, Debug, Args)]
pub struct ForceArgs {
    /// Replace an existing file
    #[arg(long)]
    pub force: bool,
}

impl ForceArgs {
    /// Refuses to replace a file, unless that was asked for. A symlink counts as a file: it is not followed.
    pub fn check(self, file: &Path) -> Result<()> {
        if !self.force && file.symlink_metadata().is_ok() {
            bail!("{}: the file exists; use --force to replace it", file.display());
        }
        Ok(())
    }
}
