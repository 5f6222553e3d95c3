//! C17: the two address widths of a message are independent of each other.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use bytes::Bytes;
use evenkeel_core::wire::message::{Host, Message};
use evenkeel_core::wire::stored::{Limits, decode_batch, encode_stored};
use hex_literal::hex;

/// 105 bytes: born at 127.0.0.1:10000, stored by [2001:db8::1]:10911 (system flags 0x20).
const STORED_BY_V6: [u8; 105] = hex!(
    "00000069daa320a768b7be43000000030000000000000000000000070000000000001234000000200000018bcfe56800"
    "7f000001000027100000018bcfe5680120010db800000000000000000000000100002a9f000000000000000000000000"
    "000000016101540000"
);

fn decode(bytes: &[u8]) -> Message {
    let batch = decode_batch(&Bytes::copy_from_slice(bytes), Limits::default());
    assert_eq!(batch.damaged, None);
    assert_eq!(batch.messages.len(), 1);
    batch.messages[0].clone()
}

fn host(text: &str) -> Host {
    let address: std::net::SocketAddr = text.parse().unwrap();
    Host::new(address.ip(), address.port())
}

fn encode(message: &Message) -> Vec<u8> {
    let mut bytes = Vec::new();
    let size = encode_stored(message, &mut bytes).unwrap();
    assert_eq!(size as usize, bytes.len());
    bytes
}

#[test]
fn only_the_broker_has_an_ipv6_address() {
    let message = decode(&STORED_BY_V6);
    assert_eq!((message.topic.as_str(), &message.body[..]), ("T", &b"a"[..]));
    assert_eq!((message.queue_id, message.queue_offset), (3, 7));
    assert_eq!(message.born_host.to_string(), "127.0.0.1:10000");
    assert_eq!(message.store_host.to_string(), "[2001:db8::1]:10911");
    assert_eq!(message.offset_id().to_string(), "20010DB800000000000000000000000100002A9F0000000000001234");
    assert_eq!(message.checksum_matches(), Some(true));
    assert_eq!(encode(&message), STORED_BY_V6);
}

#[test]
fn neither_or_both_have_one() {
    let mut message = decode(&STORED_BY_V6);
    message.born_host = host("[2001:db8::2]:10000");
    let both = encode(&message);
    assert_eq!(both.len(), 117);
    assert_eq!(decode(&both).born_host, message.born_host);
    assert_eq!(decode(&both).sys_flag, 0x30); // both bits

    (message.born_host, message.store_host) = (host("127.0.0.1:10000"), host("127.0.0.1:10911"));
    message.sys_flag = 0;
    let neither = encode(&message);
    assert_eq!(neither.len(), 93);
    assert_eq!(decode(&neither).offset_id().to_string(), "7F00000100002A9F0000000000001234");
}

/// The control: a reader that ties both widths to one bit reads garbage here, and we do when the bit is wrong.
#[test]
fn a_wrong_bit_is_noticed() {
    let mut bytes = STORED_BY_V6;
    bytes[39] = 0x10; // the sender's bit instead of the broker's
    assert!(decode_batch(&Bytes::copy_from_slice(&bytes), Limits::default()).damaged.is_some());
}
