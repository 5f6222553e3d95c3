//! A cursor over received bytes that never reads past the end and never allocates.
//!
//! Integers are big-endian, as everywhere in the remoting protocol. Each read names what it expects, so that a failure
//! can say it. [`Reader::take`] hands out shared slices of the frame: bodies are never copied.

use bytes::Bytes;

use super::error::{WireError, WireErrorKind};

/// A bounded cursor over shared bytes.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    bytes: &'a Bytes,
    position: usize,
    end: usize,
}

impl<'a> Reader<'a> {
    /// A cursor at the first of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a Bytes) -> Self {
        Self { bytes, position: 0, end: bytes.len() }
    }

    /// Index of the next byte, counted from the first byte of the whole buffer (also for a [`Self::sub`] reader).
    #[must_use]
    pub fn position(&self) -> usize {
        self.position
    }

    /// How many bytes are left.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.end - self.position
    }

    /// Whether nothing is left.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.remaining() == 0
    }

    /// An error of `kind` at the current position.
    #[must_use]
    pub fn error(&self, kind: WireErrorKind, expected: &'static str) -> WireError {
        WireError::new(kind, self.position, expected)
    }

    /// The next `count` bytes as a slice that shares the buffer.
    pub fn take(&mut self, count: usize, expected: &'static str) -> Result<Bytes, WireError> {
        let start = self.advance(count, expected)?;
        Ok(self.bytes.slice(start..self.position))
    }

    /// The next `count` bytes, borrowed.
    pub fn view(&mut self, count: usize, expected: &'static str) -> Result<&'a [u8], WireError> {
        let start = self.advance(count, expected)?;
        Ok(&self.bytes[start..self.position])
    }

    /// A reader over the next `count` bytes only; this one continues behind them.
    pub fn sub(&mut self, count: usize, expected: &'static str) -> Result<Self, WireError> {
        let start = self.advance(count, expected)?;
        Ok(Self { bytes: self.bytes, position: start, end: self.position })
    }

    /// All that is left.
    #[must_use]
    pub fn rest(&mut self) -> Bytes {
        let start = self.position;
        self.position = self.end;
        self.bytes.slice(start..self.end)
    }

    /// Fails unless everything was read.
    pub fn finish(&self, expected: &'static str) -> Result<(), WireError> {
        if self.is_empty() { Ok(()) } else { Err(self.error(WireErrorKind::BadLength, expected)) }
    }

    /// One byte.
    pub fn u8(&mut self, expected: &'static str) -> Result<u8, WireError> {
        Ok(u8::from_be_bytes(self.array(expected)?))
    }

    /// A signed 16-bit number.
    pub fn i16(&mut self, expected: &'static str) -> Result<i16, WireError> {
        Ok(i16::from_be_bytes(self.array(expected)?))
    }

    /// A signed 32-bit number.
    pub fn i32(&mut self, expected: &'static str) -> Result<i32, WireError> {
        Ok(i32::from_be_bytes(self.array(expected)?))
    }

    /// A signed 64-bit number.
    pub fn i64(&mut self, expected: &'static str) -> Result<i64, WireError> {
        Ok(i64::from_be_bytes(self.array(expected)?))
    }

    /// Exactly `N` bytes.
    pub fn array<const N: usize>(&mut self, expected: &'static str) -> Result<[u8; N], WireError> {
        let start = self.advance(N, expected)?;
        let mut array = [0; N];
        array.copy_from_slice(&self.bytes[start..self.position]);
        Ok(array)
    }

    fn advance(&mut self, count: usize, expected: &'static str) -> Result<usize, WireError> {
        if count > self.remaining() {
            return Err(self.error(WireErrorKind::Truncated, expected));
        }
        let start = self.position;
        self.position += count;
        Ok(start)
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::{Reader, WireErrorKind};

    #[test]
    fn reads_in_order_and_never_past_the_end() {
        let bytes = Bytes::from_static(&[7, 0xFF, 0xFE, 0, 0, 1, 0, 9, 9, 9]);
        let mut reader = Reader::new(&bytes);
        assert_eq!(reader.u8("a byte"), Ok(7));
        assert_eq!(reader.i16("a short"), Ok(-2));
        let mut inner = reader.sub(4, "four bytes").unwrap();
        assert_eq!(inner.i32("a number"), Ok(256));
        assert_eq!(inner.finish("an end"), Ok(()));
        let error = inner.u8("one more byte").unwrap_err();
        assert_eq!((error.kind, error.at), (WireErrorKind::Truncated, 7));
        assert_eq!(reader.finish("an end").unwrap_err().kind, WireErrorKind::BadLength);
        assert!(reader.take(usize::MAX, "everything").is_err());
        assert_eq!(reader.i64("a long").unwrap_err().at, 7);
        assert_eq!(&reader.rest()[..], [9, 9, 9]);
        assert!(reader.is_empty());
    }
}
