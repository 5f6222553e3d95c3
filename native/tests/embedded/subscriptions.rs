use crate::world::{World, heartbeat, heartbeat_as, pull, pull_of};
use evenkeel::embedded::Config;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

#[test]
fn a_pull_needs_a_subscription_that_the_broker_knows() {
    let mut world = World::new();
    let conn = world.client();
    let answer = world.ask(conn, pull("g", 0));
    assert_eq!(answer.response_code(), ResponseCode::SUBSCRIPTION_NOT_EXIST);
    world.ask(conn, heartbeat("c1", "g", &[("other", "*", 1)]));
    let answer = world.ask(conn, pull("g", 0));
    assert_eq!(answer.response_code(), ResponseCode::SUBSCRIPTION_NOT_EXIST);
}

#[test]
fn a_newer_subscription_must_reach_the_broker_by_heartbeat_first() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.store(conn, "m");
    let newer = pull("g", 0).with_field("subVersion", 2);
    let answer = world.ask(conn, newer.clone());
    assert_eq!(answer.response_code(), ResponseCode::SUBSCRIPTION_NOT_LATEST);
    world.ask(conn, heartbeat("c1", "g", &[("t", "*", 2)]));
    assert_eq!(world.ask(conn, newer.clone()).response_code(), ResponseCode::SUCCESS);
    world.ask(conn, heartbeat("c1", "g", &[("t", "*", 1)]));
    assert_eq!(world.ask(conn, newer).response_code(), ResponseCode::SUCCESS, "an older one is ignored");
}

#[test]
fn unknown_topics_queues_and_groups_are_refused_by_their_own_codes() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let code = |world: &mut World, request| world.ask(conn, request).response_code();
    assert_eq!(code(&mut world, pull_of("g", "nowhere", 0, 0)), ResponseCode::TOPIC_NOT_EXIST);
    assert_eq!(code(&mut world, pull_of("g", "t", 2, 0)), ResponseCode::INVALID_PARAMETER);
    assert_eq!(code(&mut world, pull_of("g", "t", -1, 0)), ResponseCode::INVALID_PARAMETER);

    let mut strict = World::with(Config { auto_create_groups: false, ..crate::world::config() });
    let conn = strict.client();
    let answer = strict.ask(conn, pull("g", 0));
    assert_eq!(answer.response_code(), ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST);
}

#[test]
fn a_group_may_be_forbidden_to_consume_or_to_broadcast() {
    let mut world = World::new();
    let conn = world.client();
    world.ask(conn, heartbeat_as("BROADCASTING", "c1", "g", &[("t", "*", 1)]));
    let set = |field: &str| {
        Command::request(RequestCode::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP)
            .with_body(format!(r#"{{"groupName":"g","{field}":false}}"#))
    };
    for field in ["consumeEnable", "consumeBroadcastEnable"] {
        world.ask(conn, set(field));
        assert_eq!(world.ask(conn, pull("g", 0)).response_code(), ResponseCode::NO_PERMISSION, "{field}");
    }
}
