use crate::world::{World, about, bodies, seconds, text};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn running_info(client: &str) -> Command {
    let fields = [("consumerGroup", "g"), ("clientId", client), ("jstackEnable", "false")];
    about(RequestCode::GET_CONSUMER_RUNNING_INFO, &fields)
}

#[test]
fn a_question_goes_to_the_member_and_its_answer_back() {
    let mut world = World::new();
    let (member, operator) = (world.client(), world.client());
    world.join(member, "c1", "g");
    world.told(member);
    let asked = world.post(operator, running_info("c1"));
    assert_eq!(world.answer(operator, asked), None);
    let question = world.told(member).remove(0);
    assert_eq!(question.code, RequestCode::GET_CONSUMER_RUNNING_INFO.0);
    assert_eq!(question.fields.get("clientId"), Some("c1"));
    world.give(member, Command::response(ResponseCode::SUCCESS, question.opaque).with_body("{}"));
    let answer = world.answer(operator, asked).expect("passed on");
    assert_eq!((answer.response_code(), &*text(&answer)), (ResponseCode::SUCCESS, "{}"));

    world.give(member, Command::response(ResponseCode::SUCCESS, question.opaque));
    assert!(world.told(operator).is_empty(), "a second answer goes nowhere");
}

#[test]
fn a_member_that_is_absent_silent_or_leaves_is_reported() {
    let mut world = World::new();
    let (member, operator) = (world.client(), world.client());
    world.join(member, "c1", "g");
    let absent = world.ask(operator, running_info("nobody"));
    assert_eq!(absent.response_code(), ResponseCode::SYSTEM_ERROR);
    let silent = world.post(operator, running_info("c1"));
    world.advance(seconds(10));
    let answer = world.answer(operator, silent).expect("given up");
    assert_eq!(answer.response_code(), ResponseCode::CONSUME_MSG_TIMEOUT);
    let left = world.post(operator, running_info("c1"));
    world.disconnect(member);
    let answer = world.answer(operator, left).expect("given up");
    assert_eq!(answer.response_code(), ResponseCode::CONSUME_MSG_TIMEOUT);
}

#[test]
fn a_member_can_be_made_to_consume_a_message() {
    let mut world = World::new();
    let (member, operator) = (world.client(), world.client());
    world.join(member, "c1", "g");
    world.told(member);
    let stored = world.ask(operator, crate::world::send("t", 0, "again", &[]));
    let fields = [("consumerGroup", "g"), ("clientId", "c1")];
    let request = about(RequestCode::CONSUME_MESSAGE_DIRECTLY, &fields);
    world.post(operator, request.with_field("msgId", stored.fields.get("msgId").expect("an id")));
    let question = world.told(member).remove(0);
    assert_eq!(question.fields.get("brokerName"), Some("embedded-a"));
    assert_eq!(bodies(&question), ["again"]);
}
