use crate::world::{World, about, bodies, number, pull, seconds, send};
use evenkeel::embedded::Endpoint;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel_core::time::Duration;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;

fn query() -> Command {
    about(RequestCode::QUERY_CONSUMER_OFFSET, &[("consumerGroup", "g"), ("topic", "t"), ("queueId", "0")])
}

fn busy() -> Verdict {
    Verdict::Fail { code: ResponseCode::SYSTEM_BUSY, remark: "on purpose".to_owned() }
}

#[test]
fn a_rule_fails_the_requests_it_names_until_its_guard_is_dropped() {
    let mut world = World::new();
    let conn = world.client();
    let fault = world.state.install(Rule::on(RequestCode::QUERY_CONSUMER_OFFSET, busy()).topic("t").queue(0));
    let answer = world.ask(conn, query());
    assert_eq!(
        (answer.response_code(), answer.remark.as_deref()),
        (ResponseCode::SYSTEM_BUSY, Some("on purpose"))
    );
    let other = world.ask(conn, query().with_field("queueId", 1));
    assert_eq!(other.response_code(), ResponseCode::QUERY_NOT_FOUND);
    assert_eq!(fault.hits(), 1);
    drop(fault);
    assert_eq!(world.ask(conn, query()).response_code(), ResponseCode::QUERY_NOT_FOUND);
}

#[test]
fn rules_count_and_the_first_that_matches_decides() {
    let mut world = World::new();
    let conn = world.client();
    let _pass = world.state.install(Rule::any(Verdict::Pass).group("spared"));
    let _second = world.state.install(Rule::on(RequestCode::QUERY_CONSUMER_OFFSET, busy()).after(1).times(1));
    let spared = world.ask(conn, query().with_field("consumerGroup", "spared"));
    assert_eq!(spared.response_code(), ResponseCode::QUERY_NOT_FOUND);
    let codes: Vec<_> = (0..3).map(|_| world.ask(conn, query()).response_code()).collect();
    let (fine, fails) = (ResponseCode::QUERY_NOT_FOUND, ResponseCode::SYSTEM_BUSY);
    assert_eq!(codes, [fine, fails, fine]);
}

#[test]
fn a_kept_rule_ends_by_its_name() {
    let mut world = World::new();
    let conn = world.client();
    let id = world.state.install(Rule::any(busy()).at(Endpoint::Broker(0))).keep();
    assert_eq!(world.ask(conn, query()).response_code(), ResponseCode::SYSTEM_BUSY);
    assert!(world.state.remove_fault(id));
    assert!(!world.state.remove_fault(id));
    assert_eq!(world.ask(conn, query()).response_code(), ResponseCode::QUERY_NOT_FOUND);
}

#[test]
fn chances_follow_from_the_seed() {
    let failed = |seed| {
        let mut world = World::with(evenkeel::embedded::Config { seed, ..crate::world::config() });
        let conn = world.client();
        let fault = world.state.install(Rule::any(busy()).per_mille(100));
        for _ in 0..1000 {
            world.ask(conn, query());
        }
        fault.hits()
    };
    assert_eq!(failed(1), failed(1));
    assert!((60..140).contains(&failed(1)), "{}", failed(1));
}

#[test]
fn dropped_requests_change_nothing_lost_answers_do() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let dropped = world.state.install(Rule::on(RequestCode::SEND_MESSAGE_V2, Verdict::Drop));
    let first = world.post(conn, send("t", 0, "dropped", &[]));
    drop(dropped);
    let lost = world.state.install(Rule::on(RequestCode::SEND_MESSAGE_V2, Verdict::LoseAnswer));
    let second = world.post(conn, send("t", 0, "stored", &[]));
    drop(lost);
    world.advance(seconds(60));
    assert_eq!((world.answer(conn, first), world.answer(conn, second)), (None, None));
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["stored"]);
}

#[test]
fn a_request_or_only_its_answer_can_be_late() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let late = world.state.install(Rule::on(RequestCode::SEND_MESSAGE_V2, Verdict::Delay(seconds(2))));
    let request = world.post(conn, send("t", 0, "late", &[]));
    drop(late);
    let fault = Rule::on(RequestCode::SEND_MESSAGE_V2, Verdict::DelayAnswer(seconds(3)));
    let late_answer = world.state.install(fault);
    let answer = world.post(conn, send("t", 0, "at once", &[]));
    drop(late_answer);
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["at once"]);
    world.advance(seconds(2));
    assert_eq!(bodies(&world.ask(conn, pull("g", 0))), ["at once", "late"]);
    assert!(world.answer(conn, request).is_some() && world.answer(conn, answer).is_none());
    world.advance(seconds(1));
    assert!(world.answer(conn, answer).is_some());
}

#[test]
fn answers_can_be_garbled_or_replaced_also_when_they_come_late() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    let garbled = Verdict::Garble(bytes::Bytes::from_static(b"no message"));
    let fault = world.state.install(Rule::on(RequestCode::PULL_MESSAGE, garbled).times(1));
    let held = world.post(conn, pull("g", 0));
    world.store(conn, "m");
    let answer = world.answer(conn, held).expect("woken");
    assert_eq!((answer.response_code(), &*answer.body), (ResponseCode::SUCCESS, &b"no message"[..]));
    assert_eq!(number(&answer, "nextBeginOffset"), 1);
    drop(fault);

    let strange = Command::response(ResponseCode(9999), None);
    let _fault = world.state.install(Rule::on(RequestCode::PULL_MESSAGE, Verdict::AnswerWith(strange)));
    assert_eq!(world.ask(conn, pull("g", 0)).code, 9999);
}

#[test]
fn connections_can_be_closed_and_notices_lost() {
    let mut world = World::new();
    let (one, two) = (world.client(), world.client());
    world.join(one, "c1", "g");
    world.told(one);
    let lost = world.state.install(Rule::on(RequestCode::NOTIFY_CONSUMER_IDS_CHANGED, Verdict::Drop));
    world.join(two, "c2", "g");
    assert_eq!((world.notices(one), lost.hits()), (0, 2));
    drop(lost);
    let _close = world.state.install(Rule::on(RequestCode::PULL_MESSAGE, Verdict::CloseConnection).times(1));
    world.post(two, pull("g", 0));
    assert_eq!(world.closed, [two]);
    assert_eq!(world.notices(one), 1, "the group is told of the loss");
}

#[test]
fn lock_requests_are_matched_by_what_is_in_their_body() {
    let mut world = World::new();
    let conn = world.client();
    let lock = |group: &str| {
        Command::request(RequestCode::LOCK_BATCH_MQ).with_body(format!(
            r#"{{"clientId":"c","consumerGroup":"{group}","mqSet":[{{"brokerName":"embedded-a","queueId":1,"topic":"t"}}]}}"#
        ))
    };
    let _fault =
        world.state.install(Rule::on(RequestCode::LOCK_BATCH_MQ, busy()).group("g").topic("t").queue(1));
    assert_eq!(world.ask(conn, lock("g")).response_code(), ResponseCode::SYSTEM_BUSY);
    assert_eq!(world.ask(conn, lock("h")).response_code(), ResponseCode::SUCCESS);
}

#[test]
fn everything_takes_as_long_as_the_latency_says() {
    let mut world = World::new();
    let conn = world.client();
    world.state.set_latency(Duration::from_millis(20));
    let request = world.post(conn, query());
    world.advance(Duration::from_millis(19));
    assert_eq!(world.answer(conn, request), None);
    world.advance(Duration::from_millis(1));
    assert!(world.answer(conn, request).is_some());
}
