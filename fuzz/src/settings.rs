//! Settings: TOML files and JSON.

use skipstream::{Config, SettingValues};

pub fn run(bytes: &[u8]) {
    let Ok(text) = str::from_utf8(bytes) else { return };
    let values = toml::from_str::<SettingValues>(text).ok();
    let values = values.or_else(|| serde_json::from_str(text).ok());
    let Some(Ok(settings)) = values.map(|values| values.config().and_then(Config::check)) else { return };
    // What was accepted stays the same in a model file.
    let resolved = settings.resolved();
    let json = serde_json::to_string(&SettingValues::from(resolved.clone())).expect("settings are JSON");
    let read: Config = serde_json::from_str(&json).expect("what was written can be read");
    assert_eq!(read, resolved, "{json}");
    assert_eq!(read.check().expect("it was accepted before").resolved(), resolved);
}
