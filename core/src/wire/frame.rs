//! Frames: the outermost layer of a connection's byte stream, in both directions.
//!
//! | field | size | value |
//! |---|---|---|
//! | length | i32 | bytes that follow it: 4 + header + body |
//! | header word | i32 | high byte: header encoding; low 24 bits: header length |
//! | header | header length | JSON or binary, see [`super::header`] |
//! | body | the rest | |
//!
//! Rules of the Java side's decoder: a frame of more than 16 MiB, a length that is negative or cannot hold its
//! header, and an unknown encoding end the connection.

use super::command::{Command, HeaderEncoding};
use super::error::{WireError, WireErrorKind};
use super::header;
use bytes::{BufMut, Bytes, BytesMut};

/// Longest frame that Java's peers take, the length field included.
pub const DEFAULT_FRAME_LIMIT: usize = 16 * 1024 * 1024;

/// Bytes of the length field and of the header word.
const WORD: usize = 4;
/// Low 24 bits of the header word.
const HEADER_LENGTH_MASK: usize = 0x00FF_FFFF;
/// Room made for a frame whose length is known but whose bytes are not here yet: a claim alone gets no more.
const READ_AHEAD: usize = 64 * 1024;

/// Cuts a byte stream into frames. Owns a partial frame.
#[derive(Debug)]
pub struct Framer {
    buffer: BytesMut,
    limit: usize,
    broken: Option<WireError>,
}

impl Default for Framer {
    fn default() -> Self {
        Self::new(DEFAULT_FRAME_LIMIT)
    }
}

impl Framer {
    /// A framer that refuses frames of more than `limit` bytes, counted with their length field.
    pub fn new(limit: usize) -> Self {
        Self { buffer: BytesMut::new(), limit, broken: None }
    }

    /// Where to append what arrives. Call [`Framer::next`] until it gives nothing before appending more.
    pub fn buffer(&mut self) -> &mut BytesMut {
        &mut self.buffer
    }

    /// Appends a copy of these bytes.
    pub fn push(&mut self, bytes: &[u8]) {
        self.buffer.extend_from_slice(bytes);
    }

    /// Bytes of the frame that has not all arrived.
    pub fn pending(&self) -> usize {
        self.buffer.len()
    }

    /// The next whole frame, from its length field on; `None` if it has not all arrived. It shares the buffer's
    /// memory. After an error nothing can be read any more, and the same error comes again.
    #[allow(
        clippy::should_implement_trait,
        reason = "an iterator would end at None, this goes on after more bytes"
    )]
    pub fn next(&mut self) -> Result<Option<Bytes>, WireError> {
        if let Some(error) = &self.broken {
            return Err(*error);
        }
        match frame_length(&self.buffer, self.limit) {
            Ok(Some(length)) if self.buffer.len() >= length => {
                Ok(Some(self.buffer.split_to(length).freeze()))
            }
            Ok(Some(length)) => {
                self.buffer.reserve((length - self.buffer.len()).min(READ_AHEAD));
                Ok(None)
            }
            Ok(None) => Ok(None),
            Err(error) => {
                self.buffer = BytesMut::new();
                self.broken = Some(error);
                Err(error)
            }
        }
    }
}

/// Length of the frame at the front, its length field included; `None` if even that is not here yet. Checks what can
/// be checked with the bytes that are here.
fn frame_length(bytes: &[u8], limit: usize) -> Result<Option<usize>, WireError> {
    let Some(claimed) = word(bytes, 0) else { return Ok(None) };
    let claimed = usize::try_from(i32::from_be_bytes(claimed))
        .map_err(|_| WireError::new(WireErrorKind::BadLength, 0, "a length that is not negative"))?;
    if claimed < WORD {
        return Err(WireError::new(WireErrorKind::BadLength, 0, "a length of at least 4"));
    }
    if claimed > limit.saturating_sub(WORD) {
        return Err(WireError::new(WireErrorKind::TooLarge, 0, "a frame within the limit"));
    }
    if let Some(header) = word(bytes, WORD) {
        header_length(header, claimed)?;
    }
    Ok(Some(WORD + claimed))
}

/// Length of the header from its word; `claimed` is the frame's length field.
fn header_length(word: [u8; WORD], claimed: usize) -> Result<usize, WireError> {
    let length = u32::from_be_bytes(word) as usize & HEADER_LENGTH_MASK;
    if length > claimed - WORD {
        return Err(WireError::new(WireErrorKind::BadLength, WORD, "a header that ends within the frame"));
    }
    Ok(length)
}

fn word(bytes: &[u8], at: usize) -> Option<[u8; WORD]> {
    bytes.get(at..at + WORD)?.try_into().ok()
}

impl Command {
    /// Reads a whole frame, as [`Framer::next`] gives it. The body is a slice of it, not a copy.
    ///
    /// Errors: [`WireErrorKind::BadLength`] and [`WireErrorKind::Truncated`] if the bytes are not exactly one frame,
    /// [`WireErrorKind::BadMagic`] for an unknown header encoding, and those of the header's encoding.
    pub fn decode(frame: Bytes) -> Result<(Self, HeaderEncoding), WireError> {
        let whole = frame_length(&frame, usize::MAX)?;
        let (Some(whole), Some(header_word)) = (whole, word(&frame, WORD)) else {
            return Err(WireError::new(WireErrorKind::Truncated, frame.len(), "a whole frame"));
        };
        if frame.len() < whole {
            return Err(WireError::new(WireErrorKind::Truncated, frame.len(), "a whole frame"));
        }
        if frame.len() > whole {
            return Err(WireError::new(WireErrorKind::BadLength, whole, "the end of the frame"));
        }
        let start = 2 * WORD;
        let end = start + header_length(header_word, whole - WORD)?;
        let encoding = match header_word[0] {
            0 => HeaderEncoding::Json,
            1 => HeaderEncoding::Binary,
            _ => return Err(WireError::new(WireErrorKind::BadMagic, WORD, "header encoding 0 or 1")),
        };
        let header = &frame[start..end];
        let mut command = match encoding {
            HeaderEncoding::Json => header::read_json(header),
            HeaderEncoding::Binary => header::read_binary(header),
        }
        .map_err(|error| error.shifted(start))?;
        command.body = frame.slice(end..);
        Ok((command, encoding))
    }

    /// Writes the command as one frame, from its length field on.
    ///
    /// Errors: see [`EncodeError`].
    pub fn encode(&self, encoding: HeaderEncoding) -> Result<Bytes, EncodeError> {
        let header = match encoding {
            HeaderEncoding::Json => header::write_json(self).into_bytes(),
            HeaderEncoding::Binary => header::write_binary(self)?,
        };
        let length = WORD + header.len() + self.body.len();
        let header_word = u32::try_from(header.len()).unwrap_or(u32::MAX);
        if header.len() > HEADER_LENGTH_MASK || length > DEFAULT_FRAME_LIMIT - WORD {
            return Err(EncodeError::TooLarge { length: length + WORD });
        }
        let kind = u32::from(encoding == HeaderEncoding::Binary) << 24;
        let mut frame = BytesMut::with_capacity(WORD + length);
        // Within 16 MiB, as checked.
        frame.put_u32(length as u32);
        frame.put_u32(kind | header_word);
        frame.extend_from_slice(&header);
        frame.extend_from_slice(&self.body);
        Ok(frame.freeze())
    }
}

/// Why a command cannot be written. It never reaches the wire, so the caller's next command can.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EncodeError {
    /// Binary headers have 16 bits for codes and versions; JSON has no such bound.
    #[error("{what} {number} does not fit a binary header")]
    TooWide {
        /// `code` or `version`.
        what: &'static str,
        /// The number.
        number: i32,
    },
    /// Binary headers have 15 bits for the length of a field's name.
    #[error("a field name of {length} bytes does not fit a binary header")]
    LongName {
        /// Bytes of the name.
        length: usize,
    },
    /// The peer would close the connection.
    #[error("a frame of {length} bytes is over the peer's limit of 16 MiB")]
    TooLarge {
        /// Bytes of the frame.
        length: usize,
    },
}
