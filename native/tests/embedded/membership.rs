use crate::world::{World, about, config, heartbeat, heartbeat_as, seconds, text};
use evenkeel::embedded::{Config, Generation};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn members(world: &mut World, conn: evenkeel::embedded::ConnId) -> String {
    text(&world.ask(conn, about(RequestCode::GET_CONSUMER_LIST_BY_GROUP, &[("consumerGroup", "g")])))
}

#[test]
fn everybody_is_told_of_a_new_member_the_newcomer_included() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.join(one, "c1", "g");
    assert_eq!((world.notices(one), world.notices(two)), (1, 0));
    world.join(two, "c2", "g");
    assert_eq!((world.notices(one), world.notices(two)), (1, 1));
    assert_eq!(members(&mut world, one), r#"{"consumerIdList":["c1","c2"]}"#);

    world.join(one, "c1", "g");
    assert_eq!(world.notices(one), 0, "the same heartbeat again is no change");
}

#[test]
fn a_notice_is_one_way_and_names_the_group() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let notice = world.told(conn).remove(0);
    assert!(notice.is_one_way() && notice.opaque.is_some());
    assert_eq!(notice.fields.get("consumerGroup"), Some("g"));
}

#[test]
fn topics_that_come_or_go_are_a_change_a_new_version_is_none() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    world.told(conn);
    for (topics, notices) in
        [(vec![("t", "*", 2)], 0), (vec![("t", "*", 2), ("u", "*", 1)], 1), (vec![("u", "*", 1)], 1)]
    {
        world.ask(conn, heartbeat("c1", "g", &topics));
        assert_eq!(world.notices(conn), notices, "{topics:?}");
    }
}

#[test]
fn the_others_are_told_when_a_member_leaves() {
    let mut world = World::new();
    let (one, two, three) = (world.client(), world.client(), world.client());
    for (conn, client) in [(one, "c1"), (two, "c2"), (three, "c3")] {
        world.join(conn, client, "g");
    }
    for conn in [one, two, three] {
        world.told(conn);
    }
    let leave = about(RequestCode::UNREGISTER_CLIENT, &[("clientID", "c2"), ("consumerGroup", "g")]);
    assert_eq!(world.ask(two, leave).response_code(), ResponseCode::SUCCESS);
    assert_eq!([world.notices(one), world.notices(two), world.notices(three)], [1, 0, 1]);
    world.disconnect(three);
    assert_eq!(world.notices(one), 1);
    assert_eq!(members(&mut world, one), r#"{"consumerIdList":["c1"]}"#);
    world.disconnect(one);
    let other = world.client();
    let answer = world.ask(other, about(RequestCode::GET_CONSUMER_LIST_BY_GROUP, &[("consumerGroup", "g")]));
    assert_eq!(answer.response_code(), ResponseCode::SYSTEM_ERROR, "an empty group is no group");
}

#[test]
fn a_silent_member_is_disconnected_without_a_word_to_the_others() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.join(one, "c1", "g");
    world.join(two, "c2", "g");
    world.told(one);
    for _ in 0..5 {
        world.advance(seconds(30));
        world.join(one, "c1", "g");
    }
    assert_eq!(world.closed, [two]);
    assert_eq!(world.notices(one), 0);
    assert_eq!(members(&mut world, one), r#"{"consumerIdList":["c1"]}"#);
}

#[test]
fn broadcasting_groups_are_not_told_by_5_but_by_4_9() {
    for (generation, notices) in [(Generation::V5, 0), (Generation::V4_9, 1)] {
        let mut world = World::with(Config { generation, ..config() });
        let conn = world.client();
        world.ask(conn, heartbeat_as("BROADCASTING", "c1", "g", &[("t", "*", 1)]));
        assert_eq!(world.notices(conn), notices, "{generation:?}");
    }
}

#[test]
fn a_group_can_be_set_to_silence() {
    let mut world = World::new();
    let conn = world.client();
    let body = r#"{"groupName":"g","notifyConsumerIdsChangedEnable":false}"#;
    world.ask(conn, Command::request(RequestCode::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP).with_body(body));
    world.join(conn, "c1", "g");
    assert_eq!(world.notices(conn), 0);
}

#[test]
fn heartbeats_of_the_second_kind_may_leave_subscriptions_out() {
    let mut world = World::new();
    let conn = world.client();
    let with = |fingerprint: i32, without: bool| {
        let first = heartbeat("c1", "g", &[("t", "*", 1)]);
        let body = text(&first)
            .replace("\"heartbeatFingerprint\":0", &format!("\"heartbeatFingerprint\":{fingerprint}"));
        let body = if without {
            let start = body.find("\"subscriptionDataSet\":[").expect("there");
            let end = body[start..].find("}],\"unitMode\"").expect("there") + start;
            let body = format!("{}\"subscriptionDataSet\":[{}", &body[..start], &body[end + 1..]);
            body.replace("\"withoutSub\":false", "\"withoutSub\":true")
        } else {
            body
        };
        Command::request(RequestCode::HEART_BEAT).with_body(body)
    };
    let answer = world.ask(conn, with(42, false));
    assert_eq!(answer.fields.get("IS_SUPPORT_HEART_BEAT_V2"), Some("true"));
    assert_eq!(answer.fields.get("IS_SUB_CHANGE"), Some("true"));
    let answer = world.ask(conn, with(42, true));
    assert_eq!(answer.fields.get("IS_SUB_CHANGE"), Some("false"));
    world.store(conn, "m");
    let answer = world.ask(conn, crate::world::pull("g", 0));
    assert_eq!(answer.response_code(), ResponseCode::SUCCESS, "the subscription is still known");
}
