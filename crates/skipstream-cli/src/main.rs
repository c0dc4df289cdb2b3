//! The `skipstream` command.
fn main() {}
