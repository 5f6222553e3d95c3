//! What is wrong with bytes that came over the wire: which kind of fault, at which byte, and what belongs there.

use core::fmt;

use crate::error::Blame;

/// Bytes that break the protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct WireError {
    /// The kind of fault.
    pub kind: WireErrorKind,
    /// Byte position of the fault in what was given to the decoder.
    pub at: usize,
    /// What should have been there.
    pub expected: &'static str,
}

/// Kinds of faults in received bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum WireErrorKind {
    /// The bytes end too early.
    Truncated,
    /// A length that cannot be: negative, or in conflict with another one.
    BadLength,
    /// A format mark that nobody knows.
    BadMagic,
    /// Text that is not what its place asks for.
    BadText,
    /// A number that is none, or outside its range.
    BadNumber,
    /// Text that no JSON reader of this field accepts.
    BadJson,
    /// More than the receiver is willing to hold.
    TooLarge,
    /// A compressed body that cannot be unpacked.
    BadCompression,
    /// A field that has to be there is not.
    MissingField,
    /// A known feature that this reader does not have.
    Unsupported,
}

impl WireError {
    /// The fault `kind` at byte `at`, where `expected` should have been.
    #[must_use]
    pub const fn new(kind: WireErrorKind, at: usize, expected: &'static str) -> Self {
        Self { kind, at, expected }
    }

    /// Who has to act: always the sender of the bytes.
    #[must_use]
    pub const fn blame(&self) -> Blame {
        Blame::Peer
    }
}

impl fmt::Display for WireErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Truncated => "the bytes end too early",
            Self::BadLength => "impossible length",
            Self::BadMagic => "unknown format mark",
            Self::BadText => "malformed text",
            Self::BadNumber => "malformed or out-of-range number",
            Self::BadJson => "malformed JSON",
            Self::TooLarge => "larger than allowed",
            Self::BadCompression => "cannot be decompressed",
            Self::MissingField => "missing field",
            Self::Unsupported => "unsupported feature",
        })
    }
}

/// `impossible length at byte 84: expected a body length`
impl fmt::Display for WireError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at byte {}: expected {}", self.kind, self.at, self.expected)
    }
}

impl core::error::Error for WireError {}
