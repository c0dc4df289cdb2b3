use std::fs;

use serde_json::json;

use super::*;
use crate::record::Source;
use crate::section::Answer;

fn nothing(_: &Options) -> Result<()> {
    Ok(())
}

const WEIGHT: Experiment = Experiment { name: "weight", measure: nothing, section: weight };
const SIZE: Experiment = Experiment { name: "size", measure: nothing, section: size };

fn weight(folder: &Path) -> Result<Section> {
    let row = fs::read_to_string(folder.join("rows.csv"))?;
    Ok(Section {
        answers: vec![Answer { question: "How heavy is it?".into(), answer: format!("{} kg.", row.trim()) }],
        body: "## Weight\n\n![the weights](weights.svg)\n\n[elsewhere](https://example.org/a.svg) [up](#answers)\n\n".into(),
    })
}

fn size(_: &Path) -> Result<Section> {
    unreachable!("it was never measured")
}

/// A folder of results in which one experiment of two was measured.
fn results() -> tempfile::TempDir {
    let results = tempfile::tempdir().unwrap();
    let folder = results.path().join("weight");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("rows.csv"), "12\n").unwrap();
    fs::write(folder.join("weights.svg"), "").unwrap();
    let source = |name: &str| Source {
        name: name.into(),
        blake3: "0123456789abcdef0123456789abcdef".into(),
        bytes: 6_000,
        lines: 12,
        words: 1_234,
    };
    let manifest = Manifest {
        experiment: "weight".into(),
        quick: true,
        commands: vec!["cargo xtask figures weight --quick".into()],
        commits: vec!["0123456789abcdef0123".into(), "fedcba9876543210ffff with changes".into()],
        dates: vec!["2025-01-02".into()],
        machine: "a scale, 2 cores".into(),
        settings: json!({}),
        sources: vec![source("wiki-2006, 1234 words"), source("sotu")],
    };
    manifest.enter(&folder).unwrap();
    results
}

fn read(results: &tempfile::TempDir) -> Report {
    Report::read(&Found::only_in(results.path()), &[WEIGHT, SIZE])
}

#[test]
fn the_report_is_made_of_the_folders() {
    let report = read(&results()).text();
    let expected = [
        "\n**This is a quick run: everything in small, to see that it works. Its numbers are not results.**\n",
        "```sh\ncargo xtask figures --quick\ncargo xtask figures weight --quick\ncargo xtask figures --draw ",
        "\n## Answers\n\n- **How heavy is it?** 12 kg.\n\n## Weight\n\n![the weights](weight/weights.svg)\n\n\
         [elsewhere](https://example.org/a.svg) [up](#answers)\n\n## How these numbers were made\n",
        "\n| weight | 2025-01-02 | 0123456789ab, fedcba987654 with changes | a scale, 2 cores | \
         `cargo xtask figures weight --quick` | [manifest.json](weight/manifest.json), [rows.csv](weight/rows.csv) |\n",
        "\n| sotu | 1,234 | 12 | 6,000 | `0123456789abcdef` | weight |\n| wiki-2006, 1234 words | 1,234 ",
    ];
    for expected in expected {
        assert!(report.contains(expected), "no {expected:?} in:\n{report}");
    }
}

#[test]
fn a_quick_experiment_among_others_is_named() {
    let results = results();
    let (weight, other) = (results.path().join("weight"), results.path().join("other"));
    fs::create_dir(&other).unwrap();
    for file in ["rows.csv", "weights.svg"] {
        fs::copy(weight.join(file), other.join(file)).unwrap();
    }
    let manifest = Manifest::read(&weight).unwrap();
    Manifest { experiment: "other".into(), quick: false, ..manifest }.enter(&other).unwrap();
    let experiments = [WEIGHT, Experiment { name: "other", ..WEIGHT }];
    let report = Report::read(&Found::only_in(results.path()), &experiments).text();
    assert!(report.contains("\n**A quick run, whose numbers are not results: weight.**\n"), "{report}");
    assert!(report.contains("```sh\ncargo xtask figures\n"), "{report}");
    assert!(report.contains("| `0123456789abcdef` | weight, other |\n"), "{report}");
}

#[test]
fn what_is_missing_is_said() {
    let report = read(&results()).text();
    let expected = "\nWhat is missing:\n\n\
        - The experiment `size` was not run: `cargo xtask figures size` runs it.\n\
        - Texts that no experiment of this run read: wiki-2014, wiki-recent.\n\n## Answers\n";
    assert!(report.contains(expected), "{report}");
}

#[test]
fn a_report_of_nothing_says_so() {
    let nothing = tempfile::tempdir().unwrap();
    let report = read(&nothing).text();
    assert!(report.contains("`weight` was not run") && report.contains("`size` was not run"), "{report}");
    assert!(report.contains("## Answers\n\nNone yet.\n"), "{report}");
}

#[test]
fn every_experiment_has_a_program() {
    for experiment in &EXPERIMENTS {
        let program = root().join("experiments/src/bin").join(experiment.name).with_extension("rs");
        assert!(program.exists(), "there is no {}", program.display());
    }
}

#[test]
fn a_section_that_cannot_be_made_is_said() {
    let results = results();
    fs::remove_file(results.path().join("weight/weights.svg")).unwrap();
    let report = read(&results);
    let text = report.text();
    assert!(text.contains("- The experiment `weight` left rows that no section"), "{text}");
    assert_eq!(report.broken.len(), 1);
    assert_eq!(report.missing, ["size"]);
}

#[test]
fn an_experiment_without_rows_was_not_run() {
    let results = results();
    fs::write(results.path().join("weight/rows.csv"), "").unwrap();
    let report = read(&results);
    assert!(report.broken.is_empty());
    assert_eq!(report.missing, ["weight", "size"]);
}

#[test]
fn a_run_is_continued_in_its_folder() {
    let days = tempfile::tempdir().unwrap();
    fs::rename(results().path(), days.path().join("2025-01-02")).unwrap();
    let found = Found::newest(days.path()).unwrap();
    let report = Report::read(&found, &[WEIGHT]).text();
    let expected = "\ncargo xtask figures --results experiments/results/2025-01-02      # go on";
    assert!(report.contains(expected), "{report}");
}

#[test]
fn a_figure_that_is_not_there_is_named() {
    let results = results();
    fs::remove_file(results.path().join("weight/weights.svg")).unwrap();
    let (name, error) = &read(&results).broken[0];
    assert_eq!(*name, "weight");
    assert!(error.to_string().contains("weights.svg"), "{error}");
}
