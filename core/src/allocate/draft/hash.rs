//! The numbers behind the names: MurmurHash3 of 32 bits, and the score of a queue for a member.

/// MurmurHash3 (x86, 32 bits, seed 0) of the text's UTF-8 bytes.
pub(super) fn text_hash(text: &str) -> u32 {
    let bytes = text.as_bytes();
    let mut blocks = bytes.chunks_exact(4);
    let mut hash = 0_u32;
    for block in &mut blocks {
        hash ^= mixed(little_endian(block));
        hash = hash.rotate_left(13).wrapping_mul(5).wrapping_add(0xe654_6b64);
    }
    hash ^= mixed(little_endian(blocks.remainder()));
    // The length counts modulo 2³², as everything here.
    finished(hash ^ bytes.len() as u32)
}

/// How well the queue of a key suits the member of a multiplier. Larger is better. It is asked for every pair of queue and
/// member, so it is worth its code in each loop, also where code is kept small.
#[inline(always)]
#[allow(clippy::inline_always, reason = "see above")]
pub(super) const fn score(key: u32, multiplier: u32) -> u32 {
    finished(key.wrapping_add(multiplier))
}

/// A member's share in all its scores, from the hash of its names.
pub(super) const fn multiplier(hash: u32) -> u32 {
    hash.wrapping_mul(0x9E37_79B1)
}

/// Up to four bytes as a number, the first the lowest.
fn little_endian(bytes: &[u8]) -> u32 {
    bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
}

const fn mixed(block: u32) -> u32 {
    block.wrapping_mul(0xcc9e_2d51).rotate_left(15).wrapping_mul(0x1b87_3593)
}

#[inline(always)]
#[allow(clippy::inline_always, reason = "a part of `score`")]
const fn finished(mut hash: u32) -> u32 {
    hash ^= hash >> 16;
    hash = hash.wrapping_mul(0x85eb_ca6b);
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(0xc2b2_ae35);
    hash ^ hash >> 16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_hash_as_in_the_vectors() {
        for (text, hash) in [
            ("", 0),
            ("a", 0x3c25_69b2),
            ("abc", 0xb3dd_93fa),
            ("G\n10.0.0.1@1000#7919", 0x88e8_5ae9),
            ("T0\nbroker-0000\n3", 0xa0ab_f31b),
            ("%RETRY%G\nbroker-a\n0", 0x56f7_06f0),
        ] {
            assert_eq!(text_hash(text), hash, "{text:?}");
        }
    }

    #[test]
    fn scores_are_as_in_the_vectors() {
        for (key, multiplier, expected) in [
            (0, 0, 0),
            (1, 0, 0x514e_28b7),
            (0x1234_5678, 0x9abc_def0, 0xfb0e_fc8a),
            (0xffff_ffff, 1, 0),
            (0xdead_beef, 0xcafe_babe, 0x0ceb_8b9d),
        ] {
            assert_eq!(score(key, multiplier), expected, "{key:08x} {multiplier:08x}");
        }
    }
}
