//! `REPORT.md`: its text is written by hand, its tables are generated. Every number in the conclusions must be in the
//! table that they point to.

// Clippy sees a test only in what is marked as one, not in the functions that tests call.
#![allow(clippy::unwrap_used)]

use std::collections::{HashMap, HashSet};
use std::fs;
use std::path::Path;

use regex::Regex;

/// The body of each section, by the anchor of its heading.
fn sections(report: &str) -> HashMap<String, String> {
    let mut sections = HashMap::new();
    let mut anchor = String::new();
    for line in report.lines() {
        if line.starts_with('#') {
            let title = line.trim_start_matches('#').trim().to_lowercase().replace(' ', "-");
            anchor = title.chars().filter(|letter| letter.is_alphanumeric() || *letter == '-').collect();
        }
        let body: &mut String = sections.entry(anchor.clone()).or_default();
        body.push_str(line);
        body.push('\n');
    }
    sections
}

/// The numbers in a text, without those that are part of a name.
fn numbers(text: &str) -> Vec<String> {
    let names =
        Regex::new(r"WS353|SimLex-999|word2vec|(Theorem|Algorithm) [0-9]|exponent [0-9.]+|1/n|at 5 %")
            .unwrap();
    let number = Regex::new(r"[0-9]+(,[0-9]{3})*(\.[0-9]+)?").unwrap();
    let text = names.replace_all(text, "");
    number.find_iter(&text).map(|number| number.as_str().to_owned()).collect()
}

fn table_numbers(section: &str) -> HashSet<String> {
    let tables: Vec<&str> = section.lines().filter(|line| line.starts_with('|')).collect();
    numbers(&tables.join("\n")).into_iter().collect()
}

/// The numbers of the conclusions that are not in their tables.
fn unsupported(report: &str) -> Vec<String> {
    let sections = sections(report);
    let link = Regex::new(r"\[[^\]]*\]\(#([^)]*)\)").unwrap();
    let mut found = Vec::new();
    for paragraph in sections["answers"].split("\n\n") {
        let mut start = 0;
        for pointer in link.captures_iter(paragraph) {
            let (place, anchor) = (pointer.get(0).unwrap(), &pointer[1]);
            let section = sections.get(anchor).unwrap_or_else(|| panic!("no section #{anchor}"));
            let known = table_numbers(section);
            let used = numbers(&paragraph[start..place.start()]);
            found.extend(used.into_iter().filter(|number| !known.contains(number)));
            start = place.end();
        }
        // A number after the last link points nowhere.
        found.extend(numbers(&paragraph[start..]));
    }
    for section in sections.values() {
        let known = table_numbers(section);
        for result in section.split("\n\n").filter(|paragraph| paragraph.starts_with("**Result.**")) {
            found.extend(numbers(result).into_iter().filter(|number| !known.contains(number)));
        }
    }
    found
}

fn report() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("REPORT.md")).unwrap()
}

#[test]
fn every_number_in_the_conclusions_is_in_its_table() {
    assert_eq!(unsupported(&report()), Vec::<String>::new());
}

#[test]
fn a_number_that_is_not_in_its_table_is_found() {
    let report = "# R\n\n## Answers\n\nIt is 2.5 times ([a](#a)), or 3 ([a](#a)). And 4.\n\n## A\n\n| x |\n| 2.5 |\n\n**Result.** 7.\n";
    assert_eq!(unsupported(report), ["3", "4", "7"]);
}

#[test]
fn every_table_was_generated_and_every_figure_exists() {
    let report = report();
    assert!(!report.contains("-->\n<!-- end -->"), "a table is empty: cargo xtask figures --draw");
    let figures = Regex::new(r"!\[[^\]]*\]\(([^)]*)\)").unwrap();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let missing: Vec<&str> = figures
        .captures_iter(&report)
        .map(|figure| figure.extract::<1>().1[0])
        .filter(|path| !folder.join(path).exists())
        .collect();
    assert_eq!(missing, Vec::<&str>::new());
}
