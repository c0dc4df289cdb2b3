//! What the files of a run are: text, or records with a field of text.

use std::path::Path;

use anyhow::{Result, anyhow};
use clap::Args;
use skipstream::corpus::{AskedLayout, BadRecords, FileFormat, Layout, UnclearLayout};

use crate::args::one_of;

/// What was typed about the files of this run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Text")]
pub struct TextArgs {
    /// What the files are; all but `text` need --field [default: text]
    ///
    /// `jsonl` is a JSON object a line, `csv` and `tsv` are tables whose first row names the columns (in `tsv` nothing is
    /// quoted), `parquet` is Apache Parquet. All but `parquet` may be compressed, or come from a pipe.
    #[arg(long, value_name = "FORMAT", value_parser = one_of::<FileFormat>(&["text", "jsonl", "csv", "tsv", "parquet"]))]
    pub format: Option<FileFormat>,
    /// The field or column that is text, of one or more lines, each a sentence
    ///
    /// `user.text` is the field `text` in the object `user`. Of a table, it may be the number of a column.
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// What becomes of a record without such a field [default: error]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<BadRecords>(&["error", "skip"]))]
    pub bad_records: Option<BadRecords>,
}

impl TextArgs {
    /// What the files are, or how to say it.
    pub fn layout<'a>(self, files: impl IntoIterator<Item = &'a Path>) -> Result<Layout> {
        let TextArgs { format, field, bad_records } = self;
        AskedLayout { format, field, bad_records }.of_files(files).map_err(|unclear| match unclear {
            UnclearLayout::NoRecords => anyhow!(
                "--field and --bad-records need --format jsonl, csv, tsv or parquet: text has no records"
            ),
            UnclearLayout::NamedAsRecords { path, format } => anyhow!(
                "{}: by its name this is {format}; say which field is text with \
                 `--format {format} --field NAME`, or that all of it is, with `--format text`",
                path.display()
            ),
            UnclearLayout::NoField { format } => {
                anyhow!("--format {format} needs --field NAME: which field is text?")
            }
        })
    }
}
