//! `train --source` in a program that was built without brokers.

use anyhow::{Result, bail};
use skipstream::corpus::{Ledger, Read, Sentence, Source, TextOptions, TextReport};

/// There are none.
pub enum Messages {}

impl Messages {
    pub const MAX_BYTES: u64 = 0;

    pub fn check(urls: &[String]) -> Result<()> {
        if !urls.is_empty() {
            bail!("--source needs a program that was built with the cargo feature `brokers`");
        }
        Ok(())
    }

    pub fn start(_: &str, _: &Ledger, _: &TextOptions) -> Result<Messages> {
        unreachable!("URLs were refused")
    }

    pub fn record_position(&mut self, _: &mut Ledger) {
        match *self {}
    }

    pub fn report(&self) -> TextReport {
        match *self {}
    }

    pub fn invalid(&self) -> (&str, u64) {
        match *self {}
    }

    pub fn take_problem(&mut self) -> Option<String> {
        match *self {}
    }
}

impl Source for Messages {
    fn read(&mut self, _: &mut Sentence) -> skipstream::Result<Read> {
        match *self {}
    }
}
