//! `skipstream analogy`.

use std::fmt;

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::Embeddings;
use skipstream::embeddings::{AnalogyRule, Neighbor};

use crate::Ending;
use crate::args::one_of;
use crate::ask::{self, AskArgs, Query, Shape};
use crate::neighbors::table;

/// Arguments of `analogy`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream analogy --model m.safetensors berlin germany paris\n  \
    skipstream analogy --model m.safetensors --rule multiply -n 3 berlin germany paris\n  \
    echo berlin germany paris | skipstream analogy --model m.safetensors --json")]
pub struct AnalogyArgs {
    /// Three words [default: read three per line from standard input]
    #[arg(value_name = "A B C", num_args = 0..)]
    pub words: Vec<String>,
    /// Number of answers per question
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10)]
    pub number: usize,
    /// Scoring rule: `add` is 3CosAdd, the word nearest to B − A + C; `multiply` is 3CosMul, the word with the highest
    /// cos(B) · cos(C) / cos(A)
    #[arg(long, value_name = "RULE", default_value = "add", value_parser = one_of::<AnalogyRule>(&["add", "multiply"]))]
    pub rule: AnalogyRule,
    #[command(flatten)]
    pub ask: AskArgs,
}

/// Answers each question.
pub fn run(args: AnalogyArgs) -> Result<Ending> {
    let AnalogyArgs { number, rule, .. } = args;
    ask::run(&args.ask, &args.words, |embeddings| Analogies { embeddings, number, rule })
}

struct Analogies {
    embeddings: Embeddings,
    number: usize,
    rule: AnalogyRule,
}

#[derive(Serialize)]
struct Answer<'a> {
    words: [&'a str; 3],
    rule: AnalogyRule,
    /// The best first.
    answers: Vec<Neighbor<'a>>,
}

impl Query for Analogies {
    type Answer<'a> = Answer<'a>;

    const SHAPE: Shape = Shape { least: 3, most: Some(3), form: "A B C: A is to B as C is to ?" };

    fn embeddings(&self) -> &Embeddings {
        &self.embeddings
    }

    fn answer<'a>(&'a self, words: &[&'a str]) -> skipstream::Result<Answer<'a>> {
        let [a, b, c] = [words[0], words[1], words[2]];
        let answers = self.embeddings.analogy(a, b, c, self.number, self.rule)?;
        Ok(Answer { words: [a, b, c], rule: self.rule, answers })
    }
}

impl fmt::Display for Answer<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c] = self.words;
        let score = match self.rule {
            AnalogyRule::Add => "similarity",
            AnalogyRule::Multiply => "score",
        };
        formatter.write_str(&table(&format!("{a} is to {b} as {c} is to"), score, &self.answers))
    }
}
