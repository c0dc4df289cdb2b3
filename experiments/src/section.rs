//! What an experiment contributes to the report.

/// Made of the rows of one experiment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Section {
    /// For the top of the report: short, with numbers.
    pub answers: Vec<Answer>,
    /// Markdown that begins with a heading `## …`. Figures are named by their file in the folder of the experiment.
    pub body: String,
}

/// A question that the report answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    pub question: String,
    pub answer: String,
}
