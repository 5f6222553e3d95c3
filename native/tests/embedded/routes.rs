use crate::world::{World, about, seconds, text};
use evenkeel::embedded::{BrokerSpec, Config, Endpoint, TopicSpec};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn two_brokers() -> World {
    World::with(Config {
        brokers: vec![BrokerSpec::new("a", "127.0.0.1:10911"), BrokerSpec::new("b", "127.0.0.1:10921")],
        topics: vec![TopicSpec::new("both", 2, 4), TopicSpec::new("one", 1, 2)],
        ..Config::default()
    })
}

fn route(topic: &str) -> Command {
    about(RequestCode::GET_ROUTEINFO_BY_TOPIC, &[("topic", topic)])
}

#[test]
fn a_route_names_the_brokers_that_have_the_topic_and_their_queues() {
    let mut world = two_brokers();
    let names = world.connect(Endpoint::NameServer);
    let one = concat!(
        r#"{"brokerDatas":[{"brokerAddrs":{"0":"127.0.0.1:10911"},"brokerName":"a","cluster":"DefaultCluster","enableActingMaster":false}],"#,
        r#""filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":2,"topicSysFlag":0,"writeQueueNums":2}]}"#
    );
    assert_eq!(text(&world.ask(names, route("one"))), one);
    let both = text(&world.ask(names, route("both")));
    assert!(
        both.contains(r#""brokerName":"a","perm":6,"readQueueNums":4"#)
            && both.contains(r#""brokerName":"b","perm""#)
    );
    assert_eq!(world.ask(names, route("none")).response_code(), ResponseCode::TOPIC_NOT_EXIST);
}

#[test]
fn old_clients_get_keys_without_quotes() {
    let mut world = two_brokers();
    let names = world.connect(Endpoint::NameServer);
    let old = Command { version: 397, ..route("one") };
    assert!(text(&world.ask(names, old.clone())).contains(r#""brokerAddrs":{0:"127.0.0.1:10911"}"#));
    let wants = old.with_field("acceptStandardJsonOnly", true);
    assert!(text(&world.ask(names, wants)).contains(r#""brokerAddrs":{"0":"#));
}

#[test]
fn routes_follow_queues_that_are_added_brokers_that_stop_and_brokers_that_move() {
    let mut world = two_brokers();
    let (names, member) = (world.connect(Endpoint::NameServer), world.connect(Endpoint::Broker(1)));
    world.state.add_queues(&"both".into(), 4);
    assert!(text(&world.ask(names, route("both"))).contains(r#""readQueueNums":8"#));

    world.state.stop_broker(world.now, world.wall(), 1);
    world.advance(seconds(0));
    assert_eq!(world.closed, [member]);
    assert!(!text(&world.ask(names, route("both"))).contains("10921"));
    let refused = world.connect(Endpoint::Broker(1));
    assert_eq!(world.closed, [member, refused]);

    world.state.start_broker(1);
    world.state.move_broker(1, "127.0.0.1:10931".into());
    assert!(text(&world.ask(names, route("both"))).contains("10931"));
}

#[test]
fn one_address_may_be_name_server_and_broker() {
    let mut world = two_brokers();
    let names = world.connect(Endpoint::NameServer);
    world.join(names, "c1", "g");
    let broker = world.connect(Endpoint::Broker(0));
    assert_eq!(world.ask(broker, route("one")).response_code(), ResponseCode::SUCCESS);

    let mut apart = World::with(Config { shared_door: false, ..crate::world::config() });
    let (names, broker) = (apart.connect(Endpoint::NameServer), apart.client());
    let answer = apart.ask(names, crate::world::heartbeat("c1", "g", &[]));
    assert_eq!(answer.response_code(), ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
    let answer = apart.ask(broker, route("t"));
    assert_eq!(answer.response_code(), ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
    assert_eq!(answer.remark.as_deref(), Some(" request type 105 not supported"));
}

#[test]
fn clusters_topics_and_keys_can_be_listed() {
    let mut world = two_brokers();
    let names = world.connect(Endpoint::NameServer);
    let clusters = text(&world.ask(names, Command::request(RequestCode::GET_BROKER_CLUSTER_INFO)));
    assert!(clusters.contains(r#""clusterAddrTable":{"DefaultCluster":["a","b"]}"#), "{clusters}");
    assert!(clusters.contains(r#""b":{"brokerAddrs":{0:"127.0.0.1:10921"}"#), "{clusters}");
    let topics = text(&world.ask(names, Command::request(RequestCode::GET_ALL_TOPIC_LIST_FROM_NAMESERVER)));
    assert_eq!(topics, r#"{"topicList":["SCHEDULE_TOPIC_XXXX","TBW102","both","one"]}"#);
    let key = about(RequestCode::GET_KV_CONFIG, &[("namespace", "ORDER_TOPIC_CONFIG"), ("key", "one")]);
    assert_eq!(world.ask(names, key).response_code(), ResponseCode::QUERY_NOT_FOUND);
}
