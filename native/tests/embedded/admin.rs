use crate::world::{World, about, send, text};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::json::parse;

#[test]
fn the_connections_of_a_group_are_listed_with_its_subscriptions() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let request = about(RequestCode::GET_CONSUMER_CONNECTION_LIST, &[("consumerGroup", "g")]);
    assert_eq!(
        text(&world.ask(conn, request)),
        concat!(
            r#"{"connectionSet":[{"clientAddr":"10.0.0.1:1001","clientId":"c1","language":"RUST","version":475}],"#,
            r#""consumeFromWhere":"CONSUME_FROM_LAST_OFFSET","consumeType":"CONSUME_PASSIVELY","messageModel":"CLUSTERING","#,
            r#""subscriptionTable":{"t":{"classFilterMode":false,"codeSet":[],"expressionType":"TAG","subString":"*","#,
            r#""subVersion":1,"tagsSet":[],"topic":"t"}}}"#
        )
    );
    let request = about(RequestCode::GET_CONSUMER_CONNECTION_LIST, &[("consumerGroup", "none")]);
    assert_eq!(world.ask(conn, request).response_code(), ResponseCode::CONSUMER_NOT_ONLINE);
    let request =
        about(RequestCode::GET_PRODUCER_CONNECTION_LIST, &[("producerGroup", "CLIENT_INNER_PRODUCER")]);
    assert!(text(&world.ask(conn, request)).contains(r#""clientId":"c1""#));
}

#[test]
fn the_progress_of_a_group_is_its_offsets_against_the_ends() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let stored_at = world.wall().as_millis();
    world.store(conn, "1");
    world.store(conn, "2");
    let fields = [("consumerGroup", "g"), ("topic", "t"), ("queueId", "0"), ("commitOffset", "1")];
    world.ask(conn, about(RequestCode::UPDATE_CONSUMER_OFFSET, &fields));
    let answer = world.ask(conn, about(RequestCode::GET_CONSUME_STATS, &[("consumerGroup", "g")]));
    let body = parse(&answer.body).expect("JSON");
    let (queue, figures) = &body.field("offsetTable").entries()[0];
    assert_eq!(queue.field("queueId").to_i32(), Some(0));
    let figure = |name: &str| figures.field(name).to_i64();
    assert_eq!((figure("brokerOffset"), figure("consumerOffset")), (Some(2), Some(1)));
    assert_eq!(figure("lastTimestamp"), Some(stored_at));
}

#[test]
fn a_topic_has_ends_and_groups_and_a_message_can_be_looked_at() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.ask(conn, send("t", 1, "m", &[]));
    let stats = text(&world.ask(conn, about(RequestCode::GET_TOPIC_STATS_INFO, &[("topic", "t")])));
    assert!(stats.contains(r#""queueId":1,"topic":"t"}:{"lastUpdateTimestamp":17"#), "{stats}");
    assert!(stats.contains(r#""maxOffset":1,"minOffset":0"#), "{stats}");
    let groups = text(&world.ask(conn, about(RequestCode::QUERY_TOPIC_CONSUME_BY_WHO, &[("topic", "t")])));
    assert_eq!(groups, r#"{"groupList":["g"]}"#);
    let message = world.ask(conn, about(RequestCode::VIEW_MESSAGE_BY_ID, &[("offset", "0")]));
    assert_eq!(crate::world::bodies(&message), ["m"]);
}

#[test]
fn only_tag_subscriptions_pass_the_check() {
    let mut world = World::new();
    let conn = world.client();
    let mut check = |kind: &str| {
        let body = format!(
            r#"{{"clientId":"c1","group":"g","subscriptionData":{{"expressionType":"{kind}","topic":"t"}}}}"#
        );
        world.ask(conn, about(RequestCode::CHECK_CLIENT_CONFIG, &[]).with_body(body)).response_code()
    };
    assert_eq!([check("TAG"), check("SQL92")], [ResponseCode::SUCCESS, ResponseCode::SYSTEM_ERROR]);
}

#[test]
fn configurations_can_be_read_back() {
    let mut world = World::new();
    let conn = world.client();
    let body = r#"{"groupName":"g","retryMaxTimes":3}"#;
    world.ask(conn, about(RequestCode::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP, &[]).with_body(body));
    let groups = world.ask(conn, about(RequestCode::GET_ALL_SUBSCRIPTIONGROUP_CONFIG, &[]));
    let table = parse(&groups.body).expect("JSON");
    let group = table.field("subscriptionGroupTable").field("g");
    assert_eq!(group.field("retryMaxTimes").to_i32(), Some(3));
    assert_eq!(group.field("consumeEnable").to_bool(), Some(true));
    let topic = world.ask(conn, about(RequestCode::GET_TOPIC_CONFIG, &[("topic", "t")]));
    assert_eq!(parse(&topic.body).expect("JSON").field("readQueueNums").to_i32(), Some(2));
    let figures = world.ask(conn, about(RequestCode::GET_BROKER_RUNTIME_INFO, &[]));
    assert_eq!(
        parse(&figures.body).expect("JSON").field("table").field("brokerActive").as_str(),
        Some("true")
    );
}
