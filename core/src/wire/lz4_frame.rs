//! The LZ4 frame format: header, blocks, checksums. Only the blocks themselves are left to `lz4_flex`.
//!
//! Frames may follow one another and skippable frames may stand between; anything else behind a frame is an error.
//! Unlike the Java library's reader this one also takes linked blocks. Layout, all numbers little-endian:
//!
//! ```text
//! magic 4 | FLG 1 | BD 1 | [content size 8] | header checksum 1 | blocks | end mark 4 = 0 | [content checksum 4]
//! block:  size 4, top bit set = stored as it is | data | [block checksum 4]
//! ```

use alloc::vec::Vec;

use super::error::{WireError, WireErrorKind};
use super::inflate::too_large;

/// First bytes of a frame.
const MAGIC: u32 = 0x184D_2204;
/// First bytes of a frame to skip; the low four bits are free.
const SKIPPABLE: u32 = 0x184D_2A50;
/// How far back a match can reach.
const WINDOW: usize = 64 * 1024;

/// Unpacks all frames of `packed` into at most `limit` bytes.
pub fn decode(packed: &[u8], limit: usize) -> Result<Vec<u8>, WireError> {
    let mut input = Input { bytes: packed, at: 0 };
    let mut body = Vec::new();
    while input.at < packed.len() {
        let at = input.at;
        match input.u32()? {
            MAGIC => frame(&mut input, &mut body, limit)?,
            // The low four bits of the mark are free.
            mark if mark & 0xFFFF_FFF0 == SKIPPABLE => {
                let size = input.u32()? as usize;
                input.take(size)?;
            }
            _ => return Err(WireError::new(WireErrorKind::BadCompression, at, "an LZ4 frame")),
        }
    }
    Ok(body)
}

fn frame(input: &mut Input<'_>, body: &mut Vec<u8>, limit: usize) -> Result<(), WireError> {
    let header = Header::read(input)?;
    let start = body.len();
    loop {
        let at = input.at;
        let mark = input.u32()?;
        if mark == 0 {
            break;
        }
        // The top bit says that the block is stored as it is.
        let size = (mark & 0x7FFF_FFFF) as usize;
        if size > header.block_max {
            return Err(broken(at, "a block no larger than the frame allows"));
        }
        let data = input.take(size)?;
        if header.block_checksums && input.u32()? != xxh32(data) {
            return Err(broken(at, "a block that matches its checksum"));
        }
        if mark & 0x8000_0000 != 0 {
            if body.len().saturating_add(size) > limit {
                return Err(too_large(at));
            }
            body.extend_from_slice(data);
        } else {
            unpack_block(data, at, &header, body, start, limit)?;
        }
    }
    let content = &body[start..];
    if header.content_checksum && input.u32()? != xxh32(content) {
        return Err(broken(input.at, "a content that matches its checksum"));
    }
    if header.content_size.is_some_and(|size| size != content.len() as u64) {
        return Err(broken(input.at, "as many bytes as the frame's header says"));
    }
    Ok(())
}

fn unpack_block(
    data: &[u8],
    at: usize,
    header: &Header,
    body: &mut Vec<u8>,
    start: usize,
    limit: usize,
) -> Result<(), WireError> {
    let before = body.len();
    // A byte of LZ4 yields at most 255 bytes, so a short block asks for little memory whatever the header allows.
    let most = header.block_max.min(data.len().saturating_mul(255));
    let allowed = limit.saturating_sub(before);
    body.resize(before + most.min(allowed), 0);
    let (done, room) = body.split_at_mut(before);
    let dictionary = if header.linked { &done[start.max(before.saturating_sub(WINDOW))..] } else { &[] };
    match lz4_flex::block::decompress_into_with_dict(data, room, dictionary) {
        Ok(size) => {
            body.truncate(before + size);
            Ok(())
        }
        Err(lz4_flex::block::DecompressError::OutputTooSmall { .. }) if most > allowed => Err(too_large(at)),
        Err(_) => Err(broken(at, "an LZ4 block")),
    }
}

struct Header {
    linked: bool,
    block_checksums: bool,
    content_checksum: bool,
    content_size: Option<u64>,
    block_max: usize,
}

impl Header {
    fn read(input: &mut Input<'_>) -> Result<Self, WireError> {
        let start = input.at;
        let flags = input.u8()?;
        let descriptor = input.u8()?;
        // Two version bits have to be 01.
        if flags >> 6 != 1 {
            return Err(broken(start, "version 1 of the LZ4 frame format"));
        }
        // Bit 0: a dictionary, which a message has nowhere to name.
        if flags & 0x01 != 0 {
            return Err(WireError::new(
                WireErrorKind::Unsupported,
                start,
                "an LZ4 frame without a dictionary",
            ));
        }
        let block_max = match descriptor >> 4 & 0x7 {
            4 => 64 * 1024,
            5 => 256 * 1024,
            6 => 1024 * 1024,
            7 => 4 * 1024 * 1024,
            _ => return Err(broken(start + 1, "a block size of 64 KiB to 4 MiB")),
        };
        // Bit 3: the content size follows.
        let content_size = if flags & 0x08 == 0 { None } else { Some(input.u64()?) };
        let checked = &input.bytes[start..input.at];
        // The checksum is the second lowest byte of the hash.
        if input.u8()? != (xxh32(checked) >> 8) as u8 {
            return Err(broken(start, "an LZ4 frame header that matches its checksum"));
        }
        Ok(Self {
            linked: flags & 0x20 == 0,           // bit 5: blocks are independent
            block_checksums: flags & 0x10 != 0,  // bit 4
            content_checksum: flags & 0x04 != 0, // bit 2
            content_size,
            block_max,
        })
    }
}

const fn broken(at: usize, expected: &'static str) -> WireError {
    WireError::new(WireErrorKind::BadCompression, at, expected)
}

struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], WireError> {
        let end = self.at.checked_add(count).filter(|end| *end <= self.bytes.len());
        let end = end.ok_or(broken(self.at, "more bytes of an LZ4 frame"))?;
        let taken = &self.bytes[self.at..end];
        self.at = end;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut array = [0; N];
        array.copy_from_slice(self.take(N)?);
        Ok(array)
    }

    fn u8(&mut self) -> Result<u8, WireError> {
        Ok(u8::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, WireError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, WireError> {
        Ok(u64::from_le_bytes(self.array()?))
    }
}

/// xxHash, 32 bits, seed 0.
#[must_use]
pub fn xxh32(bytes: &[u8]) -> u32 {
    // The five primes of the algorithm.
    const P1: u32 = 0x9E37_79B1;
    const P2: u32 = 0x85EB_CA77;
    const P3: u32 = 0xC2B2_AE3D;
    const P4: u32 = 0x27D4_EB2F;
    const P5: u32 = 0x1656_67B1;
    let word = |four: &[u8]| four.iter().rev().fold(0_u32, |value, byte| value << 8 | u32::from(*byte));

    let stripes = bytes.chunks_exact(16);
    let tail = stripes.remainder();
    let mut hash = if bytes.len() < 16 {
        P5
    } else {
        let mut lanes = [P1.wrapping_add(P2), P2, 0, 0_u32.wrapping_sub(P1)];
        for stripe in stripes {
            for (lane, four) in lanes.iter_mut().zip(stripe.chunks_exact(4)) {
                *lane = lane.wrapping_add(word(four).wrapping_mul(P2)).rotate_left(13).wrapping_mul(P1);
            }
        }
        let turned = [1, 7, 12, 18];
        lanes.iter().zip(turned).fold(0_u32, |sum, (lane, by)| sum.wrapping_add(lane.rotate_left(by)))
    };
    hash = hash.wrapping_add(bytes.len() as u32);
    let words = tail.chunks_exact(4);
    let last = words.remainder();
    for four in words {
        hash = hash.wrapping_add(word(four).wrapping_mul(P3)).rotate_left(17).wrapping_mul(P4);
    }
    for byte in last {
        hash = hash.wrapping_add(u32::from(*byte).wrapping_mul(P5)).rotate_left(11).wrapping_mul(P1);
    }
    hash = (hash ^ (hash >> 15)).wrapping_mul(P2);
    hash = (hash ^ (hash >> 13)).wrapping_mul(P3);
    hash ^ (hash >> 16)
}

#[cfg(test)]
mod tests {
    use super::xxh32;

    #[test]
    fn xxh32_known_values() {
        // Values that the reference implementation prints.
        assert_eq!(xxh32(b""), 0x02CC_5D05);
        assert_eq!(xxh32(b"a"), 0x550D_7456);
        assert_eq!(xxh32(b"abc"), 0x32D1_53FF);
        assert_eq!(xxh32(b"Nobody inspects the spammish repetition"), 0xE229_3B2F);
    }
}
