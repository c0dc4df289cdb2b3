//! Analogy sets: `a is to b as c is to d`, answered from a, b and c.

use std::io::BufRead;
use std::ops::AddAssign;
use std::path::Path;

use serde::Serialize;

use super::predict::{Question, predict};
use super::{Case, MAX_LINE_BYTES};
use crate::embeddings::Embeddings;
use crate::formats::lines::Lines;
use crate::{Error, Result};

/// An analogy set, such as Google's or MSR's.
#[derive(Clone, Debug, PartialEq)]
pub struct Analogies {
    sections: Vec<Section>,
}

#[derive(Clone, Debug, PartialEq)]
struct Section {
    name: String,
    questions: Vec<[String; 4]>,
}

/// What the pairs of a section have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// Meaning: `Athens Greece`.
    Semantic,
    /// Grammar: `good better`.
    Syntactic,
}

/// How many questions were answered rightly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct AnalogyScore {
    /// The right answers by 3CosAdd: the word nearest to b - a + c.
    pub add_correct: usize,
    /// The right answers by 3CosMul (Levy and Goldberg, 2014).
    pub multiply_correct: usize,
    /// The questions of which all four words are known. The others do not count.
    pub used: usize,
    /// The questions of the set.
    pub total: usize,
}

/// The score of one section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SectionScore {
    /// The section's name, empty for questions before the first one.
    pub name: String,
    /// What its pairs have in common.
    pub relation: Relation,
    /// Its right answers.
    pub score: AnalogyScore,
}

/// The scores of a set.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
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
    /// Reads lines of four words; a line `: name` starts a section.
    ///
    /// `name` stands in error messages.
    pub fn read(reader: impl BufRead, name: &Path, case: Case) -> Result<Analogies> {
        let mut lines = Lines::new(reader, name, MAX_LINE_BYTES);
        let mut sections: Vec<Section> = Vec::new();
        while let Some(line) = lines.next()? {
            if let Some(name) = line.text.strip_prefix(':') {
                sections.push(Section::new(name.trim()));
                continue;
            }
            let words: Vec<String> = line.text.split_whitespace().map(|word| case.apply(word)).collect();
            let question = <[String; 4]>::try_from(words)
                .map_err(|words| line.error(format!("{} words; a question has 4", words.len())))?;
            if sections.is_empty() {
                sections.push(Section::new(""));
            }
            if let Some(section) = sections.last_mut() {
                section.questions.push(question);
            }
        }
        Ok(Analogies { sections })
    }

    /// The number of questions.
    pub fn len(&self) -> usize {
        self.sections.iter().map(|section| section.questions.len()).sum()
    }

    /// Whether there are no questions.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Answers every question with the `restrict` most frequent words, as if there were no others.
    ///
    /// The scores do not depend on the number of threads. Memory beside the embeddings: 1 KiB for
    /// each distinct word of the questions and each thread.
    pub fn evaluate(
        &self,
        embeddings: &Embeddings,
        restrict: usize,
        threads: usize,
    ) -> Result<AnalogyScores> {
        if threads == 0 {
            return Err(Error::Setting {
                field: "threads",
                value: "0".to_owned(),
                limit: "at least 1".to_owned(),
            });
        }
        let embeddings = embeddings.top(restrict);
        let mut known = Vec::new();
        for (section, place) in self.sections.iter().zip(0..) {
            for question in &section.questions {
                if let Some(rows) = rows(&embeddings, question) {
                    known.push((place, rows));
                }
            }
        }
        let questions: Vec<Question> = known.iter().map(|(_, [a, b, c, _])| [*a, *b, *c]).collect();
        let answers = predict(&embeddings, &questions, threads);

        let mut sections: Vec<SectionScore> = self.sections.iter().map(Section::unscored).collect();
        for ((place, [.., expected]), answer) in known.into_iter().zip(answers) {
            let section: &mut SectionScore = &mut sections[place];
            section.score.used += 1;
            section.score.add_correct += usize::from(answer.add == Some(expected));
            section.score.multiply_correct += usize::from(answer.multiply == Some(expected));
        }
        Ok(AnalogyScores::sum(sections))
    }
}

/// The rows of the four words, if all are known.
fn rows(embeddings: &Embeddings, question: &[String; 4]) -> Option<[usize; 4]> {
    let [a, b, c, d] = question.each_ref().map(|word| embeddings.index_of(word));
    Some([a?, b?, c?, d?])
}

impl Section {
    fn new(name: &str) -> Section {
        Section { name: name.to_owned(), questions: Vec::new() }
    }

    fn unscored(&self) -> SectionScore {
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
    /// The share of right answers by 3CosAdd, from 0 to 1; nothing if no question was used.
    pub fn add_accuracy(&self) -> Option<f64> {
        self.share(self.add_correct)
    }

    /// The share of right answers by 3CosMul, from 0 to 1; nothing if no question was used.
    pub fn multiply_accuracy(&self) -> Option<f64> {
        self.share(self.multiply_correct)
    }

    fn share(&self, correct: usize) -> Option<f64> {
        (self.used > 0).then(|| correct as f64 / self.used as f64)
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
    fn sum(sections: Vec<SectionScore>) -> AnalogyScores {
        let mut scores = AnalogyScores {
            sections: Vec::new(),
            semantic: AnalogyScore::default(),
            syntactic: AnalogyScore::default(),
            total: AnalogyScore::default(),
        };
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

    fn read(text: &str) -> Result<Analogies> {
        Analogies::read(text.as_bytes(), Path::new("set.txt"), Case::Lower)
    }

    /// Two capitals and two comparatives that are exact parallelograms, and a word in between.
    fn embeddings() -> Embeddings {
        let words = [
            ("paris", 9),
            ("france", 8),
            ("rome", 7),
            ("italy", 6),
            ("good", 5),
            ("better", 4),
            ("bad", 3),
            ("worse", 2),
            ("odd", 1),
        ];
        let vectors = vec![
            1.0, 0.2, 0.0, 1.0, 1.2, 0.0, 1.0, 0.2, 0.4, 1.0, 1.2, 0.4, // the capitals
            0.0, -1.0, 0.2, 0.0, -1.0, 1.2, 0.4, -1.0, 0.2, 0.4, -1.0, 1.2, // the comparatives
            -1.0, 0.0, 0.0,
        ];
        Embeddings::new(3, words, vectors).unwrap()
    }

    const SET: &str = "\
: capital
Paris France Rome Italy
Paris France Rome worse
Paris France Berlin Germany
: gram3-comparative
good better bad worse
";

    fn score(add: usize, multiply: usize, used: usize, total: usize) -> AnalogyScore {
        AnalogyScore { add_correct: add, multiply_correct: multiply, used, total }
    }

    #[test]
    fn sections_and_totals_are_counted_and_unknown_words_are_not() {
        let set = read(SET).unwrap();
        assert_eq!(set.len(), 4);
        let scores = set.evaluate(&embeddings(), usize::MAX, 2).unwrap();
        assert_eq!(scores.semantic, score(1, 1, 2, 3));
        assert_eq!(scores.syntactic, score(1, 1, 1, 1));
        assert_eq!(scores.total, score(2, 2, 3, 4));
        assert_eq!(scores.sections[0].name, "capital");
        assert_eq!(scores.sections[0].score, scores.semantic);
        assert_eq!(scores.sections[1].relation, Relation::Syntactic);
        assert_eq!(scores.total.add_accuracy(), Some(2.0 / 3.0));
        assert_eq!(AnalogyScore::default().multiply_accuracy(), None);
    }

    #[test]
    fn words_beyond_the_restriction_do_not_exist() {
        let set = read(SET).unwrap();
        let scores = set.evaluate(&embeddings(), 4, 1).unwrap();
        assert_eq!(scores.total, score(1, 1, 1, 4));
        let scores = set.evaluate(&embeddings(), 0, 1).unwrap();
        assert_eq!(scores.total, score(0, 0, 0, 4));
    }

    #[test]
    fn an_answer_among_the_question_is_used_and_never_right() {
        let set = read("paris paris rome rome\n").unwrap();
        let scores = set.evaluate(&embeddings(), 9, 1).unwrap();
        assert_eq!(scores.total, score(0, 0, 1, 1));
        assert_eq!(scores.sections[0].name, "");
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
        let message = read(": capital\nParis France Rome\n").unwrap_err().to_string();
        assert_eq!(message, "set.txt: line 2: 3 words; a question has 4");
    }

    #[test]
    fn no_threads_are_refused() {
        let message = read(SET).unwrap().evaluate(&embeddings(), 9, 0).unwrap_err();
        assert_eq!(message.to_string(), "threads is 0; it must be at least 1");
    }
}
