//! Rows of a CSV file, written as they are measured.

use std::fs::{File, OpenOptions};
use std::path::PathBuf;

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A growing CSV file. An interrupted run keeps its rows, and needs only their keys to resume: the columns that say what
/// was measured.
pub struct Rows<Key> {
    path: PathBuf,
    keys: Vec<Key>,
    writer: csv::Writer<File>,
}

impl<Key: DeserializeOwned + PartialEq> Rows<Key> {
    /// Opens the file and reads the keys of its rows.
    pub fn open(path: PathBuf) -> Result<Self> {
        let context = || format!("could not open {}", path.display());
        let file =
            OpenOptions::new().create(true).append(true).read(true).open(&path).with_context(context)?;
        let keys: Vec<Key> =
            csv::Reader::from_reader(&file).deserialize().collect::<Result<_, _>>().with_context(context)?;
        let writer = csv::WriterBuilder::new().has_headers(keys.is_empty()).from_writer(file);
        Ok(Self { path, keys, writer })
    }

    /// Whether there are rows of this key.
    pub fn contains(&self, key: &Key) -> bool {
        self.keys.contains(key)
    }

    /// Appends the rows of a key and flushes them. A row is a struct or a tuple of structs.
    pub fn push(&mut self, key: Key, rows: impl IntoIterator<Item = impl Serialize>) -> Result<()> {
        let context = || format!("could not write {}", self.path.display());
        for row in rows {
            self.writer.serialize(row).with_context(context)?;
        }
        self.writer.flush().with_context(context)?;
        self.keys.push(key);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
    struct Name {
        name: String,
    }

    #[derive(Serialize)]
    struct Value {
        value: Option<f64>,
    }

    fn name(name: &str) -> Name {
        Name { name: name.into() }
    }

    #[test]
    fn rows_are_kept_from_run_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let mut rows = Rows::open(path.clone()).unwrap();
        rows.push(name("a, b"), [(name("a, b"), Value { value: Some(1.5e-9) })]).unwrap();
        drop(rows);
        let mut again: Rows<Name> = Rows::open(path.clone()).unwrap();
        assert!(again.contains(&name("a, b")) && !again.contains(&name("c")));
        again.push(name("c"), [(name("c"), Value { value: None })]).unwrap();
        assert!(again.contains(&name("c")));
        assert_eq!(fs::read_to_string(&path).unwrap(), "name,value\n\"a, b\",1.5e-9\nc,\n");
    }

    #[test]
    fn an_empty_file_still_gets_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        drop(Rows::<Name>::open(path.clone()).unwrap());
        Rows::open(path.clone()).unwrap().push(name("a"), [name("a")]).unwrap();
        assert_eq!(fs::read_to_string(path).unwrap(), "name\na\n");
    }
}
