use crate::world::{World, bodies, heartbeat, number, pull, seconds, send};
use evenkeel_core::wire::code::ResponseCode;

#[test]
fn only_messages_with_a_wanted_tag_are_given() {
    let mut world = World::new();
    let conn = world.client();
    world.ask(conn, heartbeat("c1", "g", &[("t", "A || B", 1)]));
    for (body, tag) in [("1", "A"), ("2", "C"), ("3", "B"), ("4", "C")] {
        world.ask(conn, send("t", 0, body, &[("TAGS", tag)]));
    }
    world.store(conn, "5 without a tag");
    let answer = world.ask(conn, pull("g", 0));
    assert_eq!(bodies(&answer), ["1", "3"]);
    assert_eq!(number(&answer, "nextBeginOffset"), 5, "what was looked at is done with");
}

#[test]
fn tags_are_compared_by_hash_alone() {
    let mut world = World::new();
    let conn = world.client();
    // Java's hash does not tell these two apart; the consumer has to.
    world.ask(conn, heartbeat("c1", "g", &[("t", "Aa", 1)]));
    world.ask(conn, send("t", 0, "other", &[("TAGS", "BB")]));
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["other"]);
}

#[test]
fn an_unwanted_message_does_not_wake_a_held_pull() {
    let mut world = World::new();
    let conn = world.client();
    world.ask(conn, heartbeat("c1", "g", &[("t", "A", 1)]));
    let held = world.post(conn, pull("g", 0));
    world.ask(conn, send("t", 0, "no", &[("TAGS", "B")]));
    assert_eq!(world.answer(conn, held), None);
    world.advance(seconds(5));
    let answer = world.answer(conn, held).expect("the sweep sees that the queue has grown");
    assert_eq!(answer.response_code(), ResponseCode::PULL_RETRY_IMMEDIATELY);
    assert_eq!(number(&answer, "nextBeginOffset"), 1);
}

#[test]
fn a_pull_may_bring_its_own_expression() {
    let mut world = World::new();
    let conn = world.client();
    world.ask(conn, send("t", 0, "a", &[("TAGS", "A")]));
    world.ask(conn, send("t", 0, "b", &[("TAGS", "B")]));
    let own = pull("nobody", 0).with_field("sysFlag", 4);
    assert_eq!(bodies(&world.ask(conn, own.clone().with_field("subscription", "B"))), ["b"]);
    let answer = world.ask(conn, own.with_field("subscription", " || "));
    assert_eq!(answer.response_code(), ResponseCode::SUBSCRIPTION_PARSE_FAILED);
}
