//! Pieces of Markdown.

use crate::statistics::Spread;

/// A table: the first column to the left, the others to the right.
pub fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(|&cell| cell.into()).collect();
    let rule = vec!["--:"; head.len().saturating_sub(1)].join("|");
    let mut text = line(&head) + "|---|" + &rule + if rule.is_empty() { "\n" } else { "|\n" };
    for row in rows {
        debug_assert_eq!(row.len(), head.len());
        text += &line(&row);
    }
    text
}

/// `mean ± deviation`; of a single value the value, of none a dash.
pub fn spread(values: Option<Spread>, decimals: usize) -> String {
    match values {
        None => "–".into(),
        Some(Spread { n: 1, mean, .. }) => format!("{mean:.decimals$}"),
        Some(Spread { mean, deviation, .. }) => format!("{mean:.decimals$} ± {deviation:.decimals$}"),
    }
}

/// `a`, `a and b`, `a, b and c`.
pub fn listed(items: &[String]) -> String {
    match items {
        [] => String::new(),
        [one] => one.clone(),
        [some @ .., last] => format!("{} and {last}", some.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_has_a_rule_below_its_head() {
        let rows = [vec!["a".into(), "1".into(), "2".into()]];
        assert_eq!(table(&["name", "x", "y"], rows), "| name | x | y |\n|---|--:|--:|\n| a | 1 | 2 |\n");
        assert_eq!(table(&["name"], [vec!["a".into()]]), "| name |\n|---|\n| a |\n");
    }

    #[test]
    fn a_spread_is_shown_as_far_as_there_is_one() {
        assert_eq!(spread(None, 1), "–");
        assert_eq!(spread(Spread::of(&[61.25]), 1), "61.2");
        assert_eq!(spread(Spread::of(&[1.0, 2.0, 3.0]), 1), "2.0 ± 1.0");
    }

    #[test]
    fn a_list_reads_like_a_sentence() {
        let listed = |items: &[&str]| listed(&items.iter().map(|&item| item.into()).collect::<Vec<_>>());
        assert_eq!(listed(&[]), "");
        assert_eq!(listed(&["a"]), "a");
        assert_eq!(listed(&["a", "b", "c"]), "a, b and c");
    }
}
