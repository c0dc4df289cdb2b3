//! Recognizes files that are not text by their first bytes, before anything is learned from them.

use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::Path;

use super::error::TextError;
use crate::bytes::{Compression, read_error};
use crate::{Error, Result};

/// The number of bytes to look at.
pub(super) const SAMPLE_BYTES: usize = 4096;

/// By how many bytes a kind of file is recognized, at most.
const MAGIC_BYTES: usize = 16;

/// Kinds of files by their first bytes. Compressed files and archives are recognized before.
const KINDS: [(&[u8], &str); 20] = [
    (b"\x7FELF", "an ELF program or library"),
    (b"\x89PNG", "a PNG image"),
    (b"\xFF\xD8\xFF", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"PAR1", "a Parquet file"),
    (b"\x93NUMPY", "a numpy array"),
    (b"FiFu", "a finalfusion file"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\xBA\x16\x4F\x2F", "a fastText model"),
    (b"\x80\x02", "a Python pickle"),
    (b"\x80\x03", "a Python pickle"),
    (b"\x80\x04", "a Python pickle"),
    (b"\x80\x05", "a Python pickle"),
    (b"\xD0\xCF\x11\xE0", "a Microsoft Office document"),
    (b"\xCF\xFA\xED\xFE", "a Mach-O program or library"),
    (b"\xCA\xFE\xBA\xBE", "a Java class or a Mach-O program"),
    (b"OggS", "an Ogg file"),
    (b"\0asm", "a WebAssembly module"),
];

/// Reads the first bytes: a few at least, and what else there is now.
pub(super) fn read_sample(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut sample = vec![0; SAMPLE_BYTES];
    let mut length = 0;
    // A line is enough: a pipe may be silent after it.
    while length < MAGIC_BYTES && !sample[..length].contains(&b'\n') {
        match reader.read(&mut sample[length..]) {
            Ok(0) => break,
            Ok(read) => length += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // It comes again after these bytes are read.
            Err(_) if length > 0 => break,
            Err(error) => return Err(error),
        }
    }
    sample.truncate(length);
    Ok(sample)
}

/// Refuses a file that is not text, compressed or not.
pub(super) fn check_file(path: &Path) -> Result<()> {
    let mut file = File::open(path).map_err(Error::io(path))?;
    let mut sample = read_sample(&mut file).map_err(Error::io(path))?;
    let compression = Compression::of(&sample);
    if compression != Compression::None {
        let mut text = compression.decode(Cursor::new(sample).chain(file), path)?;
        sample = read_sample(&mut text).map_err(|error| read_error(path, error))?;
    }
    check(&sample).map_err(|cause| Error::text(path, cause))
}

/// Refuses text that starts with these bytes, if it is not text.
pub fn check(sample: &[u8]) -> Result<(), TextError> {
    if let Some((_, what)) = KINDS.iter().find(|(magic, _)| sample.starts_with(magic)) {
        return Err(TextError::Binary { what });
    }
    // A length below 2³², then JSON.
    if let [_, _, _, _, 0, 0, 0, 0, b'{', b'"', ..] = sample {
        return Err(TextError::Binary { what: "a model or another safetensors file" });
    }
    if let [first @ 0xFF, second @ 0xFE, ..] | [first @ 0xFE, second @ 0xFF, ..] = sample {
        return Err(TextError::Utf16 { mark: [*first, *second] });
    }
    let nuls = |start| sample.iter().skip(start).step_by(2).filter(|&&byte| byte == 0).count();
    let (even, odd) = (nuls(0), nuls(1));
    // Latin letters in UTF-16 have a NUL in every second byte.
    if even.max(odd) >= 4.max(sample.len() / 4) && even.min(odd) == 0 {
        return Err(TextError::UnmarkedUtf16);
    }
    // A few NULs occur in text: programs write them after strings.
    if even + odd >= 8 && even + odd > sample.len() / 100 {
        return Err(TextError::Binary { what: "binary data: it has many NUL bytes" });
    }
    let invalid: usize = sample.utf8_chunks().map(|chunk| chunk.invalid().len()).sum();
    if invalid >= 8 && invalid > sample.len() / 4 {
        let what = "binary data or text in another encoding: much of it is not valid UTF-8";
        return Err(TextError::Binary { what });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn binary_files_are_refused_by_name() {
        let trained =
            crate::Trainer::new(crate::Config { dimensions: 2, ..crate::Config::default() }).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        trained.save(&model).unwrap();
        let elf = std::env::current_exe().unwrap();
        let random: Vec<u8> =
            (0..5000u32).map(|number| (number.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for (bytes, what) in [
            (std::fs::read(model).unwrap(), "a model or another safetensors file"),
            (b"%PDF-1.7 and so on".to_vec(), "a PDF document"),
            (b"\x89PNG\r\n\x1A\n....".to_vec(), "a PNG image"),
            (random, "binary data"),
            ("text \0".repeat(9).into_bytes(), "NUL"),
            // Russian in Windows' encoding.
            (b"\xEF\xF0\xE8\xE2\xE5\xF2 ".repeat(9), "another encoding"),
            ("text".encode_utf16().flat_map(u16::to_le_bytes).collect(), "UTF-16 without"),
            ("text".encode_utf16().flat_map(u16::to_be_bytes).collect(), "UTF-16 without"),
        ] {
            let path = folder.path().join("text.txt");
            std::fs::write(&path, bytes).unwrap();
            let message = check_file(&path).unwrap_err().to_string();
            assert!(message.contains(what) && message.contains("text.txt"), "{message}");
        }
        assert!(cfg!(not(target_os = "linux")) || check_file(&elf).unwrap_err().to_string().contains("ELF"));
    }

    #[test]
    fn text_is_text() {
        for text in [
            &b""[..],
            b"a",
            b"one\0two\n",
            b"caf\xE9 au lait, cr\xE8me br\xFBl\xE9e, d\xE9j\xE0 vu, \xE0 la carte",
            "日本語のテキスト 🙂".as_bytes(),
            b"{\"text\": \"one\"}",
            b"\xEF\xBB\xBFmark",
        ] {
            assert_eq!(check(text), Ok(()), "{}", String::from_utf8_lossy(text));
        }
        // The sample may end within a character.
        let japanese = "日".repeat(5000);
        assert_eq!(check(&japanese.as_bytes()[..SAMPLE_BYTES]), Ok(()));
    }

    #[cfg(feature = "codecs")]
    #[test]
    fn compressed_files_are_looked_into() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            let file = File::create(&path).unwrap();
            let write = |out: &mut dyn io::Write| out.write_all(bytes).map_err(Error::io("x"));
            Compression::by_name(&path).encode(file, write, &path).unwrap();
            path
        };
        assert!(check_file(&write("a.gz", b"%PDF-1.7 and so on")).is_err());
        assert!(check_file(&write("b.gz", b"plain text")).is_ok());
    }
}
