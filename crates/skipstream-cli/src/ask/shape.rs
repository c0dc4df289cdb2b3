//! How many words a question has.

/// How many words a question has, and how it is written.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Words at the least.
    pub least: usize,
    /// Words at the most, if there is a limit.
    pub most: Option<usize>,
    /// How a question is written.
    pub form: &'static str,
}

impl Shape {
    /// One word.
    pub const WORD: Shape = Shape { least: 1, most: Some(1), form: "WORD" };

    /// Whether these words are a question, or why not.
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
        Err(format!("a question has {expected} ({form}), not {}", words.len()))
    }

    /// The questions of a command line: each word is one where questions have one word, all together are one otherwise.
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
