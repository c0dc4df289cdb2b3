//! Messages as bytes: a header, then sections of numbers, each after its length, and a checksum of all of it.
//!
//! Invariant: a message of another session, batch, kind, sender or receiver than expected is refused, and so is one that is
//! damaged. Nothing is allocated for a length that the bytes do not have.

use bytemuck::{NoUninit, Pod, Zeroable};

use crate::error::{Error, Result};

/// One attempt at a training. A worker refuses the messages of others, which may still arrive after workers were replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The training: a number that no other training has.
    pub epoch: u64,
    /// How often its workers were replaced.
    pub attempt: u64,
}

/// Why a message is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the message names every field")]
pub enum MessageError {
    /// It is of another attempt.
    #[error("a message of attempt {found} came in attempt {expected}")]
    Attempt { found: u64, expected: u64 },
    /// It is of another training.
    #[error("a message of another training came")]
    Epoch,
    /// It is of another batch.
    #[error("a message of batch {found} came in batch {expected}")]
    Batch { found: u64, expected: u64 },
    /// It is not the message that should come now.
    #[error("a message came out of order, or to the wrong worker")]
    Order,
    /// Its bytes are not a message.
    #[error("a message is damaged")]
    Damaged,
    /// A worker that failed before cannot go on.
    #[error("a worker or its coordinator failed before, and must be loaded again")]
    Failed,
}

impl From<MessageError> for Error {
    fn from(cause: MessageError) -> Error {
        Error::Message { cause }
    }
}

/// What a message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub(super) enum Kind {
    /// A batch, for all workers.
    Batch = 1,
    /// What a worker alone needs of a batch.
    Own,
    /// The contexts that a worker needs of a home.
    Needs,
    /// Contexts on their first visit of the batch, and negatives.
    Lend,
    /// Contexts from one visit to the next.
    Pass,
    /// Contexts on their way home.
    Return,
    /// What was trained.
    Results,
}

/// The coordinator as sender; all workers as receiver.
pub(super) const COORDINATOR: usize = u32::MAX as usize;

/// What a message is, and whose.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope {
    pub session: Session,
    pub batch: u64,
    pub kind: Kind,
    pub from: usize,
    pub to: usize,
}

const MAGIC: [u8; 8] = *b"skipstr\x01";

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Header {
    magic: [u8; 8],
    epoch: u64,
    attempt: u64,
    batch: u64,
    kind: u32,
    from: u32,
    to: u32,
    zero: u32,
}

impl Envelope {
    fn header(self) -> Header {
        let Envelope { session: Session { epoch, attempt }, batch, kind, from, to } = self;
        let (kind, from, to) = (kind as u32, from as u32, to as u32);
        Header { magic: MAGIC, epoch, attempt, batch, kind, from, to, zero: 0 }
    }
}

/// A message that is written.
pub(super) struct Writer(Vec<u8>);

impl Writer {
    pub fn new(envelope: Envelope) -> Writer {
        Writer(bytemuck::bytes_of(&envelope.header()).to_vec())
    }

    /// Adds numbers.
    pub fn section<T: NoUninit>(&mut self, values: &[T]) {
        self.sections(size_of_val(values), [values]);
    }

    /// Adds numbers that are in several places, of this many bytes together.
    pub fn sections<'a, T: NoUninit>(&mut self, bytes: usize, parts: impl IntoIterator<Item = &'a [T]>) {
        self.0.reserve(size_of::<u64>() + bytes);
        self.0.extend_from_slice(&(bytes as u64).to_le_bytes());
        let start = self.0.len();
        parts.into_iter().for_each(|part| self.0.extend_from_slice(bytemuck::cast_slice(part)));
        assert_eq!(self.0.len() - start, bytes, "the length of a section is written before it");
    }

    /// The message with its checksum.
    pub fn finish(mut self) -> Vec<u8> {
        let checksum = blake3::hash(&self.0);
        self.0.extend_from_slice(checksum.as_bytes());
        self.0
    }
}

/// A message that is read.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    /// The sections of a message that must have this envelope.
    pub fn new(bytes: &'a [u8], expected: Envelope) -> Result<Reader<'a>> {
        let (message, checksum) = bytes.split_last_chunk().ok_or(MessageError::Damaged)?;
        if blake3::hash(message) != blake3::Hash::from_bytes(*checksum) {
            return Err(MessageError::Damaged.into());
        }
        let (header, rest) = message.split_at_checked(size_of::<Header>()).ok_or(MessageError::Damaged)?;
        let found: Header = bytemuck::pod_read_unaligned(header);
        let expected = expected.header();
        let cause = if found.magic != MAGIC {
            MessageError::Damaged
        } else if found.epoch != expected.epoch {
            MessageError::Epoch
        } else if found.attempt != expected.attempt {
            MessageError::Attempt { found: found.attempt, expected: expected.attempt }
        } else if found.batch != expected.batch {
            MessageError::Batch { found: found.batch, expected: expected.batch }
        } else if (found.kind, found.from, found.to) != (expected.kind, expected.from, expected.to) {
            MessageError::Order
        } else {
            return Ok(Reader(rest));
        };
        Err(cause.into())
    }

    /// The batch that a message says it is of.
    pub fn batch(bytes: &[u8]) -> Result<u64> {
        let header = bytes.get(..size_of::<Header>()).ok_or(MessageError::Damaged)?;
        Ok(bytemuck::pod_read_unaligned::<Header>(header).batch)
    }

    /// The bytes of the next section.
    pub fn bytes(&mut self) -> Result<&'a [u8]> {
        let (length, rest) = self.0.split_first_chunk().ok_or(MessageError::Damaged)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| MessageError::Damaged)?;
        let (section, rest) = rest.split_at_checked(length).ok_or(MessageError::Damaged)?;
        self.0 = rest;
        Ok(section)
    }

    /// The numbers of the next section.
    pub fn values<T: Pod>(&mut self) -> Result<Vec<T>> {
        let bytes = self.bytes()?;
        if bytes.len() % size_of::<T>() != 0 {
            return Err(MessageError::Damaged.into());
        }
        let mut values = vec![T::zeroed(); bytes.len() / size_of::<T>()];
        bytemuck::cast_slice_mut(&mut values).copy_from_slice(bytes);
        Ok(values)
    }

    /// The numbers of the next section, which must be as many.
    pub fn exactly<T: Pod>(&mut self, n: usize) -> Result<Vec<T>> {
        let values = self.values()?;
        if values.len() == n { Ok(values) } else { Err(MessageError::Damaged.into()) }
    }

    /// Checks that there is no more.
    pub fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(MessageError::Damaged.into()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope() -> Envelope {
        Envelope { session: Session { epoch: 7, attempt: 2 }, batch: 5, kind: Kind::Needs, from: 1, to: 3 }
    }

    fn message() -> Vec<u8> {
        let mut writer = Writer::new(envelope());
        writer.section(&[1u32, 2, 3]);
        writer.section::<f32>(&[]);
        writer.finish()
    }

    #[test]
    fn sections_are_read_as_they_were_written() {
        let bytes = message();
        let mut reader = Reader::new(&bytes, envelope()).unwrap();
        assert_eq!(reader.values::<u32>().unwrap(), [1, 2, 3]);
        assert!(reader.exactly::<f32>(0).unwrap().is_empty());
        reader.end().unwrap();
    }

    #[test]
    fn what_was_not_expected_is_refused() {
        let bytes = message();
        let refusal = |change: &dyn Fn(&mut Envelope)| {
            let mut expected = envelope();
            change(&mut expected);
            match Reader::new(&bytes, expected).map(drop) {
                Err(Error::Message { cause }) => cause,
                other => panic!("{other:?}"),
            }
        };
        let late = refusal(&|expected| expected.session.attempt = 3);
        assert_eq!(late, MessageError::Attempt { found: 2, expected: 3 });
        assert_eq!(late.to_string(), "a message of attempt 2 came in attempt 3");
        assert_eq!(refusal(&|expected| expected.session.epoch = 8), MessageError::Epoch);
        assert_eq!(refusal(&|expected| expected.batch = 6), MessageError::Batch { found: 5, expected: 6 });
        assert_eq!(refusal(&|expected| expected.kind = Kind::Lend), MessageError::Order);
        assert_eq!(refusal(&|expected| expected.to = 0), MessageError::Order);
    }

    #[test]
    fn a_message_that_lost_its_end_or_a_bit_is_refused() {
        let bytes = message();
        let is_damaged = |bytes: &[u8]| {
            matches!(
                Reader::new(bytes, envelope()).map(drop),
                Err(Error::Message { cause: MessageError::Damaged })
            )
        };
        assert!((0..bytes.len()).all(|end| is_damaged(&bytes[..end])));
        for bit in 0..bytes.len() * 8 {
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(is_damaged(&damaged), "bit {bit}");
        }
    }

    #[test]
    fn a_section_is_no_longer_than_the_message() {
        let mut writer = Writer::new(envelope());
        writer.0.extend_from_slice(&u64::MAX.to_le_bytes());
        assert!(Reader::new(&writer.finish(), envelope()).unwrap().bytes().is_err());
        let bytes = message();
        let mut reader = Reader::new(&bytes, envelope()).unwrap();
        assert!(reader.values::<u64>().is_err(), "12 bytes are no whole numbers of 8 bytes");
    }
}
