use crate::world::{World, about, config, number, send, text};
use evenkeel::embedded::{Config, Endpoint};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};

#[test]
fn sending_to_an_unknown_topic_makes_it() {
    let mut world = World::new();
    let (conn, names) = (world.client(), world.connect(Endpoint::NameServer));
    assert_eq!(world.ask(conn, send("fresh", 3, "m", &[])).response_code(), ResponseCode::SUCCESS);
    let route = world.ask(names, about(RequestCode::GET_ROUTEINFO_BY_TOPIC, &[("topic", "fresh")]));
    let queues = r#""perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4"#;
    assert!(text(&route).contains(queues), "{}", text(&route));
}

#[test]
fn unless_that_is_switched_off_or_the_name_is_no_name() {
    let mut world = World::new();
    let conn = world.client();
    assert_eq!(
        world.ask(conn, send("no good", 0, "m", &[])).response_code(),
        ResponseCode::INVALID_PARAMETER
    );
    let no_image = send("fresh", 0, "m", &[]).with_field("c", "t");
    assert_eq!(world.ask(conn, no_image).response_code(), ResponseCode::TOPIC_NOT_EXIST);

    let mut strict = World::with(Config { auto_create: false, ..config() });
    let conn = strict.client();
    assert_eq!(strict.ask(conn, send("fresh", 0, "m", &[])).response_code(), ResponseCode::TOPIC_NOT_EXIST);
}

#[test]
fn the_answer_to_a_send_has_all_the_fields_that_clients_look_at() {
    let mut world = World::new();
    let conn = world.client();
    let answer = world.ask(conn, send("t", 1, "m", &[]));
    assert_eq!((number(&answer, "queueId"), number(&answer, "queueOffset")), (1, 0));
    assert_eq!(answer.fields.get("msgId"), Some("7F000001000026940000000000000000"));
    assert_eq!(answer.fields.get("MSG_REGION"), Some("DefaultRegion"));
    assert_eq!(answer.fields.get("TRACE_ON"), Some("true"));
}

#[test]
fn a_queue_that_does_not_exist_is_refused_and_none_means_any() {
    let mut world = World::new();
    let conn = world.client();
    assert_eq!(world.ask(conn, send("t", 2, "m", &[])).response_code(), ResponseCode::INVALID_PARAMETER);
    let chosen: std::collections::BTreeSet<i64> =
        (0..20).map(|_| number(&world.ask(conn, send("t", -1, "m", &[])), "queueId")).collect();
    assert_eq!(chosen, [0, 1].into());
}

#[test]
fn long_names_of_fields_work_like_short_ones() {
    let mut world = World::new();
    let conn = world.client();
    let fields = [
        ("producerGroup", "p"),
        ("topic", "t"),
        ("defaultTopic", "TBW102"),
        ("defaultTopicQueueNums", "4"),
        ("queueId", "1"),
        ("sysFlag", "0"),
        ("bornTimestamp", "1"),
        ("flag", "0"),
    ];
    let answer = world.ask(conn, about(RequestCode::SEND_MESSAGE, &fields).with_body("m"));
    assert_eq!((answer.response_code(), number(&answer, "queueId")), (ResponseCode::SUCCESS, 1));
}

#[test]
fn operators_make_change_and_delete_topics() {
    let mut world = World::new();
    let conn = world.client();
    let fields =
        [("topic", "made"), ("defaultTopic", "TBW102"), ("readQueueNums", "3"), ("writeQueueNums", "2")];
    let make = about(RequestCode::UPDATE_AND_CREATE_TOPIC, &fields).with_field("perm", 6);
    assert_eq!(world.ask(conn, make.clone()).response_code(), ResponseCode::SUCCESS);
    assert_eq!(world.ask(conn, send("made", 2, "m", &[])).response_code(), ResponseCode::SUCCESS);
    world.ask(conn, make.with_field("perm", 4));
    assert_eq!(world.ask(conn, send("made", 0, "m", &[])).response_code(), ResponseCode::NO_PERMISSION);
    world.ask(conn, about(RequestCode::DELETE_TOPIC_IN_BROKER, &[("topic", "made")]));
    let stats = about(RequestCode::GET_TOPIC_STATS_INFO, &[("topic", "made")]);
    assert_eq!(world.ask(conn, stats).response_code(), ResponseCode::TOPIC_NOT_EXIST);
    let system = [("topic", "TBW102"), ("readQueueNums", "3"), ("writeQueueNums", "2")];
    let answer = world.ask(conn, about(RequestCode::UPDATE_AND_CREATE_TOPIC, &system));
    assert_eq!(answer.response_code(), ResponseCode::INVALID_PARAMETER);
}
