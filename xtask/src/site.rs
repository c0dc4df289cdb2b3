//! Builds the documentation site and tests it.

use std::process::Command;

use anyhow::Result;

use xtask::command::{program_for_tests, root, run, shortened, target_folder};
use xtask::python::Environment;

/// Builds the site into `target/site`, with the reference made by the program, and tests what was built.
pub fn build() -> Result<()> {
    let program = program_for_tests()?;
    let site = target_folder()?.join("site");
    let python = Environment::prepare(target_folder()?.join("site-tools"))?;
    python.install_all(&root().join("docs/requirements.txt"))?;
    let call = |arguments: &[&str]| {
        let mut command = Command::new(python.program("python"));
        // Leave no caches beside the pages.
        command.args(["-B", "-m"]).args(arguments).current_dir(root());
        command.env("SKIPSTREAM", &program).env("SITE", &site);
        // What the authors of the theme say about other programs.
        command.env("NO_MKDOCS_2_WARNING", "1");
        command
    };
    run(call(&["mkdocs", "build", "--site-dir"]).arg(&site))?;
    // As strict as the Python package.
    let style = ["--no-cache", "--config", "bindings/python/pyproject.toml", "docs/generate", "docs/tests"];
    run(call(&["ruff", "format", "--check"]).args(style))?;
    run(call(&["ruff", "check"]).args(style))?;
    run(&mut call(&["pytest", "-q", "-p", "no:cacheprovider", "docs/tests"]))?;
    eprintln!("To read it: python3 -m http.server --directory {}", shortened(site).display());
    Ok(())
}
