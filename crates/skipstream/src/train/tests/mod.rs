//! The strategies against the algorithms of the paper, written down as naively as possible; and hosts that compute with
//! floats in another way.

mod float_mode;
mod incremental;
mod oracle;
