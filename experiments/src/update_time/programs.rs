//! The timed programs: updates, and training again.

use crate::peers::contender::{self, Variant};

/// A way to get a model of all text.
pub struct Program {
    /// The name in rows and tables.
    pub name: &'static str,
    /// The program that trains from scratch.
    pub program: contender::Program,
    pub passes: u32,
    /// Whether it learns only the new text.
    pub is_update: bool,
    /// Whether it has only one thread.
    pub is_serial: bool,
}

/// All programs, in the order of tables and figures.
pub const PROGRAMS: [Program; 8] = [
    update("update, mini-batch", Variant::Default),
    update("update, mini-batch without replay", Variant::NoReplays),
    Program { is_serial: true, ..update("update, incremental", Variant::Incremental) },
    again("again, mini-batch", contender::Program::Skipstream(Variant::Default)),
    Program { is_serial: true, ..again("again, batch", contender::Program::Skipstream(Variant::Batch)) },
    again("again, word2vec.c", contender::Program::Word2vec),
    Program { passes: 5, ..again("again, word2vec.c, 5 passes", contender::Program::Word2vec) },
    again("again, gensim", contender::Program::Gensim),
];

const fn again(name: &'static str, program: contender::Program) -> Program {
    Program { name, program, passes: 1, is_update: false, is_serial: false }
}

const fn update(name: &'static str, variant: Variant) -> Program {
    Program { is_update: true, ..again(name, contender::Program::Skipstream(variant)) }
}
