//! Rows of a CSV file, written as they are measured.

use std::fs::{File, OpenOptions};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// A growing CSV file. An interrupted run keeps its rows.
pub struct Rows<Row> {
    path: PathBuf,
    rows: Vec<Row>,
    writer: csv::Writer<File>,
}

impl<Row: Serialize + DeserializeOwned> Rows<Row> {
    /// Opens the file and reads its rows.
    pub fn open(path: PathBuf) -> Result<Self> {
        let rows: Vec<Row> = if path.exists() { read_rows(&path)? } else { Vec::new() };
        let file = OpenOptions::new()
            .create(true)
            .append(true)
            .open(&path)
            .with_context(|| format!("could not write {}", path.display()))?;
        let writer = csv::WriterBuilder::new().has_headers(rows.is_empty()).from_writer(file);
        Ok(Self { path, rows, writer })
    }

    /// Appends a row and flushes it.
    pub fn push(&mut self, row: Row) -> Result<()> {
        self.extend(vec![row])
    }

    /// Appends rows and flushes them.
    pub fn extend(&mut self, rows: Vec<Row>) -> Result<()> {
        let context = || format!("could not write {}", self.path.display());
        for row in &rows {
            self.writer.serialize(row).with_context(context)?;
        }
        self.writer.flush().with_context(context)?;
        self.rows.extend(rows);
        Ok(())
    }

    /// All rows so far.
    pub fn rows(&self) -> &[Row] {
        &self.rows
    }
}

fn read_rows<Row: DeserializeOwned>(path: &Path) -> Result<Vec<Row>> {
    let context = || format!("could not read {}", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(context)?;
    reader.deserialize().collect::<Result<_, _>>().with_context(context)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    #[derive(Serialize, Deserialize, Clone, Debug, PartialEq)]
    struct Row {
        name: String,
        value: Option<f64>,
    }

    #[test]
    fn rows_are_kept_from_run_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        let row = |name: &str, value| Row { name: name.into(), value };
        Rows::open(path.clone()).unwrap().push(row("a, b", Some(1.5e-9))).unwrap();
        let mut again: Rows<Row> = Rows::open(path.clone()).unwrap();
        assert_eq!(again.rows(), [row("a, b", Some(1.5e-9))]);
        again.push(row("c", None)).unwrap();
        assert_eq!(read_rows::<Row>(&path).unwrap(), [row("a, b", Some(1.5e-9)), row("c", None)]);
    }

    #[test]
    fn an_empty_file_still_gets_its_header() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rows.csv");
        drop(Rows::<Row>::open(path.clone()).unwrap());
        Rows::open(path.clone()).unwrap().push(Row { name: "a".into(), value: None }).unwrap();
        assert_eq!(std::fs::read_to_string(path).unwrap(), "name,value\na,\n");
    }
}
