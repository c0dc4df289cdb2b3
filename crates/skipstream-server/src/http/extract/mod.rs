//! What a request says → checked values. What is wrong with it is said in our JSON, and names the field and the limit.

mod bounded;
mod json;
mod path;
mod query;

pub use bounded::{List, Number, Word};
pub use json::Json;
pub use path::Path;
pub use query::Parameters;

/// Where in a value something is wrong, where that is known: `questions[3].a`.
pub fn place(path: &serde_path_to_error::Path) -> Option<String> {
    let path = path.to_string();
    let known = path.trim_end_matches(['.', '?']);
    (!known.is_empty()).then(|| known.to_owned())
}
