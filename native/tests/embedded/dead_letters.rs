use crate::world::{World, about, config, heartbeat, messages, pull, pull_of, seconds, send};
use evenkeel::embedded::{Config, Generation};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::message::Message;

fn send_back(message: &Message, level: i32, most: i32) -> Command {
    about(RequestCode::CONSUMER_SEND_MSG_BACK, &[("group", "g"), ("originTopic", "t")])
        .with_field("offset", message.commit_log_offset)
        .with_field("delayLevel", level)
        .with_field("maxReconsumeTimes", most)
}

fn join(world: &mut World, conn: evenkeel::embedded::ConnId) {
    world.ask(conn, heartbeat("c1", "g", &[("t", "*", 1), ("%RETRY%g", "*", 1)]));
}

#[test]
fn a_failed_message_comes_back_on_the_retry_topic_and_dies_in_the_end() {
    let mut world = World::new();
    let conn = world.client();
    join(&mut world, conn);
    world.ask(conn, send("t", 0, "poison", &[("TAGS", "A"), ("UNIQ_KEY", "id-1")]));
    let first = messages(&world.ask(conn, pull("g", 0))).remove(0);

    let mut message = first.clone();
    for (round, delay) in [(0, 10), (1, 30)] {
        let answer = world.ask(conn, send_back(&message, 0, 2));
        assert_eq!(answer.response_code(), ResponseCode::SUCCESS, "{:?}", answer.remark);
        world.advance(seconds(delay - 1));
        let retry = pull_of("g", "%RETRY%g", 0, round).with_field("sysFlag", 0);
        assert_eq!(world.ask(conn, retry.clone()).response_code(), ResponseCode::PULL_NOT_FOUND);
        world.advance(seconds(1));
        message = messages(&world.ask(conn, retry)).remove(0);
        assert_eq!(i64::from(message.reconsume_times), round + 1);
        assert_eq!(message.property("RETRY_TOPIC"), Some("t"));
        assert_eq!(message.property("ORIGIN_MESSAGE_ID"), Some(&*first.offset_id().to_string()));
        assert_eq!((message.property("UNIQ_KEY"), message.property("TAGS")), (Some("id-1"), Some("A")));
        assert_eq!((message.born_at, message.born_host), (first.born_at, first.born_host));
        assert_eq!(message.body, first.body);
    }
    world.ask(conn, send_back(&message, 0, 2));
    world.ask(conn, heartbeat("c1", "undertaker", &[("%DLQ%g", "*", 1)]));
    let dead = messages(&world.ask(conn, pull_of("undertaker", "%DLQ%g", 0, 0))).remove(0);
    assert_eq!((dead.reconsume_times, &*dead.body), (3, &b"poison"[..]));
    assert_eq!(world.state.snapshot(world.now).brokers[0].delayed, 0);
}

#[test]
fn a_negative_level_means_dead_at_once() {
    let mut world = World::new();
    let conn = world.client();
    join(&mut world, conn);
    world.store(conn, "m");
    let message = messages(&world.ask(conn, pull("g", 0))).remove(0);
    world.ask(conn, send_back(&message, -1, 16));
    let max = about(RequestCode::GET_MAX_OFFSET, &[("topic", "%DLQ%g"), ("queueId", "0")]);
    assert_eq!(crate::world::number(&world.ask(conn, max), "offset"), 1);
}

#[test]
fn what_is_not_in_the_log_cannot_be_sent_back() {
    let mut world = World::new();
    let conn = world.client();
    join(&mut world, conn);
    world.store(conn, "m");
    let message = messages(&world.ask(conn, pull("g", 0))).remove(0);
    let wrong = send_back(&message, 0, 16).with_field("offset", message.commit_log_offset + 1);
    assert_eq!(world.ask(conn, wrong).response_code(), ResponseCode::SYSTEM_ERROR);
}

#[test]
fn a_compressed_body_comes_back_as_it_was() {
    let mut world = World::new();
    let conn = world.client();
    join(&mut world, conn);
    // Marked as compressed, and no reader could inflate it: the broker must not try.
    world.ask(conn, send("t", 0, "not zlib", &[]).with_field("f", 1));
    let back = about(RequestCode::CONSUMER_SEND_MSG_BACK, &[("group", "g"), ("offset", "0")]);
    let answer = world.ask(conn, back.with_field("delayLevel", -1));
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS);
    let view = about(RequestCode::VIEW_MESSAGE_BY_ID, &[("offset", "0")]);
    let length = world.ask(conn, view).body.len();
    let dead = about(RequestCode::VIEW_MESSAGE_BY_ID, &[]).with_field("offset", length);
    let dead = world.ask(conn, dead).body;
    assert!(dead.windows(8).any(|window| window == b"not zlib"));
    assert_eq!(dead[36..40], [0, 0, 0, 1], "still marked as compressed");
}

#[test]
fn a_client_that_sends_to_the_retry_topic_itself_meets_the_same_limit() {
    for (generation, alive) in [(Generation::V5, 1), (Generation::V4_9, 0)] {
        let mut world = World::with(Config { generation, ..config() });
        let conn = world.client();
        join(&mut world, conn);
        let tries = |tries: i32| send("%RETRY%g", 0, "m", &[]).with_field("j", tries).with_field("l", 2);
        world.ask(conn, tries(2));
        world.ask(conn, tries(3));
        let snapshot = world.state.snapshot(world.now);
        let retry = evenkeel_core::model::MessageQueue::new("%RETRY%g", "embedded-a", 0);
        assert_eq!(snapshot.max_offset(&retry), alive, "{generation:?}: only 5.x lets the limit itself pass");
    }
}
