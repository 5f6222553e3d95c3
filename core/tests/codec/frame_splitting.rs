//! However a byte stream is cut into reads, it gives the same frames or the same error, within the same memory.

use bytes::Bytes;
use evenkeel_core::wire::code::{LanguageCode, RequestCode};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::frame::{DEFAULT_FRAME_LIMIT, Framer};
use proptest::prelude::*;

const LIMIT: usize = 4096;

/// Everything that comes out of a stream that arrives in reads of these lengths (repeated).
fn read(stream: &[u8], reads: &[usize]) -> (Vec<Bytes>, Option<WireError>) {
    let mut framer = Framer::new(LIMIT);
    let mut frames = Vec::new();
    let mut rest = stream;
    let mut lengths = reads.iter().cycle();
    loop {
        loop {
            match framer.next() {
                Ok(Some(frame)) => frames.push(frame),
                Ok(None) => break,
                Err(error) => {
                    assert_eq!(framer.next(), Err(error), "the same error again");
                    assert_eq!(framer.pending(), 0, "nothing is kept");
                    return (frames, Some(error));
                }
            }
        }
        if rest.is_empty() {
            return (frames, None);
        }
        let (now, later) = rest.split_at((*lengths.next().expect("cycle")).min(rest.len()));
        assert!(framer.pending() < LIMIT, "a whole frame would have been given");
        framer.push(now);
        rest = later;
    }
}

fn any_command() -> impl Strategy<Value = Command> {
    let fields = prop::collection::btree_map("[a-zA-Z]{1,8}", ".{1,12}", 0..6);
    let head = (0..=400_i32, -1000..1000_i32, any::<i32>(), 0..4_i32, 0..14_u8);
    (head, prop::option::of(".{1,20}"), fields, prop::collection::vec(any::<u8>(), 0..200)).prop_map(
        |((code, version, opaque, flag, language), remark, fields, body)| {
            let mut command = Command::request(RequestCode(code)).with_body(body);
            command.version = version;
            command.opaque = Some(opaque);
            command.flag = flag;
            command.language = Some(LanguageCode(language));
            command.remark = remark;
            for (name, value) in fields {
                command.fields.set(&name, value);
            }
            command
        },
    )
}

fn any_encoding() -> impl Strategy<Value = HeaderEncoding> {
    prop_oneof![Just(HeaderEncoding::Json), Just(HeaderEncoding::Binary)]
}

proptest! {
    #[test]
    fn commands_come_back(commands in prop::collection::vec((any_command(), any_encoding()), 1..6),
                          reads in prop::collection::vec(1..300_usize, 1..8)) {
        let stream: Vec<u8> = commands.iter().flat_map(|(command, encoding)| command.encode(*encoding).unwrap()).collect();
        let (frames, error) = read(&stream, &reads);
        prop_assert_eq!(error, None);
        let again: Vec<_> = frames.into_iter().map(|frame| Command::decode(frame).unwrap()).collect();
        prop_assert_eq!(again, commands);
    }

    #[test]
    fn damaged_streams_end_alike(commands in prop::collection::vec((any_command(), any_encoding()), 1..4),
                                 damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..4),
                                 reads in prop::collection::vec(1..300_usize, 1..8)) {
        let mut stream: Vec<u8> = commands.iter().flat_map(|(command, encoding)| command.encode(*encoding).unwrap()).collect();
        for (place, byte) in damage {
            let place = place.index(stream.len());
            stream[place] = byte;
        }
        let at_once = read(&stream, &[usize::MAX]);
        prop_assert_eq!(&read(&stream, &reads), &at_once);
        prop_assert_eq!(&read(&stream, &[1]), &at_once);
        for frame in at_once.0 {
            let _ = Command::decode(frame);
        }
    }

    #[test]
    fn any_bytes_end_alike(stream in prop::collection::vec(prop_oneof![Just(0_u8), any::<u8>()], 0..400),
                           reads in prop::collection::vec(1..40_usize, 1..8)) {
        let at_once = read(&stream, &[usize::MAX]);
        prop_assert_eq!(&read(&stream, &reads), &at_once);
        for frame in at_once.0 {
            let _ = Command::decode(frame);
        }
    }

    #[test]
    fn any_bytes_as_a_frame_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = Command::decode(Bytes::from(bytes));
    }
}

#[test]
fn a_claim_alone_gets_no_memory() {
    let mut framer = Framer::default();
    framer.push(&((DEFAULT_FRAME_LIMIT - 4) as u32).to_be_bytes());
    assert_eq!(framer.next(), Ok(None));
    assert!(framer.buffer().capacity() <= 128 * 1024, "{}", framer.buffer().capacity());
}

#[test]
fn the_limit_counts_the_length_field() {
    let frame_of = |length: usize| {
        let mut frame = ((length - 4) as u32).to_be_bytes().to_vec();
        frame.resize(length, 0);
        frame
    };
    let mut framer = Framer::new(LIMIT);
    framer.push(&frame_of(LIMIT));
    assert_eq!(framer.next().map(|frame| frame.map(|frame| frame.len())), Ok(Some(LIMIT)));
    framer.push(&frame_of(LIMIT + 1)[..4]);
    assert_eq!(framer.next().unwrap_err().kind, WireErrorKind::TooLarge);
}

#[test]
fn a_body_is_a_slice_of_its_frame() {
    let command = Command::request(RequestCode::PULL_MESSAGE).with_body(vec![7; 1000]);
    let frame = command.encode(HeaderEncoding::Json).unwrap();
    let place = frame.as_ptr() as usize;
    let (command, _) = Command::decode(frame.clone()).unwrap();
    let body = command.body.as_ptr() as usize;
    assert!((place..place + frame.len()).contains(&body));
}
