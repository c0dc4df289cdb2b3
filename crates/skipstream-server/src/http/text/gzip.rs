//! A compressed body → bytes, as they come.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;

/// So much is decompressed at a time: at worst a thousandfold, that is a megabyte, is then held.
const STEP: usize = 1 << 10;

/// A body, compressed or not.
pub enum Decoder {
    /// As it is.
    Plain,
    /// gzip, of one member or several.
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Decoder {
    /// A decoder of gzip.
    pub fn gzip() -> Decoder {
        Decoder::Gzip(Box::new(MultiGzDecoder::new(Vec::new())))
    }

    /// Bytes that should be decoded at a time, so that what comes of them can be put away before the next.
    pub fn step(&self) -> usize {
        match self {
            Decoder::Plain => usize::MAX,
            Decoder::Gzip(_) => STEP,
        }
    }

    /// Decodes a piece, and gives what comes of it.
    pub fn decode<E>(
        &mut self,
        piece: &[u8],
        mut give: impl FnMut(&[u8]) -> Result<(), E>,
    ) -> io::Result<Result<(), E>> {
        match self {
            Decoder::Plain => Ok(give(piece)),
            Decoder::Gzip(decoder) => {
                decoder.write_all(piece)?;
                let given = give(decoder.get_ref());
                decoder.get_mut().clear();
                Ok(given)
            }
        }
    }

    /// The body is over: gives the rest. It is an error if it ended too early, or if its checksum is another.
    pub fn finish<E>(self, mut give: impl FnMut(&[u8]) -> Result<(), E>) -> io::Result<Result<(), E>> {
        match self {
            Decoder::Plain => Ok(Ok(())),
            Decoder::Gzip(decoder) => decoder.finish().map(|rest| give(&rest)),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    fn compressed(text: &[u8]) -> Vec<u8> {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn decoded(bytes: &[u8], piece: usize) -> io::Result<Vec<u8>> {
        let mut decoder = Decoder::gzip();
        let mut text = Vec::new();
        let mut give = |part: &[u8]| {
            text.extend_from_slice(part);
            Ok::<(), Infallible>(())
        };
        for piece in bytes.chunks(piece) {
            let Ok(()) = decoder.decode(piece, &mut give)?;
        }
        let Ok(()) = decoder.finish(give)?;
        Ok(text)
    }

    #[test]
    fn a_body_may_have_several_members_and_come_in_any_pieces() {
        let text = b"tea with milk\n".repeat(1_000);
        let two = [compressed(&text), compressed(b"coffee\n")].concat();
        for piece in [1, 7, 100, 100_000] {
            assert_eq!(decoded(&compressed(&text), piece).unwrap(), text);
            assert_eq!(decoded(&two, piece).unwrap(), [&text[..], b"coffee\n"].concat());
            assert!(decoded(&compressed(b""), piece).unwrap().is_empty());
        }
    }

    #[test]
    fn a_body_that_is_damaged_or_cut_is_an_error() {
        let good = compressed(&b"tea with milk\n".repeat(100));
        for end in 1..good.len() {
            assert!(decoded(&good[..end], 9).is_err(), "{end} of {}", good.len());
        }
        let mut other_sum = good.clone();
        let place = good.len() - 6;
        other_sum[place] ^= 1;
        assert!(decoded(&other_sum, 9).is_err());
        assert!(decoded(b"tea with milk\n", 9).is_err());
        assert!(decoded(&[&good[..], b"garbage behind"].concat(), 9).is_err());
    }
}
