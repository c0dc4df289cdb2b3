//! Analogy sets: *a* is to *b* as *c* is to *d*, where *d* is the answer.

use std::ops::AddAssign;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::TestSetError;
use super::interval::Interval;
use super::test_set::{fields, lines};

/// An analogy set, such as Google's or MSR's.
#[derive(Clone, Debug, PartialEq)]
pub struct Analogies {
    /// The sections, in the order of the file.
    pub sections: Vec<Section>,
}

/// Questions of one kind.
#[derive(Clone, Debug, PartialEq)]
pub struct Section {
    /// The section's name, empty for questions before the first one.
    pub name: String,
    /// The words a, b, c and d of each question.
    pub questions: Vec<[String; 4]>,
}

/// The kind of relation between the words of a section.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Meaning: `Athens Greece`.
    Semantic,
    /// Grammar: `good better`.
    Syntactic,
}

/// The number of correct answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AnalogyScore {
    /// Correct answers by 3CosAdd: the word nearest to b - a + c.
    pub add_correct: usize,
    /// Correct answers by 3CosMul (Levy and Goldberg, 2014).
    pub multiply_correct: usize,
    /// Questions whose four words are all known. Only these are scored.
    pub used: usize,
    /// All questions of the set.
    pub total: usize,
}

/// The score of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SectionScore {
    /// The section's name, empty for questions before the first one.
    pub name: String,
    /// The kind of relation.
    pub relation: Relation,
    /// Its correct answers.
    pub score: AnalogyScore,
}

/// The scores of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct AnalogyScores {
    /// Each section, in the order of the file.
    pub sections: Vec<SectionScore>,
    /// All semantic sections.
    pub semantic: AnalogyScore,
    /// All syntactic sections.
    pub syntactic: AnalogyScore,
    /// All sections.
    pub total: AnalogyScore,
}

impl Analogies {
    pub(super) fn parse(text: &str) -> Result<Analogies, TestSetError> {
        let mut sections: Vec<Section> = Vec::new();
        for (line, text) in lines(text) {
            if let Some(name) = section_name(text) {
                sections.push(Section::new(name));
                continue;
            }
            let words: Vec<String> = fields(text).into_iter().map(str::to_owned).collect();
            let question = <[String; 4]>::try_from(words)
                .map_err(|words| TestSetError::NoAnalogy { line, words: words.len() })?;
            if sections.is_empty() {
                sections.push(Section::new(""));
            }
            if let Some(section) = sections.last_mut() {
                section.questions.push(question);
            }
        }
        Ok(Analogies { sections })
    }

    /// All questions, in the order of the file.
    pub fn questions(&self) -> impl Iterator<Item = &[String; 4]> {
        self.sections.iter().flat_map(|section| &section.questions)
    }
}

/// The name of the section that a line starts, if it starts one.
pub(super) fn section_name(line: &str) -> Option<&str> {
    line.trim_start().strip_prefix(':').map(str::trim)
}

impl Section {
    fn new(name: &str) -> Section {
        Section { name: name.to_owned(), questions: Vec::new() }
    }

    /// Its score before any question is answered.
    pub(super) fn unscored(&self) -> SectionScore {
        SectionScore {
            name: self.name.clone(),
            relation: Relation::of_section(&self.name),
            score: AnalogyScore { total: self.questions.len(), ..AnalogyScore::default() },
        }
    }
}

impl Relation {
    /// Google's grammatical sections are called `gram1-…`; MSR's are pairs of part-of-speech tags,
    /// such as `JJ_JJR`.
    fn of_section(name: &str) -> Relation {
        let is_tag = |tag: &str| !tag.is_empty() && tag.chars().all(|letter| letter.is_ascii_uppercase());
        let is_tag_pair = name.split_once('_').is_some_and(|(from, to)| is_tag(from) && is_tag(to));
        if name.starts_with("gram") || is_tag_pair { Relation::Syntactic } else { Relation::Semantic }
    }
}

impl AnalogyScore {
    /// The accuracy of 3CosAdd, from 0 to 1; `None` if no question was used.
    pub fn add_accuracy(&self) -> Option<f64> {
        self.share(self.add_correct)
    }

    /// The accuracy of 3CosMul, from 0 to 1; `None` if no question was used.
    pub fn multiply_accuracy(&self) -> Option<f64> {
        self.share(self.multiply_correct)
    }

    /// Wilson's 95 % interval of [`AnalogyScore::add_accuracy`]. It assumes independent questions. Questions share words,
    /// so the true uncertainty is larger.
    pub fn add_interval(&self) -> Option<Interval> {
        Interval::wilson(self.add_correct, self.used)
    }

    /// Wilson's 95 % interval of [`AnalogyScore::multiply_accuracy`].
    pub fn multiply_interval(&self) -> Option<Interval> {
        Interval::wilson(self.multiply_correct, self.used)
    }

    fn share(&self, correct: usize) -> Option<f64> {
        (self.used > 0).then(|| correct as f64 / self.used as f64)
    }
}

/// Includes accuracies and intervals, so that readers of the JSON need not compute them.
impl Serialize for AnalogyScore {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("AnalogyScore", 8)?;
        fields.serialize_field("add_accuracy", &self.add_accuracy())?;
        fields.serialize_field("add_interval", &self.add_interval())?;
        fields.serialize_field("add_correct", &self.add_correct)?;
        fields.serialize_field("multiply_accuracy", &self.multiply_accuracy())?;
        fields.serialize_field("multiply_interval", &self.multiply_interval())?;
        fields.serialize_field("multiply_correct", &self.multiply_correct)?;
        fields.serialize_field("used", &self.used)?;
        fields.serialize_field("total", &self.total)?;
        fields.end()
    }
}

impl AddAssign for AnalogyScore {
    fn add_assign(&mut self, other: AnalogyScore) {
        self.add_correct += other.add_correct;
        self.multiply_correct += other.multiply_correct;
        self.used += other.used;
        self.total += other.total;
    }
}

impl AnalogyScores {
    pub(super) fn sum(sections: Vec<SectionScore>) -> AnalogyScores {
        let mut scores = AnalogyScores::default();
        for section in &sections {
            match section.relation {
                Relation::Semantic => scores.semantic += section.score,
                Relation::Syntactic => scores.syntactic += section.score,
            }
            scores.total += section.score;
        }
        AnalogyScores { sections, ..scores }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_questions_sections_or_comments() {
        let set = Analogies::parse("a b c d\r\n# a comment\n : first \ne\tf\tg\th\n:second\n").unwrap();
        let names: Vec<&str> = set.sections.iter().map(|section| section.name.as_str()).collect();
        assert_eq!(names, ["", "first", "second"]);
        assert_eq!(set.sections[1].questions, [["e", "f", "g", "h"]]);
        assert_eq!(set.questions().count(), 2);
    }

    #[test]
    fn pairs_of_tags_are_syntactic() {
        for name in ["gram1-adjective-to-adverb", "JJ_JJR", "NNPOS_NN"] {
            assert_eq!(Relation::of_section(name), Relation::Syntactic);
        }
        for name in ["capital-world", "city_in_state", "", "_", "JJ"] {
            assert_eq!(Relation::of_section(name), Relation::Semantic);
        }
    }

    #[test]
    fn a_question_of_three_words_is_refused_with_its_line() {
        let message = Analogies::parse(": capital\nParis France Rome\n").unwrap_err().to_string();
        assert_eq!(message, "line 2: expected 4 words, found 3");
    }

    #[test]
    fn json_has_shares_and_intervals() {
        let score = AnalogyScore { add_correct: 8, multiply_correct: 5, used: 10, total: 12 };
        let json = serde_json::to_value(score).unwrap();
        assert_eq!(json["add_accuracy"], 0.8);
        assert_eq!(json["multiply_correct"], 5);
        assert!((json["add_interval"]["low"].as_f64().unwrap() - 0.490).abs() < 1e-3);
        let none = serde_json::to_value(AnalogyScore::default()).unwrap();
        assert!(none["add_accuracy"].is_null() && none["add_interval"].is_null());
    }
}
