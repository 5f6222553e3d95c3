use crate::world::{World, seconds, send, text};
use evenkeel_core::wire::code::RequestCode;
use evenkeel_core::wire::command::Command;

const ONE: &str = r#"{"brokerName":"embedded-a","queueId":0,"topic":"t"}"#;
const TWO: &str = r#"{"brokerName":"embedded-a","queueId":1,"topic":"t"}"#;

fn locks(code: RequestCode, client: &str, queues: &str) -> Command {
    let body =
        format!(r#"{{"clientId":"{client}","consumerGroup":"g","mqSet":[{queues}],"onlyThisBroker":false}}"#);
    Command::request(code).with_body(body)
}

fn lock(client: &str, queues: &str) -> Command {
    locks(RequestCode::LOCK_BATCH_MQ, client, queues)
}

fn held(queues: &str) -> String {
    format!(r#"{{"lockOKMQSet":[{queues}]}}"#)
}

#[test]
fn a_queue_is_locked_by_one_client_for_a_minute_from_the_last_renewal() {
    let mut world = World::new();
    let conn = world.client();
    assert_eq!(text(&world.ask(conn, lock("c1", ONE))), held(ONE));
    assert_eq!(text(&world.ask(conn, lock("c2", &format!("{ONE},{TWO}")))), held(TWO));
    world.advance(seconds(40));
    assert_eq!(text(&world.ask(conn, lock("c1", ONE))), held(ONE));
    world.advance(seconds(60));
    assert_eq!(text(&world.ask(conn, lock("c2", ONE))), held(""));
    world.advance(seconds(1));
    assert_eq!(text(&world.ask(conn, lock("c2", ONE))), held(ONE));
}

#[test]
fn only_the_owner_unlocks_and_disconnects_do_not() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.ask(one, lock("c1", ONE));
    world.ask(two, locks(RequestCode::UNLOCK_BATCH_MQ, "c2", ONE));
    world.disconnect(one);
    assert_eq!(text(&world.ask(two, lock("c2", ONE))), held(""));
    world.post(two, locks(RequestCode::UNLOCK_BATCH_MQ, "c1", ONE).one_way());
    assert_eq!(text(&world.ask(two, lock("c2", ONE))), held(ONE));
}

#[test]
fn what_a_group_with_locks_sends_to_its_retry_topic_is_dead() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.ask(conn, lock("c1", ONE));
    world.ask(conn, send("%RETRY%g", 0, "given up", &[]));
    let dead = evenkeel_core::model::MessageQueue::new("%DLQ%g", "embedded-a", 0);
    assert_eq!(world.state.snapshot(world.now).max_offset(&dead), 1);
}
