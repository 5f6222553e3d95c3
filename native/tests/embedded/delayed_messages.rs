use crate::world::{World, bodies, config, messages, pull, seconds, send};
use evenkeel::embedded::Config;
use evenkeel_core::wire::code::ResponseCode;

#[test]
fn a_message_with_a_delay_level_comes_after_its_delay() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let held = world.post(conn, pull("g", 0));
    let answer = world.ask(conn, send("t", 0, "later", &[("DELAY", "2"), ("KEYS", "k")]));
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS);
    world.advance(seconds(4));
    assert_eq!(world.answer(conn, held), None);
    world.advance(seconds(1));
    let answer = world.answer(conn, held).expect("level 2 is five seconds");
    let message = messages(&answer).remove(0);
    assert_eq!(message.topic.as_str(), "t");
    assert_eq!(message.property("DELAY"), None);
    assert_eq!(message.property("KEYS"), Some("k"));
    assert_eq!((message.property("REAL_TOPIC"), message.property("REAL_QID")), (Some("t"), Some("0")));
    assert_eq!(message.flag, 7);
}

#[test]
fn a_level_too_high_is_the_highest_and_levels_can_be_chosen() {
    let mut world = World::with(Config { delay_levels: vec![seconds(2)], ..config() });
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.ask(conn, send("t", 0, "later", &[("DELAY", "99")]));
    assert_eq!(world.state.snapshot(world.now).brokers[0].delayed, 1);
    world.advance(seconds(2));
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["later"]);
    assert_eq!(world.state.snapshot(world.now).brokers[0].delayed, 0);
}

#[test]
fn timer_messages_are_refused_rather_than_delivered_early() {
    let mut world = World::new();
    let conn = world.client();
    let answer = world.ask(conn, send("t", 0, "m", &[("TIMER_DELAY_SEC", "10")]));
    assert_eq!(answer.response_code(), ResponseCode::MESSAGE_ILLEGAL);
}
