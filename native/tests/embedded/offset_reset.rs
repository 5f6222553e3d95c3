use crate::world::{World, about, bodies, config, number, pull, text};
use evenkeel::embedded::Config;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn reset(timestamp: i64) -> Command {
    about(RequestCode::INVOKE_BROKER_TO_RESET_OFFSET, &[("topic", "t"), ("group", "g"), ("isForce", "true")])
        .with_field("timestamp", timestamp)
}

fn commit(offset: i64) -> Command {
    about(RequestCode::UPDATE_CONSUMER_OFFSET, &[("consumerGroup", "g"), ("topic", "t"), ("queueId", "0")])
        .with_field("commitOffset", offset)
}

fn committed(world: &mut World, conn: evenkeel::embedded::ConnId) -> i64 {
    let fields = [("consumerGroup", "g"), ("topic", "t"), ("queueId", "0")];
    number(&world.ask(conn, about(RequestCode::QUERY_CONSUMER_OFFSET, &fields)), "offset")
}

#[test]
fn a_reset_stays_with_the_broker_until_the_next_pull_is_told() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    for number in 0..3 {
        world.store(conn, &number.to_string());
    }
    world.ask(conn, commit(3));
    let answer = world.ask(conn, reset(0));
    let table = r#"{"offsetTable":{{"brokerName":"embedded-a","queueId":0,"topic":"t"}:0,{"brokerName":"embedded-a","queueId":1,"topic":"t"}:0}}"#;
    assert_eq!(text(&answer), table);
    assert_eq!(world.ask(conn, commit(3)).response_code(), ResponseCode::SUCCESS);
    assert_eq!(committed(&mut world, conn), 0, "a commit of before is ignored");

    let answer = world.ask(conn, pull("g", 3));
    assert_eq!(answer.response_code(), ResponseCode::PULL_OFFSET_MOVED);
    assert_eq!(number(&answer, "nextBeginOffset"), 0);
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["0", "1", "2"]);
    world.ask(conn, commit(2));
    assert_eq!(committed(&mut world, conn), 2);
}

#[test]
fn or_it_is_pushed_to_the_members() {
    let mut world = World::with(Config { server_side_reset: false, ..config() });
    let (conn, operator) = (world.client(), world.client());
    assert_eq!(world.ask(operator, reset(-1)).response_code(), ResponseCode::CONSUMER_NOT_ONLINE);
    world.join(conn, "c1", "g");
    world.told(conn);
    world.store(conn, "m");
    assert_eq!(world.ask(operator, reset(-1)).response_code(), ResponseCode::SUCCESS);
    let told = world.told(conn).remove(0);
    assert_eq!(told.code, RequestCode::RESET_CONSUMER_CLIENT_OFFSET.0);
    assert!(told.is_one_way());
    assert_eq!((told.fields.get("topic"), told.fields.get("group")), (Some("t"), Some("g")));
    assert!(text(&told).contains(r#"{"brokerName":"embedded-a","queueId":0,"topic":"t"}:1"#));
}
