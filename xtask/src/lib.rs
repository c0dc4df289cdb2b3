//! What the project's chores and its experiments share: running programs, Python environments, text files, and the text
//! of Wikipedia.

pub mod command;

pub mod python;

#[cfg(feature = "wikipedia")]
pub mod text;

#[cfg(feature = "wikipedia")]
pub mod wikipedia;
