//! What a request says → checked values. What is wrong with it is said in our JSON, and names the field and the limit.

mod bounded;
mod json;
mod path;
mod query;

pub use bounded::{List, Number, Word};
pub use json::{Json, MAX_JSON_BYTES};
pub use path::Path;
pub use query::Parameters;
