//! How many words a question has.

/// How many words a question has, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Minimum number of words.
    pub least: usize,
    /// Maximum number of words, if there is one.
    pub most: Option<usize>,
    /// How a question is written.
    pub form: &'static str,
}

impl Shape {
    pub const WORD: Shape = Shape { least: 1, most: Some(1), form: "WORD" };

    pub fn check(self, words: &[&str]) -> Result<(), String> {
        let Shape { least, most, form } = self;
        if words.len() >= least && most.is_none_or(|most| words.len() <= most) {
            return Ok(());
        }
        let expected = match most {
            Some(1) => "1 word".to_owned(),
            Some(most) => format!("{most} words"),
            None => format!("at least {least} words"),
        };
        Err(format!("expected {expected} ({form}), got {}", words.len()))
    }

    /// Splits arguments into questions: one per word if a question is a single word, otherwise one in all.
    pub fn questions(self, words: &[String]) -> Result<Vec<Vec<&str>>, String> {
        let words = words.iter().map(String::as_str);
        if self.most == Some(1) {
            return Ok(words.map(|word| vec![word]).collect());
        }
        let question: Vec<&str> = words.collect();
        self.check(&question)?;
        Ok(vec![question])
    }
}
