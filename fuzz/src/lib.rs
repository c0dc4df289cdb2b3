//! Fuzz targets: each gives any bytes to a part of the library that reads foreign bytes, and checks laws that hold for all
//! of them. A panic, an endless loop or an allocation beyond the fuzzer's limit is a defect.
//!
//! `corpus/TARGET/` has a few inputs for each target: seeds, and one for each defect that was found. A test runs them with
//! the rest of the tests, without the fuzzer; `cargo xtask fuzz TARGET` starts from them.

mod evaluation;
mod file;
mod http;
mod model;
mod parquet;
mod queries;
mod settings;
mod text;
mod tokens;
mod training;
mod vectors;

/// A part of the library that is given any bytes.
pub struct Target {
    /// The name, as on the command line.
    pub name: &'static str,
    /// Runs it once.
    pub run: fn(&[u8]),
}

impl Target {
    /// All targets.
    pub const ALL: [Target; 10] = [
        Target { name: "text", run: text::run },
        Target { name: "parquet", run: parquet::run },
        Target { name: "vectors", run: vectors::run },
        Target { name: "model", run: model::run },
        Target { name: "training", run: training::run },
        Target { name: "evaluation", run: evaluation::run },
        Target { name: "queries", run: queries::run },
        Target { name: "settings", run: settings::run },
        Target { name: "http", run: http::run },
        Target { name: "tokens", run: tokens::run },
    ];

    /// The target with this name.
    pub fn by_name(name: &str) -> Option<Target> {
        Target::ALL.into_iter().find(|target| target.name == name)
    }

    /// The names of all targets, for a message.
    pub fn names() -> String {
        Target::ALL.map(|target| target.name).join(", ")
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::*;

    #[test]
    fn the_corpora_find_no_defect() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus");
        for target in Target::ALL {
            let mut inputs = 0;
            for entry in fs::read_dir(folder.join(target.name)).unwrap() {
                let path = entry.unwrap().path();
                let bytes = fs::read(&path).unwrap();
                assert!(bytes.len() <= 8_192, "{} is too long to be read by a person", path.display());
                println!("{}", path.display());
                (target.run)(&bytes);
                inputs += 1;
            }
            assert!(inputs > 0, "{} has no corpus", target.name);
        }
    }
}
