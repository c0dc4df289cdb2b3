//! The columns of a line of a test set, whatever separates them.

/// No line of a test set is longer than this, in bytes.
pub(super) const MAX_LINE_BYTES: usize = 1 << 16;

/// The columns of a line: separated by tabs; or, where there is none, by semicolons, commas or white space.
pub(super) fn fields(line: &str) -> Vec<&str> {
    for separator in ['\t', ';', ','] {
        if line.contains(separator) {
            return line.split(separator).map(str::trim).collect();
        }
    }
    line.split_whitespace().collect()
}

/// Whether a line says nothing: `# …`.
pub(super) fn is_comment(line: &str) -> bool {
    line.trim_start().starts_with('#')
}

/// The mark that some editors put at the start of a file is no part of its first word.
pub(super) fn without_byte_order_mark(line: &str) -> &str {
    line.strip_prefix('\u{feff}').unwrap_or(line)
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
