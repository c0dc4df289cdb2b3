//! Where texts and test sets come from: a folder, or package registries.

pub mod enwik8;
mod excerpt;
mod wikitext;

use std::path::PathBuf;

use anyhow::{Result, bail};

pub use excerpt::Text;

use crate::options::Options;
use crate::record::work_folder;

/// A text of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    /// The beginning of the English Wikipedia of 2006, in lines of 1,000 words.
    Wiki2006,
    /// Articles of the English Wikipedia of 2014, one paragraph a line.
    Wiki2014,
    /// Recent short articles, one paragraph a line.
    WikiRecent,
    /// The State of the Union addresses, in the order of their years.
    Sotu,
}

/// Texts and test sets.
pub struct Data {
    folder: Option<PathBuf>,
    fetched: PathBuf,
}

impl Data {
    /// From the folder that was named, and the registries.
    pub fn new(options: &Options) -> Result<Self> {
        Ok(Self { folder: options.data.clone(), fetched: work_folder()?.join("data") })
    }

    /// The file of a text, compressed or not.
    pub fn corpus(&self, corpus: Corpus) -> Result<PathBuf> {
        if let Some(path) = self.found(corpus.file()) {
            return Ok(path);
        }
        match corpus {
            Corpus::Wiki2006 => enwik8::prepare(&self.fetched),
            _ => bail!("{} is not in the folder of --data, and no package registry has it", corpus.file()),
        }
    }

    /// The folder with `ws353.tsv`, `men.tsv`, `simlex999.tsv`, `msr.txt` and `google.txt`.
    pub fn test_sets(&self) -> Result<PathBuf> {
        match self.found("eval") {
            Some(folder) => Ok(folder),
            None => bail!("there is no eval/ in the folder of --data"),
        }
    }

    fn found(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists())
    }
}

impl Corpus {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Wiki2006, Self::Wiki2014, Self::WikiRecent, Self::Sotu];

    /// The name in manifests and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wiki2006 => "wiki-2006",
            Self::Wiki2014 => "wiki-2014",
            Self::WikiRecent => "wiki-recent",
            Self::Sotu => "sotu",
        }
    }

    fn file(self) -> &'static str {
        match self {
            Self::Wiki2006 => "corpora/wiki-2006.txt.zst",
            Self::Wiki2014 => "corpora/wiki-2014.txt.zst",
            Self::WikiRecent => "corpora/wiki-recent.txt.zst",
            Self::Sotu => "stream/sotu.tsv.gz",
        }
    }
}
