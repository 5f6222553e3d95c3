use crate::world::{World, bodies, config, number, pull, send};
use evenkeel::embedded::{Config, Limits};
use evenkeel_core::model::MessageQueue;
use evenkeel_core::wire::code::ResponseCode;

#[test]
fn old_messages_are_dropped_and_the_first_offset_moves() {
    let limits = Limits { log_bytes: 10_000, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    world.join(conn, "c1", "g");
    let body = "x".repeat(500);
    for _ in 0..50 {
        world.store(conn, &body);
        assert!(world.state.snapshot(world.now).brokers[0].log_bytes <= 10_000);
    }
    let queue = MessageQueue::new("t", "embedded-a", 0);
    let kept = world.state.snapshot(world.now).brokers[0].queues[&queue];
    assert_eq!(kept.max, 50);
    assert!((30..50).contains(&kept.min), "{kept:?}");

    let answer = world.ask(conn, pull("g", 3));
    assert_eq!(answer.response_code(), ResponseCode::PULL_OFFSET_MOVED);
    assert_eq!(number(&answer, "nextBeginOffset"), kept.min);
    let answer = world.ask(conn, pull("g", kept.min));
    assert_eq!(bodies(&answer).len() as i64, kept.max - kept.min);
}

#[test]
fn a_busy_queue_drops_the_old_messages_of_a_quiet_one() {
    let limits = Limits { log_bytes: 10_000, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    world.ask(conn, send("t", 1, "quiet", &[]));
    for _ in 0..50 {
        world.store(conn, &"x".repeat(500));
    }
    let quiet = MessageQueue::new("t", "embedded-a", 1);
    let kept = world.state.snapshot(world.now).brokers[0].queues[&quiet];
    assert_eq!((kept.min, kept.max), (1, 1));
}

#[test]
fn a_message_larger_than_everything_leaves_nothing() {
    let limits = Limits { log_bytes: 1000, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    let answer = world.ask(conn, send("t", 0, &"x".repeat(5000), &[]));
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS);
    assert_eq!(world.state.snapshot(world.now).brokers[0].log_bytes, 0);
}
