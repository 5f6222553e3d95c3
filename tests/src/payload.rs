//! Message bodies that follow from a seed and a number, so that a consumer can tell a right body from a wrong one.
//!
//! `tests/java/Peer.java` has the same generator. Everything draws from SplitMix64 ([`Rng`]), started for message
//! `seq` at `first output of Rng(seed) XOR seq`; `below(n)` is `(next >> 33) % n`.
//!
//! * [`Shape::Text`]: `seq` in decimal, a blank, then `8 + below(32)` letters `'a' + below(26)`.
//! * All others: `seq` as eight big-endian bytes, then `below(200)` bytes ([`Shape::Compressed`]: `4096 + below(4096)`)
//!   taken from the words that follow, lowest byte first. [`Shape::Compressed`] writes `'a' + (byte & 15)` instead
//!   of the byte, so that it does compress.

use evenkeel_core::rng::Rng;

/// Which messages a producer makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// All shapes but [`Shape::Text`], in runs of 64 numbers each.
    Mixed,
    /// Only [`Shape::Text`].
    Text,
    /// Only [`Shape::Batched`]: the fastest way to fill a topic.
    Batch,
    /// The shapes of [`Kind::Mixed`] in runs of 64, but four runs of five are [`Shape::Batched`].
    Bulk,
}

impl Kind {
    /// The name in the commands of the Java peer.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Text => "text",
            Self::Batch => "batch",
            Self::Bulk => "bulk",
        }
    }

    /// The shape of message `seq`.
    pub const fn shape(self, seq: u64) -> Shape {
        match self {
            Self::Mixed => match seq / 64 % 5 {
                0 => Shape::Plain,
                1 => Shape::Compressed,
                2 => Shape::Batched,
                3 => Shape::Keyed,
                _ => Shape::Unicode,
            },
            Self::Text => Shape::Text,
            Self::Batch => Shape::Batched,
            Self::Bulk => match seq / 64 % 20 {
                0 => Shape::Plain,
                1 => Shape::Compressed,
                2 => Shape::Keyed,
                3 => Shape::Unicode,
                _ => Shape::Batched,
            },
        }
    }
}

/// What is special about a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Small and binary.
    Plain,
    /// Above 4 KiB: the Java producer compresses it.
    Compressed,
    /// Small and binary, sent in one request with others of its queue, as the next two are.
    Batched,
    /// With the keys `key-<seq> all` and the tag `TagA`..`TagD` by `seq % 4`.
    Keyed,
    /// With the tag `标签` and the property `ключ` = `значение ✓ 😀 <seq>`.
    Unicode,
    /// A body that is readable text.
    Text,
}

impl Shape {
    /// The tag of message `seq`.
    pub fn tag(self, seq: u64) -> Option<&'static str> {
        match self {
            Self::Keyed => ["TagA", "TagB", "TagC", "TagD"].get((seq % 4) as usize).copied(),
            Self::Unicode => Some("标签"),
            _ => None,
        }
    }

    /// The keys of message `seq`, as the property holds them.
    pub fn keys(self, seq: u64) -> Option<String> {
        (self == Self::Keyed).then(|| format!("key-{seq} all"))
    }
}

/// The body of message `seq`.
pub fn body(seed: u64, kind: Kind, seq: u64) -> Vec<u8> {
    let shape = kind.shape(seq);
    let mut rng = Rng::new(Rng::new(seed).next_u64() ^ seq);
    if shape == Shape::Text {
        let mut text = format!("{seq} ").into_bytes();
        for _ in 0..8 + below(&mut rng, 32) {
            text.push(b'a' + below(&mut rng, 26) as u8);
        }
        return text;
    }
    let compressed = shape == Shape::Compressed;
    let len = 8 + if compressed { 4096 + below(&mut rng, 4096) } else { below(&mut rng, 200) };
    let mut body = seq.to_be_bytes().to_vec();
    while body.len() < len {
        let word = rng.next_u64().to_le_bytes();
        let fill = word.iter().map(|byte| if compressed { b'a' + (byte & 15) } else { *byte });
        body.extend(fill.take(len - body.len()));
    }
    body
}

fn below(rng: &mut Rng, bound: u64) -> usize {
    ((rng.next_u64() >> 33) % bound) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bodies_begin_with_their_number() {
        for seq in [0, 63, 64, 200, 9_999] {
            assert_eq!(body(7, Kind::Mixed, seq).get(..8), Some(&seq.to_be_bytes()[..]));
            assert!(body(7, Kind::Text, seq).starts_with(format!("{seq} ").as_bytes()));
        }
    }

    #[test]
    fn compressed_bodies_are_above_the_limit_of_the_java_producer() {
        assert!((64..128).all(|seq| body(1, Kind::Mixed, seq).len() > 4096));
        assert!((0..64).all(|seq| body(1, Kind::Mixed, seq).len() < 4096));
    }

    #[test]
    fn another_seed_makes_other_bodies() {
        assert_ne!(body(1, Kind::Text, 5), body(2, Kind::Text, 5));
    }
}
