//! What the attacks have shown.

use anyhow::{Result, ensure};

/// Prints a line per check, and counts the promises that were broken.
#[derive(Default)]
pub struct Report {
    checks: usize,
    broken: usize,
}

impl Report {
    /// Prints whether a promise was kept under an attack, and what was seen.
    pub fn check(&mut self, attack: &str, kept: bool, seen: impl std::fmt::Display) {
        self.checks += 1;
        self.broken += usize::from(!kept);
        println!("{} {attack}: {seen}", if kept { "pass" } else { "FAIL" });
    }

    /// Prints what an attack has shown, or which promise it broke.
    pub fn outcome<T>(&mut self, attack: &str, outcome: Result<T>, seen: impl FnOnce(T) -> String) {
        match outcome {
            Ok(outcome) => self.check(attack, true, seen(outcome)),
            Err(error) => self.check(attack, false, format_args!("{error:#}")),
        }
    }

    /// Fails if a promise was broken, or if nothing was checked.
    pub fn end(self) -> Result<()> {
        ensure!(self.checks > 0, "nothing was checked");
        ensure!(self.broken == 0, "{} of {} checks failed", self.broken, self.checks);
        println!("{} checks passed", self.checks);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_broken_promise_and_an_empty_report_are_failures() {
        let mut report = Report::default();
        report.check("kill", true, "whole");
        assert!(report.end().is_ok());
        let mut report = Report::default();
        report.check("kill", true, "whole");
        report.check("kill", false, "lost");
        assert_eq!(report.end().unwrap_err().to_string(), "1 of 2 checks failed");
        assert!(Report::default().end().is_err());
    }
}
