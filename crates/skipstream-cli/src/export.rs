//! `skipstream export`.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use anyhow::{Context, Result};
use indicatif::HumanCount;
use skipstream::Embeddings;
use skipstream::formats::word2vec::{write_binary, write_text};

use crate::Ending;
use crate::args::{ExportArgs, Format};

/// Writes the vectors.
pub fn run(args: ExportArgs) -> Result<Ending> {
    let mut embeddings = Embeddings::load(&args.model, args.vectors)?;
    if let Some(top) = args.top {
        embeddings = embeddings.top(top);
    }
    if args.out == Path::new("-") {
        write(&embeddings, args.to, io::stdout().lock(), Path::new("<stdout>"))?;
        return Ok(Ending::Done);
    }
    if is_special(&args.out) {
        let file = fs::OpenOptions::new().write(true).open(&args.out);
        let file = file.with_context(|| args.out.display().to_string())?;
        write(&embeddings, args.to, file, &args.out)?;
    } else {
        replace(&args.out, |file| write(&embeddings, args.to, file, &args.out))?;
    }
    eprintln!(
        "{}: {} words of {} dimensions",
        args.out.display(),
        HumanCount(embeddings.len() as u64),
        embeddings.dimensions()
    );
    Ok(Ending::Done)
}

fn write(embeddings: &Embeddings, format: Format, out: impl Write, name: &Path) -> skipstream::Result<()> {
    match format {
        Format::Word2vecText => write_text(embeddings, out, name),
        Format::Word2vecBinary => write_binary(embeddings, out, name),
    }
}

/// Whether there is a device or a pipe, which is written to and not replaced.
fn is_special(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

/// Writes a file under another name in the same folder and renames it, so that nobody ever sees half of it.
fn replace(path: &Path, write: impl FnOnce(&mut fs::File) -> skipstream::Result<()>) -> Result<()> {
    let place = || path.display().to_string();
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let mut builder = tempfile::Builder::new();
    // A temporary file is private; this one is to be what any new file is.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let mut temporary = builder.tempfile_in(folder).with_context(place)?;
    write(temporary.as_file_mut())?;
    temporary.as_file().sync_all().with_context(place)?;
    temporary.persist(path).with_context(place)?;
    Ok(())
}
