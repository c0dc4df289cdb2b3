//! Compression: recognized by the first bytes when reading, by the file's name when writing.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;

use crate::corpus::TextError;
use crate::{Error, Result};

pub(crate) const BUFFER_BYTES: usize = 64 << 10;

/// The number of bytes by which a compression is recognized.
const MAGIC_BYTES: u64 = 6;

/// The memory limit of the xz decoder. The strongest preset needs 65 MiB; a hostile file may ask for 4 GiB.
#[cfg(feature = "codecs")]
const MAX_XZ_BYTES: u64 = 256 << 20;

/// A compression format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Compression {
    /// None, or one that is not recognized.
    None,
    /// gzip, any number of members.
    Gzip,
    /// Zstandard, any number of frames.
    Zstd,
    /// bzip2, any number of streams.
    Bzip2,
    /// xz, any number of streams.
    Xz,
    /// A format that is recognized but not supported. Its bytes must not be taken for text.
    Foreign(&'static str),
}

impl Compression {
    /// The format of a file with these first bytes.
    pub fn of(magic: &[u8]) -> Self {
        match magic {
            [0x1F, 0x8B, ..] => Self::Gzip,
            // A frame, or a skippable frame as parallel compressors write first.
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Self::Zstd,
            // A block follows the header, or (in an empty file) the end.
            [b'B', b'Z', b'h', b'1'..=b'9', 0x31 | 0x17, ..] => Self::Bzip2,
            [0xFD, b'7', b'z', b'X', b'Z', 0, ..] => Self::Xz,
            [0x04, 0x22, 0x4D, 0x18, ..] => Self::Foreign("lz4"),
            [b'P', b'K', 0x03, 0x04, ..] => Self::Foreign("zip"),
            [b'7', b'z', 0xBC, 0xAF, ..] => Self::Foreign("7z"),
            _ => Self::None,
        }
    }

    /// The format in which a file of this name is written, by its extension: `.gz`, `.zst`, `.bz2` or `.xz`.
    ///
    /// ```
    /// use skipstream::unstable::Compression;
    ///
    /// assert_eq!(Compression::by_name("vectors.txt.gz"), Compression::Gzip);
    /// assert_eq!(Compression::by_name("vectors.txt"), Compression::None);
    /// ```
    pub fn by_name(path: impl AsRef<Path>) -> Self {
        match path.as_ref().extension().and_then(|ending| ending.to_str()) {
            Some("gz") => Self::Gzip,
            Some("zst") => Self::Zstd,
            Some("bz2") => Self::Bzip2,
            Some("xz") => Self::Xz,
            _ => Self::None,
        }
    }

    /// The decompressed bytes; errors call the file `name`.
    pub fn decode<'a>(self, raw: impl Read + Send + 'a, name: &Path) -> Result<Box<dyn BufRead + Send + 'a>> {
        let raw = BufReader::with_capacity(BUFFER_BYTES, raw);
        Ok(match self {
            Self::None => Box::new(raw),
            #[cfg(feature = "codecs")]
            Self::Gzip => buffered("gzip", flate2::bufread::MultiGzDecoder::new(raw)),
            #[cfg(feature = "codecs")]
            Self::Zstd => buffered("zstd", zstd::Decoder::with_buffer(raw).map_err(Error::io(name))?),
            #[cfg(feature = "codecs")]
            Self::Bzip2 => buffered("bzip2", bzip2::bufread::MultiBzDecoder::new(raw)),
            #[cfg(feature = "codecs")]
            Self::Xz => {
                let stream =
                    liblzma::stream::Stream::new_stream_decoder(MAX_XZ_BYTES, liblzma::stream::CONCATENATED)
                        .map_err(|error| Error::io(name)(error.into()))?;
                buffered("xz", liblzma::bufread::XzDecoder::new_stream(raw, stream))
            }
            #[cfg(not(feature = "codecs"))]
            Self::Gzip | Self::Zstd | Self::Bzip2 | Self::Xz => return Err(self.missing_codecs(name)),
            Self::Foreign(format) => return Err(Error::text(name, TextError::Compression { format })),
        })
    }

    /// Compresses what `write` writes.
    pub fn encode<Out: Write>(
        self,
        out: Out,
        write: impl FnOnce(&mut dyn Write) -> Result<()>,
        name: &Path,
    ) -> Result<()> {
        let failed = |error| Error::io(name)(error);
        match self {
            Self::None | Self::Foreign(_) => {
                let mut out = io::BufWriter::with_capacity(BUFFER_BYTES, out);
                write(&mut out)?;
                out.flush().map_err(failed)
            }
            #[cfg(feature = "codecs")]
            Self::Gzip => {
                let mut encoder = flate2::write::GzEncoder::new(out, flate2::Compression::default());
                write(&mut encoder)?;
                encoder.finish().and_then(|mut out| out.flush()).map_err(failed)
            }
            #[cfg(feature = "codecs")]
            Self::Zstd => {
                let mut encoder = zstd::Encoder::new(out, zstd::DEFAULT_COMPRESSION_LEVEL).map_err(failed)?;
                encoder.include_checksum(true).map_err(failed)?;
                write(&mut encoder)?;
                encoder.finish().and_then(|mut out| out.flush()).map_err(failed)
            }
            #[cfg(feature = "codecs")]
            Self::Bzip2 => {
                let mut encoder = bzip2::write::BzEncoder::new(out, bzip2::Compression::default());
                write(&mut encoder)?;
                encoder.finish().and_then(|mut out| out.flush()).map_err(failed)
            }
            #[cfg(feature = "codecs")]
            Self::Xz => {
                let mut encoder = liblzma::write::XzEncoder::new(out, 6);
                write(&mut encoder)?;
                encoder.finish().and_then(|mut out| out.flush()).map_err(failed)
            }
            #[cfg(not(feature = "codecs"))]
            Self::Gzip | Self::Zstd | Self::Bzip2 | Self::Xz => Err(self.missing_codecs(name)),
        }
    }

    #[cfg(not(feature = "codecs"))]
    fn missing_codecs(self, name: &Path) -> Error {
        let what = format!("{self:?}").to_lowercase();
        Error::text(name, TextError::MissingFeature { what, feature: "codecs" })
    }
}

/// The first bytes, for [`Compression::of`]; fewer if there are no more.
pub(crate) fn read_magic(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut magic = Vec::new();
    reader.take(MAGIC_BYTES).read_to_end(&mut magic)?;
    Ok(magic)
}

/// An error of reading: damage that a decoder has found, or an error of the operating system.
pub(crate) fn read_error(name: &Path, error: io::Error) -> Error {
    match error.downcast::<TextError>() {
        Ok(damage) => Error::text(name, damage),
        Err(error) => Error::io(name)(error),
    }
}

#[cfg(feature = "codecs")]
fn buffered<'a>(format: &'static str, decoder: impl Read + Send + 'a) -> Box<dyn BufRead + Send + 'a> {
    let decoded = Decoded { decoder, format };
    Box::new(BufReader::with_capacity(BUFFER_BYTES, decoded))
}

/// Decompressed bytes, whose damage is reported as [`io::ErrorKind::InvalidData`].
#[cfg(feature = "codecs")]
struct Decoded<R> {
    decoder: R,
    format: &'static str,
}

#[cfg(feature = "codecs")]
impl<R: Read> Read for Decoded<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.decoder.read(buffer).map_err(|error| {
            let from_below = error.raw_os_error().is_some() || error.kind() == io::ErrorKind::Interrupted;
            if from_below {
                return error;
            }
            let damage = TextError::Compressed { format: self.format, reason: error.to_string() };
            io::Error::new(io::ErrorKind::InvalidData, damage)
        })
    }
}

#[cfg(feature = "codecs")]
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn compressed(compression: Compression, bytes: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        let name = Path::new("out");
        compression.encode(&mut out, |to| to.write_all(bytes).map_err(Error::io(name)), name).unwrap();
        out
    }

    fn decompressed(bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        Compression::of(&bytes[..bytes.len().min(6)])
            .decode(bytes, Path::new("in"))
            .unwrap()
            .read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_is_written_by_name_is_read_by_its_bytes() {
        let text = b"one two three\n".repeat(10_000);
        for name in ["a", "a.gz", "a.zst", "a.bz2", "a.xz"] {
            let compression = Compression::by_name(name);
            for text in [&text[..], b""] {
                let bytes = compressed(compression, text);
                assert!(bytes.is_empty() || compression == Compression::of(&bytes[..6]), "{name}");
                assert_eq!(decompressed(&bytes).unwrap(), text, "{name}");
            }
            assert!(
                compression == Compression::None || compressed(compression, &text).len() < text.len() / 10
            );
        }
    }

    #[test]
    fn concatenated_files_are_read_whole() {
        for name in ["a.gz", "a.zst", "a.bz2", "a.xz"] {
            let parts = [&b"one "[..], b"", b"two"].map(|part| compressed(Compression::by_name(name), part));
            assert_eq!(decompressed(&parts.concat()).unwrap(), b"one two", "{name}");
        }
    }

    #[test]
    fn a_cut_file_is_invalid_data() {
        let text: Vec<u8> =
            (0..100_000u32).flat_map(|n| n.wrapping_mul(2_654_435_769).to_le_bytes()).collect();
        for name in ["a.gz", "a.zst", "a.bz2", "a.xz"] {
            let bytes = compressed(Compression::by_name(name), &text);
            for keep in [8, bytes.len() / 2, bytes.len() - 1] {
                let error = decompressed(&bytes[..keep]).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::InvalidData, "{name} cut at {keep}: {error}");
            }
        }
    }

    #[test]
    fn a_text_that_begins_like_bzip2_is_text() {
        assert_eq!(Compression::of(b"BZh9 is a name"), Compression::None);
    }

    #[test]
    fn an_xz_file_cannot_ask_for_gigabytes() {
        let mut bytes = compressed(Compression::Xz, b"text");
        // Behind 12 bytes of the stream's header: the block's, whose last four bytes are its checksum.
        let header = 12..12 + 4 * usize::from(bytes[12]);
        let dictionary = bytes.windows(2).position(|pair| pair == [0x21, 0x01]).unwrap() + 2;
        bytes[dictionary] = 38; // 2 GiB
        let mut checksum = flate2::Crc::new();
        checksum.update(&bytes[header.clone()]);
        bytes[header.end..header.end + 4].copy_from_slice(&checksum.sum().to_le_bytes());
        let message = decompressed(&bytes).unwrap_err().to_string();
        assert!(message.contains("memory"), "{message}");
    }
}
