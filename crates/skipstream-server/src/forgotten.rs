//! Words that were forgotten, and must leave no trace.

use serde_json::Value;
use skipstream::phrases::contains;

/// Words that were forgotten.
#[derive(Clone, Debug, Default)]
pub struct Forgotten {
    pub words: Vec<String>,
    /// Whether phrases that contain one of them are forgotten, too.
    pub in_phrases: bool,
}

impl Forgotten {
    /// Whether a word is forgotten.
    pub fn has(&self, word: &str) -> bool {
        self.words.iter().any(|own| own == word || self.in_phrases && contains(word, own))
    }

    /// Whether a JSON text has one of them, apart from the names of fields. A text that is not JSON may have any.
    pub fn is_in(&self, json: &str) -> bool {
        serde_json::from_str(json).map_or(true, |json| self.is_in_value(&json))
    }

    fn is_in_value(&self, json: &Value) -> bool {
        match json {
            Value::String(text) => self.has(text),
            Value::Array(values) => values.iter().any(|value| self.is_in_value(value)),
            Value::Object(fields) => fields.values().any(|value| self.is_in_value(value)),
            _ => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_values_and_phrases_but_not_in_names() {
        let words = vec!["words".to_owned(), "doe".to_owned()];
        let forgotten = Forgotten { words: words.clone(), in_phrases: true };
        for (json, is_in) in [
            (r#"{"words": 7, "list": ["tea"]}"#, false),
            (r#"{"list": ["tea", {"word": "words"}]}"#, true),
            (r#"["john_doe"]"#, true),
            (r#"["doem"]"#, false),
            ("not JSON", true),
        ] {
            assert_eq!(forgotten.is_in(json), is_in, "{json}");
        }
        assert!(!Forgotten { words, in_phrases: false }.is_in(r#"["john_doe"]"#));
    }
}
