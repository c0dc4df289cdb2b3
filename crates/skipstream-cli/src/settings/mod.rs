//! Requested settings → the configuration of a new model, or a comparison with an existing one.

mod args;
mod file;
mod requested;

pub use args::{MODEL, SettingArgs};
pub use file::SettingsFile;
pub use requested::RequestedSettings;
