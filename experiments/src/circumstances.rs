//! When and where numbers were measured.

use std::env;
use std::fs;
use std::process::Command;

use skipstream::unstable::Kernel;

use crate::parallel::n_cores;

/// The date, the machine, our instruction set and the command, as a Markdown list.
pub fn list() -> String {
    let typed: Vec<String> = env::args().skip(1).collect();
    let (machine, instructions) = (machine(), Kernel::best().name());
    let command = typed.join(" ");
    format!("- date: {}\n- machine: {machine}, {instructions}\n- command: `cargo xtask {command}`", date())
}

/// The processor and the number of usable cores.
pub fn machine() -> String {
    format!("{}, {} cores", processor(), n_cores())
}

/// Today's date in UTC.
pub fn date() -> String {
    let output = Command::new("date").args(["-u", "+%Y-%m-%d"]).output();
    output.map_or_else(|_| "unknown".into(), |output| String::from_utf8_lossy(&output.stdout).trim().into())
}

fn processor() -> String {
    let description = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = description.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        (key.trim() == "model name").then(|| value.trim().to_owned())
    });
    name.unwrap_or_else(|| "unknown processor".into())
}
