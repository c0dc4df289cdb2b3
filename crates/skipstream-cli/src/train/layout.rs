//! The format of the files: text, or records with a field of text.

use std::path::Path;

use anyhow::{Result, anyhow};
use clap::Args;
use skipstream::corpus::{BadRecords, FileFormat, Layout, LayoutError, LayoutRequest};

use crate::args::one_of;

/// The flags that describe the files.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Text")]
pub struct TextArgs {
    /// Format of the files; all but `text` need --field [default: text]
    ///
    /// `jsonl` is one JSON object per line, `csv` and `tsv` are tables whose first row names the columns (`tsv` has no
    /// quoting), `parquet` is Apache Parquet. All but `parquet` can be compressed, or read from a pipe.
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<FileFormat>(&["text", "jsonl", "csv", "tsv", "parquet"]))]
    pub format: Option<FileFormat>,
    /// Field or column with the text: one or more lines, each a sentence
    ///
    /// `user.text` is the field `text` in the object `user`. In a table, it can be the number of a column.
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// What to do with a record without such a field [default: error]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<BadRecords>(&["error", "skip"]))]
    pub bad_records: Option<BadRecords>,
}

impl TextArgs {
    /// The layout of the files, or what to add to the command.
    pub fn layout<'a>(self, files: impl IntoIterator<Item = &'a Path>) -> Result<Layout> {
        let TextArgs { format, field, bad_records } = self;
        LayoutRequest { format, field, bad_records }.of_files(files).map_err(|unclear| match unclear {
            LayoutError::NoRecords => anyhow!(
                "--field and --bad-records need --format jsonl, csv, tsv or parquet: text has no records"
            ),
            LayoutError::NamedAsRecords { path, format } => anyhow!(
                "{}: the name suggests {format}; pass `--format {format} --field NAME` to read a \
                 field, or `--format text` to read all of it",
                path.display()
            ),
            LayoutError::NoField { format } => {
                anyhow!("--format {format} needs --field NAME, the field with the text")
            }
        })
    }
}
