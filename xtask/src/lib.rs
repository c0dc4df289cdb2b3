//! What the project's chores and its experiments share: running programs, Python environments, text files, and the text
//! of Wikipedia.

pub mod command;

pub mod python;

pub mod text;

pub mod wikipedia;
