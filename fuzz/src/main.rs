//! `cargo xtask fuzz` runs this program: the target is in `FUZZ_TARGET`, everything else is libFuzzer's.
//!
//! Built without the fuzzer, it runs the target on the files that are named: `FUZZ_TARGET=text cargo run -p fuzz -- FILE`.

#![cfg_attr(fuzzing, no_main)]

use std::env;
use std::sync::LazyLock;

use fuzz::Target;

static TARGET: LazyLock<Target> = LazyLock::new(|| {
    let name = env::var("FUZZ_TARGET").unwrap_or_default();
    Target::by_name(&name)
        .unwrap_or_else(|| panic!("FUZZ_TARGET is `{name}`; it must be one of {}", Target::names()))
});

#[cfg(fuzzing)]
libfuzzer_sys::fuzz_target!(|bytes: &[u8]| (TARGET.run)(bytes));

#[cfg(not(fuzzing))]
fn main() -> std::io::Result<()> {
    for path in env::args_os().skip(1) {
        (TARGET.run)(&std::fs::read(path)?);
    }
    Ok(())
}
