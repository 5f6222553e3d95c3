use crate::world::{World, about, config, heartbeat, pull, send};
use evenkeel::embedded::{Config, Limits};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};

#[test]
fn tables_that_are_full_refuse_or_answer_at_once() {
    let limits = Limits {
        topics: 5,
        groups: 2,
        held: 1,
        offsets: 1,
        delayed_bytes: 600,
        body: 100,
        ..Limits::default()
    };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    world.join(conn, "c1", "g");
    let busy = ResponseCode::SYSTEM_BUSY;

    world.post(conn, pull("g", 0));
    assert_eq!(world.ask(conn, pull("g", 0)).response_code(), ResponseCode::PULL_NOT_FOUND);

    let sent: Vec<_> = ["u", "v", "w"].map(|topic| world.ask(conn, send(topic, 0, "m", &[])).code).into();
    assert_eq!(sent, [0, busy.0, busy.0], "t, u, the group's retry topic and two system topics");

    let late = send("t", 1, "m", &[("DELAY", "1")]);
    assert_eq!(world.ask(conn, late.clone()).response_code(), ResponseCode::SUCCESS);
    assert_eq!(world.ask(conn, late).response_code(), busy);

    let commit = |queue: &str| {
        let fields = [("consumerGroup", "g"), ("topic", "t"), ("queueId", queue), ("commitOffset", "1")];
        about(RequestCode::UPDATE_CONSUMER_OFFSET, &fields)
    };
    assert_eq!(world.ask(conn, commit("0")).response_code(), ResponseCode::SUCCESS);
    assert_eq!(world.ask(conn, commit("0")).response_code(), ResponseCode::SUCCESS);
    assert_eq!(world.ask(conn, commit("1")).response_code(), busy);

    let large = send("t", 0, &"x".repeat(101), &[]);
    assert_eq!(world.ask(conn, large).response_code(), ResponseCode::MESSAGE_ILLEGAL);

    for group in ["h", "i", "j"] {
        world.ask(conn, heartbeat("c1", group, &[("t", "*", 1)]));
    }
    assert_eq!(world.state.snapshot(world.now).brokers[0].members.len(), 2);
}
