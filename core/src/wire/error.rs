//! The one error of reading bytes.

use crate::error::Blame;
use core::fmt;

/// Bytes that do not follow the protocol: what, where, and what should have been there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WireError {
    /// What is wrong.
    pub kind: WireErrorKind,
    /// Position of the first offending byte, in the input that was being read.
    pub at: usize,
    /// What was expected there.
    pub expected: &'static str,
}

/// The kinds of [`WireError`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The input ends too early.
    Truncated,
    /// A length that is negative, or larger than what contains it.
    BadLength,
    /// A magic number or type byte that is not known.
    BadMagic,
    /// Text that is not UTF-8.
    BadText,
    /// A number that is not one, or out of range.
    BadNumber,
    /// JSON that is not JSON, even by fastjson's lenient rules.
    BadJson,
    /// More than the limit allows.
    TooLarge,
    /// Compressed bytes that do not decompress.
    BadCompression,
    /// A required field is absent.
    MissingField,
    /// Something legal that this library does not read.
    Unsupported,
}

impl WireErrorKind {
    /// A stable short name, used in JSON output.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Truncated => "truncated",
            Self::BadLength => "bad-length",
            Self::BadMagic => "bad-magic",
            Self::BadText => "bad-text",
            Self::BadNumber => "bad-number",
            Self::BadJson => "bad-json",
            Self::TooLarge => "too-large",
            Self::BadCompression => "bad-compression",
            Self::MissingField => "missing-field",
            Self::Unsupported => "unsupported",
        }
    }
}

impl WireError {
    /// An error of this kind at this byte.
    pub const fn new(kind: WireErrorKind, at: usize, expected: &'static str) -> Self {
        Self { kind, at, expected }
    }

    /// The same error, seen from an input in which this one starts at `offset`.
    #[must_use]
    pub const fn shifted(self, offset: usize) -> Self {
        Self { at: self.at + offset, ..self }
    }

    /// Bytes come from the peer.
    pub const fn blame(&self) -> Blame {
        Blame::Peer
    }
}

impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: expected {}", self.kind.name(), self.at, self.expected)
    }
}
impl core::error::Error for WireError {}
