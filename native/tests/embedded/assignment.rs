use crate::popping::mode;
use crate::world::{World, config};
use evenkeel::embedded::{BrokerSpec, Config, Generation, Limits, TopicSpec};
use evenkeel_core::model::{ClientId, Group, MessageQueue, Topic};
use evenkeel_core::wire::bodies::RequestMode::{self, Pop, Pull};
use evenkeel_core::wire::bodies::{AssignmentQuery, Assignments};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::request::{MessageModel, Request};

fn query(client: &str, topic: &str) -> AssignmentQuery {
    AssignmentQuery {
        group: Group::from("g"),
        client: ClientId::from(client),
        topic: Topic::from(topic),
        strategy: "AVG".into(),
        model: MessageModel::Clustering,
    }
}

/// A question for `t`, which lies on two brokers with two queues each.
fn ask(client: &str) -> Request {
    Request::QueryAssignment(query(client, "t"))
}

fn table(queues: &[(&str, i32)], mode: RequestMode) -> Assignments {
    let row = |(broker, id): &(&str, i32)| (MessageQueue::new("t", *broker, *id), mode);
    Assignments(Some(queues.iter().map(row).collect()))
}

fn two_brokers() -> World {
    World::with(Config {
        brokers: vec![BrokerSpec::new("a", "127.0.0.1:9876"), BrokerSpec::new("b", "127.0.0.1:9877")],
        topics: vec![TopicSpec::new("t", 2, 2)],
        ..config()
    })
}

#[test]
fn members_share_the_queues_of_all_brokers_by_the_rule_they_name() {
    let mut world = two_brokers();
    let conns = [world.client(), world.client()];
    for (conn, client) in conns.iter().zip(["c1", "c2"]) {
        world.join(*conn, client, "g");
    }
    assert_eq!(world.assigned(conns[0], &ask("c1")), table(&[("a", 0), ("a", 1)], Pull));
    assert_eq!(world.assigned(conns[1], &ask("c2")), table(&[("b", 0), ("b", 1)], Pull));
    let circle = |client| AssignmentQuery { strategy: "AVG_BY_CIRCLE".into(), ..query(client, "t") };
    let first = Request::QueryAssignment(circle("c1"));
    assert_eq!(world.assigned(conns[0], &first), table(&[("a", 0), ("b", 0)], Pull));
    let stranger = world.assigned(conns[0], &ask("stranger"));
    assert_eq!(stranger, Assignments(Some([].into())), "who is no member has nothing");
    let all = AssignmentQuery { model: MessageModel::Broadcasting, ..query("c1", "t") };
    let all = world.assigned(conns[0], &Request::QueryAssignment(all));
    assert_eq!(all, table(&[("a", 0), ("a", 1), ("b", 0), ("b", 1)], Pull));
}

#[test]
fn switched_to_pop_every_member_has_one_entry_a_broker_until_it_is_switched_back() {
    let mut world = two_brokers();
    let conn = world.client();
    world.join(conn, "c1", "g");
    assert_eq!(world.code(conn, &mode("g", "t", Pop, 0)), ResponseCode::SUCCESS);
    assert_eq!(world.notices(conn), 1, "of the join; as at a real broker nobody is told of the switch");
    for client in ["c1", "late"] {
        assert_eq!(world.assigned(conn, &ask(client)), table(&[("a", -1), ("b", -1)], Pop));
    }
    let retry = Request::QueryAssignment(query("c1", "%RETRY%g"));
    let assigned = world.assigned(conn, &retry).0.expect("a table");
    assert!(!assigned.is_empty() && assigned.values().all(|mode| *mode == Pull), "retry topics are pulled");

    world.code(conn, &mode("g", "t", Pull, 0));
    let all = [("a", 0), ("a", 1), ("b", 0), ("b", 1)];
    assert_eq!(world.assigned(conn, &ask("c1")), table(&all, Pull));
}

#[test]
fn with_a_share_number_only_so_many_further_members_pop_a_queue() {
    let mut world = World::with(Config { topics: vec![TopicSpec::new("t", 1, 8)], ..config() });
    let conns: Vec<_> = (1..=4).map(|_| world.client()).collect();
    for (conn, client) in conns.iter().zip(["c1", "c2", "c3", "c4"]) {
        world.join(*conn, client, "g");
    }
    let on = |ids: &[i32]| {
        let queues: Vec<_> = ids.iter().map(|id| ("embedded-a", *id)).collect();
        table(&queues, Pop)
    };
    world.code(conns[0], &mode("g", "t", Pop, 1));
    assert_eq!(world.assigned(conns[0], &ask("c1")), on(&[0, 1, 2, 3]));
    assert_eq!(world.assigned(conns[3], &ask("c4")), on(&[0, 1, 6, 7]));
    world.code(conns[0], &mode("g", "t", Pop, 3));
    assert_eq!(world.assigned(conns[0], &ask("c1")), on(&[-1]), "as many as there are others: all");

    // More members than queues: one queue each.
    let mut world = World::new();
    let conns: Vec<_> = (1..=4).map(|_| world.client()).collect();
    for (conn, client) in conns.iter().zip(["c1", "c2", "c3", "c4"]) {
        world.join(*conn, client, "g");
    }
    world.code(conns[0], &mode("g", "t", Pop, 1));
    for (client, id) in [("c1", 0), ("c2", 1), ("c3", 0), ("c4", 1)] {
        assert_eq!(world.assigned(conns[0], &ask(client)), on(&[id]));
    }
}

#[test]
fn what_cannot_be_shared_out_is_answered_without_a_table() {
    let mut world = World::new();
    let conn = world.client();
    assert_eq!(world.assigned(conn, &ask("c1")).0, None, "a group without members");
    world.join(conn, "c1", "g");
    assert_eq!(world.assigned(conn, &Request::QueryAssignment(query("c1", "unknown"))).0, None);
    let odd = AssignmentQuery { strategy: "MACHINE_ROOM".into(), ..query("c1", "t") };
    assert_eq!(world.assigned(conn, &Request::QueryAssignment(odd)).0, None);
}

#[test]
fn a_mode_is_refused_for_what_does_not_exist_and_for_retry_topics() {
    let mut world = World::with(Config { auto_create_groups: false, ..config() });
    let conn = world.client();
    assert_eq!(world.code(conn, &mode("g", "%RETRY%g", Pop, 0)), ResponseCode::NO_PERMISSION);
    assert_eq!(world.code(conn, &mode("g", "unknown", Pop, 0)), ResponseCode::TOPIC_NOT_EXIST);
    assert_eq!(world.code(conn, &mode("g", "t", Pop, 0)), ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST);
}

#[test]
fn modes_are_bounded() {
    let limits = Limits { modes: 1, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    for (group, share, code) in [("g", 0, 0), ("h", 0, 2), ("g", 1, 0)] {
        assert_eq!(world.code(conn, &mode(group, "t", Pop, share)), ResponseCode(code));
    }
    world.code(conn, &mode("g", "t", Pull, 0));
    assert_eq!(world.code(conn, &mode("h", "t", Pop, 0)), ResponseCode::SUCCESS);
}

#[test]
fn a_4_9_broker_does_not_know_the_questions() {
    let mut world = World::with(Config { generation: Generation::V4_9, ..config() });
    let conn = world.client();
    world.join(conn, "c1", "g");
    let pop = Request::Pop(crate::popping::pop());
    for request in [ask("c1"), mode("g", "t", Pop, 0), pop] {
        assert_eq!(world.code(conn, &request), ResponseCode::REQUEST_CODE_NOT_SUPPORTED);
    }
}
