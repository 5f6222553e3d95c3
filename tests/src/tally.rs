//! Which messages of a producer of [`payload`] have arrived, how often, and whether they were right.

use crate::payload::{self, Kind};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::Value;

/// Counts messages by their number and compares every byte of their bodies.
#[derive(Debug)]
pub struct Tally {
    seed: u64,
    kind: Kind,
    times: Vec<u32>,
    distinct: u64,
    total: u64,
    bytes: u64,
}

impl Tally {
    /// For the messages 0 to `count`.
    pub fn new(seed: u64, kind: Kind, count: u64) -> Self {
        Self { seed, kind, times: vec![0; count as usize], distinct: 0, total: 0, bytes: 0 }
    }

    /// Takes in a line of `evenkeel consume --json`. Gives the message's number.
    ///
    /// # Panics
    ///
    /// If the body, the tag or the keys are not those of the message with that number.
    pub fn take_ours(&mut self, line: &Value) -> u64 {
        let text = line["body"].as_str().unwrap_or_else(|| panic!("no body in {line}"));
        let body = match line["bodyEncoding"].as_str() {
            Some("utf8") => text.as_bytes().to_vec(),
            Some("base64") => STANDARD.decode(text).unwrap_or_else(|error| panic!("{line}: {error}")),
            _ => panic!("no encoding of the body in {line}"),
        };
        let seq = self.take_body(&body);
        let shape = self.kind.shape(seq);
        assert_eq!(line["tag"].as_str(), shape.tag(seq), "{line}");
        let keys: Vec<&str> =
            line["keys"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
        assert_eq!(keys.join(" "), shape.keys(seq).unwrap_or_default(), "{line}");
        seq
    }

    /// Takes in a `message` line of the Java peer, which was given the seed and compared the body itself.
    ///
    /// # Panics
    ///
    /// If the peer found the body wrong.
    pub fn take_java(&mut self, line: &Value) -> u64 {
        assert_eq!(line["ok"], true, "{line}");
        let seq = line["seq"].as_u64().unwrap_or_else(|| panic!("no number in {line}"));
        self.count(seq);
        seq
    }

    /// Takes in a body. Gives the message's number.
    ///
    /// # Panics
    ///
    /// If it is not the body of the message whose number it begins with.
    pub fn take_body(&mut self, body: &[u8]) -> u64 {
        let seq = self.number(body).unwrap_or_else(|| panic!("a body without a number: {body:?}"));
        let right = payload::body(self.seed, self.kind, seq);
        assert!(body == right, "message {seq} has the body {body:?} instead of {right:?}");
        self.bytes += body.len() as u64;
        self.count(seq);
        seq
    }

    /// How many of the numbers have not arrived.
    pub fn missing(&self) -> u64 {
        self.times.len() as u64 - self.distinct
    }

    /// How many of the numbers have arrived.
    pub fn distinct(&self) -> u64 {
        self.distinct
    }

    /// Arrivals beyond the first of their number.
    pub fn duplicates(&self) -> u64 {
        self.total - self.distinct
    }

    /// Bytes that were compared here.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// How often a message has arrived.
    pub fn times(&self, seq: u64) -> u32 {
        self.times[seq as usize]
    }

    /// The numbers that have not arrived, the first few of them.
    pub fn absent(&self) -> Vec<u64> {
        (0..).zip(&self.times).filter(|(_, times)| **times == 0).map(|(seq, _)| seq).take(20).collect()
    }

    fn number(&self, body: &[u8]) -> Option<u64> {
        if self.kind == Kind::Text {
            return std::str::from_utf8(body).ok()?.split(' ').next()?.parse().ok();
        }
        Some(u64::from_be_bytes(body.get(..8)?.try_into().ok()?))
    }

    fn count(&mut self, seq: u64) {
        let times = self.times.get_mut(seq as usize).unwrap_or_else(|| panic!("nobody sent message {seq}"));
        *times += 1;
        self.total += 1;
        self.distinct += u64::from(*times == 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn right_bodies_are_counted() {
        let mut tally = Tally::new(3, Kind::Mixed, 300);
        for seq in [0, 64, 128, 193, 256, 0] {
            let line = json!({
                "body": STANDARD.encode(payload::body(3, Kind::Mixed, seq)), "bodyEncoding": "base64",
                "tag": Kind::Mixed.shape(seq).tag(seq),
                "keys": Kind::Mixed.shape(seq).keys(seq).map(|keys| keys.split(' ').map(str::to_owned).collect::<Vec<_>>()),
            });
            assert_eq!(tally.take_ours(&line), seq);
        }
        assert_eq!((tally.distinct(), tally.duplicates(), tally.missing()), (5, 1, 295));
        assert_eq!(tally.absent().first(), Some(&1));
    }

    #[test]
    #[should_panic(expected = "instead of")]
    fn a_wrong_byte_is_found() {
        let mut body = payload::body(3, Kind::Text, 5);
        if let Some(last) = body.last_mut() {
            *last ^= 1;
        }
        Tally::new(3, Kind::Text, 10).take_body(&body);
    }
}
