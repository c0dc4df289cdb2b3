//! What the files of a run are: text, or records with a field of text.

use std::path::Path;

use anyhow::{Result, bail};
use clap::{Args, ValueEnum};
use skipstream::corpus::{BadRecords, Layout, RecordField, RecordFormat};

use crate::args::one_of;

/// What was typed about the files of this run.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Text")]
pub struct TextArgs {
    /// What the files are; all but `text` need --field [default: text]
    ///
    /// `jsonl` is a JSON object a line, `csv` and `tsv` are tables whose first row names the columns (in `tsv` nothing is
    /// quoted), `parquet` is Apache Parquet. All but `parquet` may be compressed, or come from a pipe.
    #[arg(long, value_name = "FORMAT")]
    pub format: Option<Format>,
    /// The field or column that is text, of one or more lines, each a sentence
    ///
    /// `user.text` is the field `text` in the object `user`. Of a table, it may be the number of a column.
    #[arg(long, value_name = "NAME")]
    pub field: Option<String>,
    /// What becomes of a record without such a field [default: error]
    #[arg(long, value_name = "POLICY", value_parser = one_of::<BadRecords>(&["error", "skip"]))]
    pub bad_records: Option<BadRecords>,
}

/// What a file is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Text.
    Text,
    /// JSON lines.
    Jsonl,
    /// Values between commas.
    Csv,
    /// Values between tabs.
    Tsv,
    /// Parquet.
    Parquet,
}

impl TextArgs {
    /// What the files are. A name that says something else than text is asked about: nobody wants the syntax of JSON
    /// among their words.
    pub fn layout<'a>(self, files: impl IntoIterator<Item = &'a Path>) -> Result<Layout> {
        let format = match self.format {
            Some(Format::Jsonl) => RecordFormat::Jsonl,
            Some(Format::Csv) => RecordFormat::Csv,
            Some(Format::Tsv) => RecordFormat::Tsv,
            Some(Format::Parquet) => RecordFormat::Parquet,
            Some(Format::Text) | None => {
                if self.field.is_some() || self.bad_records.is_some() {
                    bail!(
                        "--field and --bad-records need --format jsonl, csv, tsv or parquet: text has no records"
                    );
                }
                let named = |path: &'a Path| Some((path, RecordFormat::by_name(path)?));
                let named = files.into_iter().filter(|_| self.format.is_none()).find_map(named);
                if let Some((path, format)) = named {
                    bail!(
                        "{}: by its name this is {format}; say which field is text with \
                         `--format {format} --field NAME`, or that all of it is, with `--format text`",
                        path.display()
                    );
                }
                return Ok(Layout::Text);
            }
        };
        let Some(field) = self.field else {
            bail!("--format {format} needs --field NAME: which field is text?");
        };
        let field = RecordField { format, field };
        Ok(Layout::Records { field, bad_records: self.bad_records.unwrap_or_default() })
    }
}
