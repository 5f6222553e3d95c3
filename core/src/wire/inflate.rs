//! Compressed bodies: zlib streams, LZ4 frames and Zstandard frames, each with a limit on what comes out.
//!
//! Equal to `ZlibCompressor`, `Lz4Compressor` and `ZstdCompressor` of the Java library in what they accept:
//!
//! | | more bytes behind | two in one body | checksum |
//! |---|---|---|---|
//! | zlib | ignored | the second is ignored | must match |
//! | LZ4 | an error | both, joined | must match where there is one |
//! | zstd | ignored | both, joined | not looked at |

use alloc::vec::Vec;

use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};
use ruzstd::io::Read as _;

use super::error::{WireError, WireErrorKind};
use super::lz4_frame;
use super::sys_flag::message::Compression;

/// Unpacks `packed` into at most `limit` bytes. Error positions count from the start of `packed`.
pub fn inflate(packed: &[u8], compression: Compression, limit: usize) -> Result<Vec<u8>, WireError> {
    match compression {
        Compression::Zlib => zlib(packed, limit),
        Compression::Lz4 => lz4_frame::decode(packed, limit),
        Compression::Zstd => zstd(packed, limit),
    }
}

/// Packs `body` into a zlib stream, as a producer does by default at level 5. Levels are 0 to 9.
#[must_use]
pub fn deflate(body: &[u8], level: u8) -> Vec<u8> {
    miniz_oxide::deflate::compress_to_vec_zlib(body, level.min(9))
}

/// The error for output beyond the limit.
pub(super) const fn too_large(at: usize) -> WireError {
    WireError::new(WireErrorKind::TooLarge, at, "a body that stays under the limit when decompressed")
}

fn zlib(packed: &[u8], limit: usize) -> Result<Vec<u8>, WireError> {
    use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_zlib_with_limit};

    // One byte more than allowed, so that a body of exactly `limit` bytes is told from a larger one.
    match decompress_to_vec_zlib_with_limit(packed, limit.saturating_add(1)) {
        Ok(body) if body.len() <= limit => Ok(body),
        Ok(_) => Err(too_large(0)),
        Err(error) if error.status == TINFLStatus::HasMoreOutput => Err(too_large(0)),
        Err(_) => Err(WireError::new(WireErrorKind::BadCompression, 0, "a complete zlib stream")),
    }
}

/// First bytes of a Zstandard frame, little-endian 0xFD2FB528 (RFC 8878).
const ZSTD_MAGIC: [u8; 4] = [0x28, 0xB5, 0x2F, 0xFD];
/// Output that is gathered before the limit is looked at again.
const ZSTD_STEP: usize = 64 * 1024;
/// Window that every decoder of the format is asked to have: 8 MiB (RFC 8878, 3.1.1.1.2).
const ZSTD_WINDOW: u64 = 8 * 1024 * 1024;

fn zstd(packed: &[u8], limit: usize) -> Result<Vec<u8>, WireError> {
    let mut body = Vec::new();
    let mut rest = packed;
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(ZSTD_WINDOW.max(limit as u64));
    loop {
        let at = packed.len() - rest.len();
        let broken = WireError::new(WireErrorKind::BadCompression, at, "a complete zstd frame");
        decoder.init(&mut rest).map_err(|_| broken)?;
        loop {
            let finished = decoder
                .decode_blocks(&mut rest, BlockDecodingStrategy::UptoBytes(ZSTD_STEP))
                .map_err(|_| broken)?;
            // What the decoder keeps back for later matches counts as well.
            let held = decoder.can_collect();
            if body.len().saturating_add(held) > limit {
                return Err(too_large(at));
            }
            let start = body.len();
            body.resize(start + held, 0);
            decoder.read_exact(&mut body[start..]).map_err(|_| broken)?;
            if finished {
                break;
            }
        }
        if !rest.starts_with(&ZSTD_MAGIC) {
            return Ok(body);
        }
    }
}
