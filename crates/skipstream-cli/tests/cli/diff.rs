//! `diff`: what changed between two snapshots, as text, as JSON and as a page.

use serde_json::Value;

use crate::desk::{Desk, assert_refused, text};

/// Two snapshots of a model. Before the second, `bread` moves to the stars, and a word that is markup comes.
fn snapshots() -> Desk {
    let desk = Desk::new();
    desk.write("a.txt", with_fewer_names(&text(120_000, 1)));
    desk.train("old", &["a.txt"]);
    std::fs::copy(desk.path("old"), desk.path("new")).unwrap();
    let swapped = with_fewer_names(&text(120_000, 2))
        .replace("bread", "BREAD")
        .replace("comet", "bread")
        .replace("BREAD", "comet");
    desk.write("b.txt", swapped + &"<script>alert(1)</script> & \"quoted\" moon\n".repeat(30));
    desk.train("new", &["b.txt"]);
    desk
}

/// So that each of them occurs often enough to be compared.
fn with_fewer_names(text: &str) -> String {
    let renamed = text.lines().map(|line| {
        let (words, number) = line.rsplit_once("name").unwrap();
        format!("{words}name{}\n", number.parse::<u32>().unwrap() % 60)
    });
    renamed.collect()
}

fn json(desk: &Desk, args: &[&str]) -> Value {
    let answer = desk.run(&[&["diff", "--json"], args].concat());
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), ""), "{answer:?}");
    serde_json::from_str(&answer.out).unwrap()
}

#[test]
fn words_that_changed_their_company_come_first() {
    let desk = snapshots();
    for vectors in ["joined", "sum"] {
        let found = json(&desk, &["--vectors", vectors, "old", "new"]);
        let moved = found["moved"].as_array().unwrap();
        let mut first: Vec<&str> = moved[..2].iter().map(|word| word["word"].as_str().unwrap()).collect();
        first.sort_unstable();
        assert_eq!(first, ["bread", "comet"], "{vectors}");
        assert!(
            moved[1]["surprise"].as_f64().unwrap() > moved[2]["surprise"].as_f64().unwrap() + 1.0,
            "{moved:?}"
        );
    }
    let found = json(&desk, &["old", "new"]);
    let moved = found["moved"].as_array().unwrap();
    assert_eq!(moved[0]["neighbors_before"].as_array().unwrap().len(), 10);
    let came: Vec<&str> =
        found["came"]["words"].as_array().unwrap().iter().map(|word| word[0].as_str().unwrap()).collect();
    assert!(came.contains(&"<script>alert(1)</script>"), "{came:?}");

    let answer = desk.run(&["diff", "-n", "3", "old", "new"]);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    for part in [
        "old       old: ",
        "shared    ",
        "\nmoved most ",
        "nearest before → after",
        "\narrived   ",
        "\nleft      ",
    ] {
        assert!(answer.out.contains(part), "no `{part}` in {}", answer.out);
    }
    let limited = json(&desk, &["--top", "60", "-n", "2", "--min-count", "10", "old", "new"]);
    assert_eq!((&limited["considered"], limited["moved"].as_array().unwrap().len()), (&60.into(), 2));
}

#[test]
fn a_comparison_that_says_little_is_called_so() {
    let desk = snapshots();
    desk.write("line.txt", "bread and moon\n");
    std::fs::copy(desk.path("old"), desk.path("hardly")).unwrap();
    desk.train("hardly", &["line.txt"]);
    desk.train("other", &["--seed", "9", "a.txt"]);
    for (old, new, warning) in [
        ("old", "hardly", "too few to tell movement from chance"),
        ("new", "old", "the two may have been swapped"),
        ("old", "other", "two states of one model"),
    ] {
        let answer = desk.run(&["diff", "--html", "page.html", "--force", old, new]);
        assert!(
            answer.out.contains("\nwarning   ") && answer.out.contains(warning),
            "{old} {new}: {answer:?}"
        );
        assert!(String::from_utf8(desk.bytes("page.html")).unwrap().contains(warning));
    }
    let answer = desk.run(&["diff", "old", "hardly"]);
    assert!(!answer.out.contains("moved most") && !answer.out.contains("No word moved"), "{answer:?}");
    let found = json(&desk, &["old", "hardly"]);
    assert_eq!(
        (&found["warnings"][0], found["moved"].as_array().unwrap().len()),
        (&"too-little-text".into(), 0)
    );
}

#[test]
fn a_snapshot_beside_itself_has_not_changed() {
    let desk = snapshots();
    let answer = desk.run(&["diff", "old", "old"]);
    assert_eq!(answer.code, Some(0));
    for part in
        ["median cosine 1.0000", "moved     0 above the noise floor", "No word moved.", "arrived   0 words\n"]
    {
        assert!(answer.out.contains(part), "no `{part}` in {}", answer.out);
    }
}

/// Every element is closed in its order. Enough of a parser for a page that is written by a program.
fn assert_well_formed(page: &str) {
    let mut open: Vec<&str> = Vec::new();
    for piece in page.split('<').skip(1) {
        let (tag, _) = piece.split_once('>').expect("a tag has an end");
        let name = tag.split([' ', '\n']).next().unwrap();
        if let Some(name) = name.strip_prefix('/') {
            assert_eq!(open.pop(), Some(name), "{tag}");
        } else if !tag.ends_with('/') && !name.starts_with('!') {
            open.push(name);
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn the_page_is_whole_needs_nothing_else_and_runs_nothing() {
    let desk = snapshots();
    let answer = desk.run(&["diff", "--html", "report.html", "-n", "300", "--min-count", "1", "old", "new"]);
    assert_eq!((answer.code, answer.err.as_str()), (Some(0), "report.html: written\n"));
    let page = String::from_utf8(desk.bytes("report.html")).unwrap();
    assert_well_formed(&page);
    for part in [
        "<!doctype html>",
        "<svg ",
        "class=\"floor\"",
        "<title>bread: distance ",
        "prefers-color-scheme: dark",
    ] {
        assert!(page.contains(part), "no `{part}`");
    }
    // No script, no style, image or font from elsewhere, and no link.
    for part in ["<script", "http:", "https:", "src=", "href=", "url(", "@import", "onload"] {
        assert!(!page.contains(part), "`{part}` in the page");
    }
    assert!(page.contains("&lt;script&gt;alert(1)&lt;/script&gt;") && page.contains("&quot;quoted&quot;"));
}

#[test]
fn what_cannot_be_compared_is_refused() {
    let desk = snapshots();
    assert_eq!(
        desk.run(&["train", "--model", "small", "--dimensions", "8", "--quiet", "a.txt"]).code,
        Some(0)
    );
    assert_refused(
        &desk.run(&["diff", "old", "small"]),
        &["old and small: the old vectors have 16 dimensions and the new ones 8"],
    );
    assert_refused(&desk.run(&["diff", "old", "absent"]), &["absent: No such file"]);
    assert_refused(&desk.run(&["diff", "old"]), &["required arguments were not provided"]);
    assert_refused(
        &desk.run(&["diff", "--html", "no/folder/report.html", "old", "new"]),
        &["no/folder", "No such file"],
    );
}
