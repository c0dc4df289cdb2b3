//! The strategies against the algorithms of the paper, written down as naively as possible.

mod incremental;
mod oracle;
