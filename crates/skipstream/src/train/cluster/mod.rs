//! The same model on several machines: a coordinator that reads the text, and workers that hold the rows.
//!
//! Worker i of N owns a contiguous share A of the P blocks: their target rows for good, and their context rows as their
//! *home*. A batch is trained in phases, each of which is a part of the schedule:
//!
//! ```text
//! phase 0          cells A × A on and after the diagonal                    Worker::lend
//! phase s < N      cells A × the share of worker i + s                      Worker::visit
//! phase N          cells A × A before the diagonal                          Worker::finish
//! ```
//!
//! So every block meets the others in the order of the schedule, and the model has the same bytes as on one machine. The
//! context rows that a batch touches visit worker i − 1, then i − 2, and so on; a row goes home after its last use.
//!
//! Negatives are drawn at home: they depend only on the batch, the cell, its number of groups and the noise of the context
//! block. So workers tell the homes which rows they need ([`Worker::begin`]), and only a home has the noise of its blocks.
//!
//! Nothing here sends anything. A [`Cluster`] delivers the messages, which are bytes (`message.rs`).

mod coordinator;
mod guests;
mod memory;
mod message;
mod share;
#[cfg(test)]
mod tests;
mod worker;

pub use coordinator::{BatchMessages, Cluster, Coordinator};
pub use memory::WorkerBound;
pub use message::{MessageError, Session};
pub use worker::Worker;
