use crate::world::{World, messages, number, pull, send};
use evenkeel_core::wire::batch::{BatchItem, encode_items};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::properties::Properties;

fn batch(items: &[(&str, &str)]) -> Vec<u8> {
    let items: Vec<BatchItem> = items
        .iter()
        .map(|(body, properties)| BatchItem {
            flag: 3,
            body: bytes::Bytes::copy_from_slice(body.as_bytes()),
            properties: Properties::from(*properties),
        })
        .collect();
    encode_items(&items).expect("small")
}

#[test]
fn the_messages_of_a_batch_get_offsets_in_a_row() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.store(conn, "before");
    let body = batch(&[("one", "TAGS\u{1}A\u{2}"), ("two", ""), ("three", "TAGS\u{1}B\u{2}")]);
    let request = send("t", 0, "", &[]).with_body(body);
    let request =
        evenkeel_core::wire::command::Command { code: RequestCode::SEND_BATCH_MESSAGE.0, ..request };
    let answer = world.ask(conn, request);
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS, "{:?}", answer.remark);
    assert_eq!((number(&answer, "queueOffset"), number(&answer, "queueId")), (1, 0));
    let ids: Vec<&str> = answer.fields.get("msgId").expect("ids").split(',').collect();
    let stored = messages(&world.ask(conn, pull("g", 1)));
    let found: Vec<String> = stored.iter().map(|message| message.offset_id().to_string()).collect();
    assert_eq!(ids, found);
    assert_eq!(stored.iter().map(|message| message.queue_offset).collect::<Vec<_>>(), [1, 2, 3]);
    assert_eq!(stored.iter().map(|message| message.tag()).collect::<Vec<_>>(), [Some("A"), None, Some("B")]);
    assert!(stored.iter().all(|message| message.flag == 3));
}

#[test]
fn a_broken_batch_stores_nothing() {
    let mut world = World::new();
    let conn = world.client();
    let mut broken = batch(&[("one", ""), ("two", "")]);
    broken.pop();
    for body in [broken, Vec::new(), batch(&[("late", "DELAY\u{1}1\u{2}")])] {
        let answer = world.ask(conn, send("t", 0, "", &[]).with_field("m", true).with_body(body));
        assert_eq!(answer.response_code(), ResponseCode::MESSAGE_ILLEGAL);
    }
    assert!(world.state.snapshot(world.now).brokers[0].queues.values().all(|queue| queue.max == 0));
}
