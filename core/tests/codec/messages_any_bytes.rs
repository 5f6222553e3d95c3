//! Properties of the message codec: what is written comes back, and no bytes make a reader panic or grow.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::net::IpAddr;

use bytes::Bytes;
use evenkeel_core::model::Topic;
use evenkeel_core::time::WallClock;
use evenkeel_core::wire::batch::{BatchItem, decode_items, encode_items};
use evenkeel_core::wire::error::WireErrorKind;
use evenkeel_core::wire::ids::{OffsetId, UniqueKey};
use evenkeel_core::wire::inflate::{deflate, inflate};
use evenkeel_core::wire::lz4_frame::xxh32;
use evenkeel_core::wire::message::{Host, Message, body_checksum};
use evenkeel_core::wire::properties::Properties;
use evenkeel_core::wire::stored::{Limits, decode_batch, encode_stored};
use evenkeel_core::wire::sys_flag::message::Compression;
use evenkeel_core::wire::{names, subscription::Filter, timestamp};
use proptest::prelude::*;

/// Small, so that a reader that forgets a limit is caught.
const LIMITS: Limits = Limits { body: 4096, batch: 8192 };

fn hosts() -> impl Strategy<Value = Host> {
    let v4 = any::<[u8; 4]>().prop_map(IpAddr::from);
    let v6 = any::<[u8; 16]>().prop_map(IpAddr::from);
    (prop_oneof![v4, v6], any::<u16>()).prop_map(|(ip, port)| Host::new(ip, port))
}

prop_compose! {
    fn messages()(
        topic in "[a-z%_]{0,140}|\\PC{0,20}",
        body in prop::collection::vec(any::<u8>(), 0..200),
        pairs in prop::collection::vec(("[a-zA-Z]{1,8}", "\\PC{1,12}"), 0..4),
        numbers in any::<(i32, i64, i64, i32, i64, i64, i32, i64)>(),
        born_host in hosts(),
        store_host in hosts(),
    ) -> Message {
        let mut message = Message::new(Topic::from(topic), Bytes::from(body));
        message.properties = Properties::from_pairs(pairs.iter().map(|(n, v)| (n.as_str(), v.as_str())));
        message.queue_id = numbers.0;
        message.queue_offset = numbers.1;
        message.commit_log_offset = numbers.2;
        message.flag = numbers.3;
        message.born_at = WallClock::from_millis(numbers.4);
        message.stored_at = WallClock::from_millis(numbers.5);
        message.reconsume_times = numbers.6;
        message.prepared_transaction_offset = numbers.7;
        (message.born_host, message.store_host) = (born_host, store_host);
        // As the encoder will: bits 4 and 5 say which addresses are long.
        message.sys_flag = i32::from(born_host.ip.is_ipv6()) << 4 | i32::from(store_host.ip.is_ipv6()) << 5;
        message
    }
}

fn items() -> impl Strategy<Value = Vec<BatchItem>> {
    let item = (any::<i32>(), prop::collection::vec(any::<u8>(), 0..40), "[a-z]{0,9}");
    prop::collection::vec(item, 0..6).prop_map(|items| {
        let item = |(flag, body, key): (i32, Vec<u8>, String)| BatchItem {
            flag,
            body: Bytes::from(body),
            properties: Properties::from_pairs([("KEYS", key.as_str())]),
        };
        items.into_iter().map(item).collect()
    })
}

/// A frame of blocks of 64 KiB, linked or not, with all checksums and the content size.
fn lz4_frame(body: &[u8], linked: bool) -> Vec<u8> {
    let mut frame = 0x184D_2204_u32.to_le_bytes().to_vec(); // the mark of a frame
    // Version 1, block checksums, content size, content checksum; bit 5 clear when linked. Then 64 KiB blocks.
    frame.extend([if linked { 0x5C } else { 0x7C }, 0x40]);
    frame.extend((body.len() as u64).to_le_bytes());
    frame.push((xxh32(&frame[4..]) >> 8) as u8);
    for (index, block) in body.chunks(65_536).enumerate() {
        let start = index * 65_536;
        let window = if linked { &body[start.saturating_sub(65_536)..start] } else { &[] };
        let packed = lz4_flex::block::compress_with_dict(block, window);
        // What does not shrink is stored as it is, with the top bit set.
        let (data, mark) = if packed.len() < block.len() { (&packed[..], 0) } else { (block, 0x8000_0000) };
        frame.extend((data.len() as u32 | mark).to_le_bytes());
        frame.extend(data);
        frame.extend(xxh32(data).to_le_bytes());
    }
    frame.extend([0; 4]);
    frame.extend(xxh32(body).to_le_bytes());
    frame
}

proptest! {
    #[test]
    fn stored_messages_come_back(messages in prop::collection::vec(messages(), 0..5)) {
        let mut bytes = Vec::new();
        let mut expect = messages;
        for message in &mut expect {
            message.store_size = encode_stored(message, &mut bytes).unwrap();
        }
        let batch = decode_batch(&Bytes::from(bytes), LIMITS);
        prop_assert_eq!(batch.damaged, None);
        prop_assert_eq!(batch.messages, expect);
    }

    #[test]
    fn mutated_messages_never_panic(
        messages in prop::collection::vec(messages(), 1..4),
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..6),
        cut in any::<prop::sample::Index>(),
    ) {
        let mut bytes = Vec::new();
        for message in &messages {
            encode_stored(message, &mut bytes).unwrap();
        }
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        bytes.truncate(cut.index(bytes.len() + 1));
        let length = bytes.len();
        let batch = decode_batch(&Bytes::from(bytes), LIMITS);
        for message in &batch.messages {
            let _ = (format!("{message:?}"), message.keys().count(), message.delay_level(), message.transaction_id());
            prop_assert!(message.body.len() <= length.max(LIMITS.body));
        }
        prop_assert!(batch.damaged.is_none_or(|error| error.at <= length));
    }

    #[test]
    fn batches_come_back(items in items()) {
        let bytes = Bytes::from(encode_items(&items).unwrap());
        prop_assert_eq!(decode_items(&bytes).unwrap(), items);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let shared = Bytes::from(bytes);
        let _ = decode_batch(&shared, LIMITS);
        let _ = decode_items(&shared);
        for kind in [Compression::Zlib, Compression::Lz4, Compression::Zstd] {
            if let Ok(body) = inflate(&shared, kind, 1000) {
                prop_assert!(body.len() <= 1000);
            }
        }
    }

    #[test]
    fn damaged_streams_never_panic(
        body in prop::collection::vec(0_u8..4, 0..3000),
        at in any::<prop::sample::Index>(),
        value in any::<u8>(),
    ) {
        // A zstd frame of 900 bytes as the Java library writes it.
        let zstd = zstd_frame();
        for (kind, mut packed) in [
            (Compression::Zlib, deflate(&body, 5)),
            (Compression::Lz4, lz4_frame(&body, true)),
            (Compression::Zstd, zstd),
        ] {
            let at = at.index(packed.len());
            packed[at] = value;
            if let Ok(body) = inflate(&packed, kind, 4000) {
                prop_assert!(body.len() <= 4000);
            }
        }
    }

    #[test]
    fn compressed_bodies_come_back(body in prop::collection::vec(0_u8..8, 0..2000), times in 1_usize..90) {
        let body = body.repeat(times);
        for (kind, packed) in [
            (Compression::Zlib, deflate(&body, 5)),
            (Compression::Lz4, lz4_frame(&body, false)),
            (Compression::Lz4, lz4_frame(&body, true)),
        ] {
            prop_assert_eq!(&inflate(&packed, kind, body.len()).unwrap(), &body);
            if !body.is_empty() {
                let error = inflate(&packed, kind, body.len() - 1).unwrap_err();
                prop_assert_eq!(error.kind, WireErrorKind::TooLarge, "{}", error);
            }
        }
    }

    #[test]
    fn ids_come_back(host in hosts(), offset: i64, parts: (u16, i32, u32, u16)) {
        let id = OffsetId::new(host, offset);
        prop_assert_eq!(OffsetId::parse(&id.to_string()), Ok(id));
        let key = UniqueKey { ip: host.ip, process: parts.0, random: parts.1, millis: parts.2, counter: parts.3 };
        prop_assert_eq!(UniqueKey::parse(&key.to_string()), Ok(key));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,40}|[ 0-9\t]{0,40}|[%|A-Z]{0,20}") {
        let _ = (OffsetId::parse(&text), UniqueKey::parse(&text), timestamp::parse_consume_timestamp(&text, 60));
        let _ = (names::validate_topic(&text), names::without_namespace(&text));
        let _ = Filter::Tags(text.clone()).subscribe(Topic::from("T"));
        let wrapped = names::wrap_namespace("NS", &text);
        prop_assert_eq!(names::wrap_namespace("NS", &wrapped), wrapped);
    }
}

#[test]
fn a_batch_may_not_grow_beyond_its_limit() {
    let mut bytes = Vec::new();
    for _ in 0..3 {
        let mut message = Message::new(Topic::from("T"), Bytes::from(deflate(&[0; 4000], 5)));
        message.sys_flag = Compression::Zlib.flags();
        encode_stored(&message, &mut bytes).unwrap();
    }
    // Each body is under the limit of bodies, three are above the limit of batches.
    let batch = decode_batch(&Bytes::from(bytes), LIMITS);
    assert_eq!(batch.messages.len(), 2);
    assert_eq!(batch.damaged.unwrap().kind, WireErrorKind::TooLarge);
    assert_eq!(batch.messages[0].checksum_matches(), None);
}

#[test]
fn a_changed_body_is_told_by_its_checksum() {
    let mut message = Message::new(Topic::from("T"), Bytes::from_static(b"hello"));
    assert_eq!(message.body_crc, 907_060_870);
    assert_eq!(message.checksum_matches(), Some(true));
    message.body = Bytes::from_static(b"hellO");
    assert_eq!(message.checksum_matches(), Some(false));
    assert_eq!(body_checksum(b""), 0);
}

#[test]
fn bodies_are_slices_of_the_frame() {
    let mut bytes = Vec::new();
    let message = Message::new(Topic::from("T"), Bytes::from_static(b"hello"));
    encode_stored(&message, &mut bytes).unwrap();
    let frame = Bytes::from([bytes.clone(), bytes].concat());
    let batch = decode_batch(&frame, LIMITS);
    for message in &batch.messages {
        assert!(frame.as_ptr_range().contains(&message.body.as_ptr()));
    }
    let topics: Vec<_> = batch.messages.iter().map(|message| message.topic.as_str().as_ptr()).collect();
    assert_eq!(topics[0], topics[1], "one topic for all");
}

/// The body of the golden case named here.
fn zstd_frame() -> Vec<u8> {
    let golden = include_str!("../../../tests/golden/messages.json");
    let line = golden.lines().find(|line| line.contains("compressed, zstd: more bytes behind")).unwrap();
    let hex = line.split("\"hex\":").nth(1).unwrap().split('"').nth(1).unwrap();
    let bytes = evenkeel_core::wire::ids::hex_decode(hex);
    // The body's length stands at byte 84; the four bytes behind the frame are left out.
    let length = u32::from_be_bytes(bytes[84..88].try_into().unwrap()) as usize;
    bytes[88..88 + length - 4].to_vec()
}
