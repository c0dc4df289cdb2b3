//! `skipstream analogy`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::embeddings::{AnalogyRule, Neighbor};

use crate::Ending;
use crate::args::one_of;
use crate::ask::{self, Answer, AskArgs, Shape};
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

/// An answer in JSON.
#[derive(Serialize)]
struct Report<'a> {
    words: [&'a str; 3],
    rule: AnalogyRule,
    /// Best first.
    answers: Vec<Neighbor<'a>>,
}

/// Answers each question.
pub fn run(args: AnalogyArgs) -> Result<Ending> {
    let AnalogyArgs { number, rule, .. } = args;
    let score = match rule {
        AnalogyRule::Add => "similarity",
        AnalogyRule::Multiply => "score",
    };
    let shape = Shape { least: 3, most: Some(3), form: "A B C: A is to B as C is to ?" };
    ask::run(&args.ask, &args.words, shape, |embeddings, words| {
        let [a, b, c] = [words[0], words[1], words[2]];
        let answers = embeddings.analogy(a, b, c, number, rule)?;
        let text = table(&format!("{a} is to {b} as {c} is to"), score, &answers);
        Ok(Answer::new(text, &Report { words: [a, b, c], rule, answers }))
    })
}
