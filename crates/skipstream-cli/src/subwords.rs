//! Vectors for unknown words, from their character n-grams.

use anyhow::{Result, bail};
use clap::Args;
use skipstream::Embeddings;
use skipstream::embeddings::{SubwordOptions, Subwords};

/// Whether and how words are estimated.
#[derive(Debug, Args)]
pub struct SubwordArgs {
    /// Estimate unknown and rare words from their character n-grams
    ///
    /// An unknown word gets a vector that is estimated from its spelling. The vector of a word with fewer than 1,000
    /// occurrences is blended with its estimate. Answers say which words were estimated. The n-grams are fitted to the
    /// vectors once at the start, which takes a second or two per 100,000 words.
    #[arg(long)]
    pub subwords: bool,
    /// Rows of the table of n-grams; more are better and slower [default: 200000]
    #[arg(long, value_name = "N")]
    pub subword_buckets: Option<usize>,
    /// Characters of the shortest n-grams [default: 3]
    #[arg(long, value_name = "N")]
    pub subword_min: Option<usize>,
    /// Characters of the longest n-grams [default: 6]
    #[arg(long, value_name = "N")]
    pub subword_max: Option<usize>,
}

impl SubwordArgs {
    /// Fits a table, if words are to be estimated.
    pub fn fit(&self, embeddings: &Embeddings) -> Result<Option<Subwords>> {
        self.check()?;
        Ok(if self.subwords { Some(self.table(embeddings)?) } else { None })
    }

    /// Refuses options of a table that nobody asked for.
    pub fn check(&self) -> Result<()> {
        let given = [self.subword_buckets, self.subword_min, self.subword_max];
        if !self.subwords && given.iter().any(Option::is_some) {
            bail!("--subword-buckets, --subword-min and --subword-max need --subwords");
        }
        Ok(())
    }

    /// Fits a table.
    pub fn table(&self, embeddings: &Embeddings) -> Result<Subwords> {
        let SubwordOptions { buckets, min, max } = SubwordOptions::default();
        let options = SubwordOptions {
            buckets: self.subword_buckets.unwrap_or(buckets),
            min: self.subword_min.unwrap_or(min),
            max: self.subword_max.unwrap_or(max),
        };
        Ok(Subwords::fit(embeddings, &options, None)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_in_the_help_are_those_of_the_library() {
        let SubwordOptions { buckets, min, max } = SubwordOptions::default();
        let command = SubwordArgs::augment_args(clap::Command::new("x"));
        for (name, default) in [("subword-buckets", buckets), ("subword-min", min), ("subword-max", max)] {
            let argument =
                command.get_arguments().find(|argument| argument.get_long() == Some(name)).unwrap();
            let help = argument.get_help().unwrap().to_string();
            assert!(help.ends_with(&format!("[default: {default}]")), "{help}");
        }
    }
}
