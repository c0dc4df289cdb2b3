//! Extractors that validate a request. Their errors name the field and the limit.

mod bounded;
mod json;
mod path;
mod query;

pub use bounded::{List, Number, Word};
pub use json::Json;
pub use path::Path;
pub use query::Parameters;

/// Where in a value an error is, as a suffix: `, questions[3].a`. Empty if unknown.
pub fn field(path: &serde_path_to_error::Path) -> String {
    let path = path.to_string();
    let known = path.trim_end_matches(['.', '?']);
    if known.is_empty() { String::new() } else { format!(", {known}") }
}
