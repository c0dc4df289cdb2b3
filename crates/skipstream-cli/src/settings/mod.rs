//! Settings that were asked for → a new model's configuration, or a comparison with the model that is there.

mod args;
mod asked;
mod file;

use serde::Serialize;

pub use args::SettingArgs;
pub use asked::Asked;
pub use file::SettingsFile;

/// The name of a choice, as it is typed.
pub fn name_of(choice: &impl Serialize) -> String {
    match serde_json::to_value(choice) {
        Ok(serde_json::Value::String(name)) => name,
        other => unreachable!("a choice is written as its name, not as {other:?}"),
    }
}
