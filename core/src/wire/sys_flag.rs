//! The bit sets of pull requests and stored messages.
//!
//! Equal to `PullSysFlag` and `MessageSysFlag` of the Java library. Bits that nobody names are kept as they are.

/// Bits of a pull request's `sysFlag`.
pub mod pull {
    /// The request carries an offset to commit.
    pub const COMMIT_OFFSET: i32 = 0x1;
    /// The broker may hold the request until messages arrive.
    pub const SUSPEND: i32 = 0x2;
    /// The request carries a subscription expression.
    pub const SUBSCRIPTION: i32 = 0x4;
    /// The subscription is a filter class (never set by this client).
    pub const CLASS_FILTER: i32 = 0x8;
    /// Sent by a lite pull consumer.
    pub const LITE_PULL: i32 = 0x10;

    /// The flags of a pull request.
    #[must_use]
    pub const fn build(commit_offset: bool, suspend: bool, subscription: bool, class_filter: bool) -> i32 {
        (if commit_offset { COMMIT_OFFSET } else { 0 })
            | (if suspend { SUSPEND } else { 0 })
            | (if subscription { SUBSCRIPTION } else { 0 })
            | (if class_filter { CLASS_FILTER } else { 0 })
    }

    /// `flags` without the commit bit: how a slave is asked, which must not commit.
    #[must_use]
    pub const fn without_commit_offset(flags: i32) -> i32 {
        flags & !COMMIT_OFFSET
    }
}

/// Bits of a message's `sysFlag`.
pub mod message {
    /// The body is compressed.
    pub const COMPRESSED: i32 = 0x1;
    /// The topic allows several tags.
    pub const MULTI_TAGS: i32 = 0x2;
    /// First phase of a transaction.
    pub const TRANSACTION_PREPARED: i32 = 0x4;
    /// A committed transaction.
    pub const TRANSACTION_COMMIT: i32 = 0x8;
    /// A rolled back transaction; also the mask of the field.
    pub const TRANSACTION_ROLLBACK: i32 = 0xC;
    /// The sender's address has 16 bytes.
    pub const BORN_HOST_V6: i32 = 0x10;
    /// The broker's address has 16 bytes.
    pub const STORE_HOST_V6: i32 = 0x20;
    /// The reader has to unwrap the inner batch.
    pub const NEED_UNWRAP: i32 = 0x40;
    /// The body is a batch of messages.
    pub const INNER_BATCH: i32 = 0x80;
    /// Mask of the compression type, three bits.
    pub const COMPRESSION: i32 = 0x700;

    /// How a body is compressed.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub enum Compression {
        /// An LZ4 frame.
        Lz4,
        /// Zstandard frames.
        Zstd,
        /// A zlib stream; also what type 0 means, from before there were types.
        Zlib,
    }

    impl Compression {
        /// The type bits as a producer sets them, with [`COMPRESSED`].
        #[must_use]
        pub const fn flags(self) -> i32 {
            COMPRESSED
                | match self {
                    Self::Lz4 => 0x100,
                    Self::Zstd => 0x200,
                    Self::Zlib => 0x300,
                }
        }
    }

    /// The compression type in `flags`, none if the type is unknown. Says nothing about whether the body is compressed.
    #[must_use]
    pub const fn compression(flags: i32) -> Option<Compression> {
        match (flags & COMPRESSION) >> 8 {
            0 | 3 => Some(Compression::Zlib),
            1 => Some(Compression::Lz4),
            2 => Some(Compression::Zstd),
            _ => None,
        }
    }

    /// The transaction field of `flags`.
    #[must_use]
    pub const fn transaction(flags: i32) -> i32 {
        flags & TRANSACTION_ROLLBACK
    }

    /// `flags` with its transaction field set to `value`.
    #[must_use]
    pub const fn with_transaction(flags: i32, value: i32) -> i32 {
        (flags & !TRANSACTION_ROLLBACK) | value
    }

    /// `flags` of a body that was decompressed: the type bits stay.
    #[must_use]
    pub const fn without_compressed(flags: i32) -> i32 {
        flags & !COMPRESSED
    }

    /// Whether this is a batch that the reader has to unwrap.
    #[must_use]
    pub const fn is_wrapped_batch(flags: i32) -> bool {
        flags & INNER_BATCH != 0 && flags & NEED_UNWRAP != 0
    }
}
