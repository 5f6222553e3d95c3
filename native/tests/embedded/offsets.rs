use crate::world::{World, about, config, number, pull, send};
use evenkeel::embedded::{Config, Generation, YoungGroup};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn query() -> Command {
    about(RequestCode::QUERY_CONSUMER_OFFSET, &[("consumerGroup", "g"), ("topic", "t"), ("queueId", "0")])
}

fn commit(offset: &str) -> Command {
    let fields = [("consumerGroup", "g"), ("topic", "t"), ("queueId", "0"), ("commitOffset", offset)];
    about(RequestCode::UPDATE_CONSUMER_OFFSET, &fields)
}

fn code_and_offset(answer: &Command) -> (ResponseCode, Option<&str>) {
    (answer.response_code(), answer.fields.get("offset"))
}

#[test]
fn what_was_committed_is_found_again_even_if_it_goes_back() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    for offset in ["7", "3"] {
        world.post(conn, commit(offset).one_way());
        let answer = world.ask(conn, query());
        assert_eq!(code_and_offset(&answer), (ResponseCode::SUCCESS, Some(offset)));
    }
}

#[test]
fn a_young_group_on_a_young_queue_starts_at_0() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    assert_eq!(world.ask(conn, query()).response_code(), ResponseCode::QUERY_NOT_FOUND, "nothing is stored");
    world.store(conn, "m");
    assert_eq!(code_and_offset(&world.ask(conn, query())), (ResponseCode::SUCCESS, Some("0")));
    let answer = world.ask(conn, query().with_field("setZeroIfNotFound", false));
    assert_eq!(answer.response_code(), ResponseCode::QUERY_NOT_FOUND);
}

#[test]
fn in_4_9_an_empty_queue_is_young_enough() {
    let mut world = World::with(Config { generation: Generation::V4_9, ..config() });
    let conn = world.client();
    assert_eq!(code_and_offset(&world.ask(conn, query())), (ResponseCode::SUCCESS, Some("0")));
}

#[test]
fn the_start_rule_of_the_client_can_be_given_its_turn() {
    let mut world = World::with(Config { young_group: YoungGroup::DecidesItself, ..config() });
    let conn = world.client();
    world.store(conn, "m");
    assert_eq!(world.ask(conn, query()).response_code(), ResponseCode::QUERY_NOT_FOUND);
}

#[test]
fn commits_for_unknown_groups_and_topics_are_refused_by_5() {
    let mut world = World::new();
    let conn = world.client();
    assert_eq!(world.ask(conn, commit("1")).response_code(), ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST);
    world.join(conn, "c1", "g");
    let elsewhere = commit("1").with_field("topic", "nowhere");
    assert_eq!(world.ask(conn, elsewhere).response_code(), ResponseCode::TOPIC_NOT_EXIST);
    let broken = commit("many");
    assert_eq!(world.ask(conn, broken).response_code(), ResponseCode::INVALID_PARAMETER);
}

#[test]
fn a_pull_commits_on_arrival_once() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.post(conn, pull("g", 0).with_field("sysFlag", 3).with_field("commitOffset", 5));
    assert_eq!(code_and_offset(&world.ask(conn, query())), (ResponseCode::SUCCESS, Some("5")));
    world.ask(conn, commit("9"));
    world.store(conn, "wakes the pull");
    assert_eq!(code_and_offset(&world.ask(conn, query())), (ResponseCode::SUCCESS, Some("9")));
}

#[test]
fn ends_and_times_of_a_queue_can_be_asked_for() {
    let mut world = World::new();
    let conn = world.client();
    let start = world.wall().as_millis();
    for number in 0..3 {
        world.store(conn, &number.to_string());
        world.advance(crate::world::seconds(1));
    }
    let of = |code, queue: &str| about(code, &[("topic", "t"), ("queueId", queue)]);
    let offset = |world: &mut World, request| number(&world.ask(conn, request), "offset");
    assert_eq!(offset(&mut world, of(RequestCode::GET_MAX_OFFSET, "0")), 3);
    assert_eq!(offset(&mut world, of(RequestCode::GET_MIN_OFFSET, "0")), 0);
    assert_eq!(offset(&mut world, of(RequestCode::GET_MAX_OFFSET, "9")), 0);
    assert_eq!(offset(&mut world, of(RequestCode::GET_MIN_OFFSET, "9")), -1);
    let mut at = |millis: i64, boundary: &str| {
        let request =
            of(RequestCode::SEARCH_OFFSET_BY_TIMESTAMP, "0").with_field("timestamp", start + millis);
        offset(&mut world, request.with_field("boundaryType", boundary))
    };
    assert_eq!([at(-1, "LOWER"), at(0, "LOWER"), at(1, "LOWER"), at(5000, "LOWER")], [0, 0, 1, 3]);
    assert_eq!([at(-1, "UPPER"), at(0, "UPPER"), at(5000, "UPPER")], [0, 1, 3]);
    world.ask(conn, send("t", 1, "x", &[]));
}
