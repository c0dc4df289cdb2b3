//! The lines of a test set, and their columns.

/// The lines that are neither blank nor comments (`# …`), with their numbers from 1.
pub(super) fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = text.lines().enumerate().map(|(index, line)| (index + 1, line));
    lines.filter(|(_, line)| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
}

/// The columns of a line: separated by tabs or, if there is none, by semicolons, commas or white space.
pub(super) fn fields(line: &str) -> Vec<&str> {
    for separator in ['\t', ';', ','] {
        if line.contains(separator) {
            return line.split(separator).map(str::trim).collect();
        }
    }
    line.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_strongest_separator_of_a_line_counts() {
        let expected = ["ice cream", "dessert", "9.5"];
        for line in ["ice cream\tdessert\t9.5", "ice cream;dessert;9.5", "ice cream, dessert, 9.5"] {
            assert_eq!(fields(line), expected);
        }
        assert_eq!(fields(" tiger  cat 7.35 "), ["tiger", "cat", "7.35"]);
        assert_eq!(fields("1,5\t2\t3"), ["1,5", "2", "3"]);
    }
}
