use crate::world::{World, about, seconds, text};
use evenkeel::embedded::Endpoint;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn register() -> Command {
    let fields = [
        ("brokerName", "outside"),
        ("brokerAddr", "10.1.1.1:10911"),
        ("clusterName", "Other"),
        ("haServerAddr", "10.1.1.1:10912"),
        ("brokerId", "0"),
        ("compressed", "false"),
    ];
    let body = r#"{"filterServerList":[],"topicConfigSerializeWrapper":{"dataVersion":{"counter":3,"stateVersion":0,"timestamp":1},"topicConfigTable":{"far":{"order":false,"perm":6,"readQueueNums":5,"topicName":"far","topicSysFlag":0,"writeQueueNums":5},"t":{"perm":4}}}}"#;
    about(RequestCode::REGISTER_BROKER, &fields).with_body(body)
}

fn route(world: &mut World, conn: evenkeel::embedded::ConnId, topic: &str) -> (ResponseCode, String) {
    let answer = world.ask(conn, about(RequestCode::GET_ROUTEINFO_BY_TOPIC, &[("topic", topic)]));
    (answer.response_code(), text(&answer))
}

#[test]
fn brokers_from_outside_stand_in_routes_until_they_leave() {
    let mut world = World::new();
    let (client, broker) = (world.connect(Endpoint::NameServer), world.connect(Endpoint::NameServer));
    assert_eq!(world.ask(broker, register()).response_code(), ResponseCode::SUCCESS);
    let (_, far) = route(&mut world, client, "far");
    assert!(far.contains(r#""0":"10.1.1.1:10911""#) && far.contains(r#""readQueueNums":5"#), "{far}");
    let (_, mixed) = route(&mut world, client, "t");
    assert!(mixed.contains("embedded-a") && mixed.contains("outside"), "{mixed}");

    world.disconnect(broker);
    assert_eq!(route(&mut world, client, "far").0, ResponseCode::TOPIC_NOT_EXIST);
}

#[test]
fn a_broker_that_registers_no_more_is_forgotten() {
    let mut world = World::new();
    let broker = world.connect(Endpoint::NameServer);
    world.ask(broker, register());
    world.advance(seconds(100));
    world.ask(broker, register());
    world.advance(seconds(119));
    assert_eq!(route(&mut world, broker, "far").0, ResponseCode::SUCCESS);
    world.advance(seconds(2));
    assert_eq!(route(&mut world, broker, "far").0, ResponseCode::TOPIC_NOT_EXIST);
}

#[test]
fn a_broker_can_take_its_leave() {
    let mut world = World::new();
    let broker = world.connect(Endpoint::NameServer);
    world.ask(broker, register());
    let leave = Command { code: RequestCode::UNREGISTER_BROKER.0, ..register() };
    assert_eq!(world.ask(broker, leave).response_code(), ResponseCode::SUCCESS);
    assert_eq!(route(&mut world, broker, "far").0, ResponseCode::TOPIC_NOT_EXIST);
}
