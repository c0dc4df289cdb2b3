//! `skipstream analogy`.

use anyhow::Result;
use clap::Args;
use serde::Serialize;
use skipstream::embeddings::{AnalogyRule, Expression, Neighbor};

use crate::Ending;
use crate::args::one_of;
use crate::ask::{self, Answer, AskArgs, CandidateArgs, Shape};
use crate::neighbors::table;

/// Arguments of `analogy`.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    skipstream analogy --model m.safetensors berlin germany paris\n  \
    skipstream analogy --model m.safetensors germany - berlin + paris\n  \
    skipstream analogy --model m.safetensors 'berlin + paris'\n  \
    skipstream analogy --model m.safetensors --rule multiply -n 3 berlin germany paris\n  \
    echo berlin germany paris | skipstream analogy --model m.safetensors --json")]
pub struct AnalogyArgs {
    /// Three words (A is to B as C is to ?), or words with signs: king - man + woman [default: read a question per line from
    /// standard input]
    #[arg(value_name = "WORD", num_args = 0..)]
    pub words: Vec<String>,
    #[command(flatten)]
    pub candidates: CandidateArgs,
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
    /// The question: three words, or an expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    words: Option<[&'a str; 3]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expression: Option<String>,
    rule: AnalogyRule,
    /// Best first.
    answers: Vec<Neighbor<'a>>,
}

/// Answers each question.
pub fn run(args: AnalogyArgs) -> Result<Ending> {
    let AnalogyArgs { candidates, rule, .. } = &args;
    let score = match rule {
        AnalogyRule::Add => "similarity",
        AnalogyRule::Multiply => "score",
    };
    let form = "A B C: A is to B as C is to ?; or an expression such as king - man + woman";
    let shape = Shape { least: 3, most: Some(3), form, expressions: true };
    ask::run(&args.ask, &args.words, shape, |embeddings, words| {
        let (title, triple, expression) = match *words {
            [a, b, c] if !Expression::is_meant_by(words) => {
                (format!("{a} is to {b} as {c} is to"), Some([a, b, c]), Expression::analogy(a, b, c))
            }
            _ => {
                let expression: Expression = words.join(" ").parse()?;
                (expression.to_string(), None, expression)
            }
        };
        let mut query = expression.query(embeddings, candidates.number, *rule)?;
        query.rows = candidates.rows(embeddings)?;
        let answers = embeddings.search(&query)?;
        let text = table(&title, score, &answers);
        let expression = triple.is_none().then_some(title);
        Ok(Answer::new(text, &Report { words: triple, expression, rule: *rule, answers }))
    })
}
