use crate::world::{World, bodies, number, pull, seconds, send};
use evenkeel_core::wire::code::ResponseCode;

#[test]
fn a_pull_at_the_end_is_answered_when_a_message_comes() {
    let mut world = World::new();
    let (consumer, producer) = (world.client(), world.client());
    world.join(consumer, "c1", "g");
    let held = world.post(consumer, pull("g", 0));
    assert_eq!(world.answer(consumer, held), None);

    world.ask(producer, send("t", 1, "elsewhere", &[]));
    assert_eq!(world.answer(consumer, held), None, "another queue's message wakes nobody");

    world.store(producer, "here");
    let answer = world.answer(consumer, held).expect("woken");
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS);
    assert_eq!(bodies(&answer), ["here"]);
    assert_eq!((number(&answer, "nextBeginOffset"), number(&answer, "maxOffset")), (1, 1));
}

#[test]
fn a_pull_without_messages_ends_after_its_time_at_the_next_sweep() {
    let mut world = World::new();
    let consumer = world.client();
    world.join(consumer, "c1", "g");
    let held = world.post(consumer, pull("g", 0));
    world.advance(seconds(15) - evenkeel_core::time::Duration::from_millis(1));
    assert_eq!(world.answer(consumer, held), None);
    world.advance(seconds(5));
    let answer = world.answer(consumer, held).expect("given up");
    assert_eq!(answer.response_code(), ResponseCode::PULL_NOT_FOUND);
    assert_eq!(number(&answer, "nextBeginOffset"), 0);
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 0);
}

#[test]
fn without_the_suspend_bit_nothing_is_held() {
    let mut world = World::new();
    let consumer = world.client();
    world.join(consumer, "c1", "g");
    let answer = world.ask(consumer, pull("g", 0).with_field("sysFlag", 0));
    assert_eq!(answer.response_code(), ResponseCode::PULL_NOT_FOUND);
}

#[test]
fn offsets_that_do_not_exist_are_moved() {
    let mut world = World::new();
    let consumer = world.client();
    world.join(consumer, "c1", "g");
    let answer = world.ask(consumer, pull("g", 5));
    assert_eq!(answer.response_code(), ResponseCode::PULL_OFFSET_MOVED);
    assert_eq!(number(&answer, "nextBeginOffset"), 0, "no message ever: begin at 0");

    world.store(consumer, "one");
    let answer = world.ask(consumer, pull("g", 5));
    assert_eq!(answer.response_code(), ResponseCode::PULL_OFFSET_MOVED);
    assert_eq!(number(&answer, "nextBeginOffset"), 1, "behind the end: back to the end");
}

#[test]
fn pulls_of_a_broken_connection_are_forgotten() {
    let mut world = World::new();
    let consumer = world.client();
    world.join(consumer, "c1", "g");
    world.post(consumer, pull("g", 0));
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 1);
    world.disconnect(consumer);
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 0);
}

#[test]
fn an_answer_holds_32_messages_at_most() {
    let mut world = World::new();
    let consumer = world.client();
    world.join(consumer, "c1", "g");
    for number in 0..40 {
        world.store(consumer, &number.to_string());
    }
    let answer = world.ask(consumer, pull("g", 0).with_field("maxMsgNums", 1000));
    assert_eq!((bodies(&answer).len(), number(&answer, "nextBeginOffset")), (32, 32));
    let answer = world.ask(consumer, pull("g", 38));
    assert_eq!(bodies(&answer), ["38", "39"]);
}
