use crate::popping::{held, pop, read_pop, text, texts};
use crate::world::{World, config, number, seconds, send};
use evenkeel::embedded::{Config, Limits, YoungGroup};
use evenkeel_core::model::{Group, MessageQueue};
use evenkeel_core::time::Duration;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::reply::PopStatus;
use evenkeel_core::wire::request::{Pop, Request};

#[test]
fn a_pop_takes_of_all_queues_and_nobody_gets_the_same_while_it_is_hidden() {
    let mut world = World::new();
    let conn = world.client();
    for (queue, body) in [(0, "a"), (0, "b"), (1, "c")] {
        world.ask(conn, send("t", queue, body, &[]));
    }
    let few = Pop { max_messages: 2, ..pop() };
    let first = world.pop(conn, &few);
    let second = world.pop(conn, &pop());
    assert_eq!((first.len(), second.len()), (2, 1));
    assert_eq!(texts(&[first, second].concat()), ["a", "b", "c"]);
    assert_eq!(world.pop(conn, &pop()), []);
    assert_eq!((world.popped(), world.committed(0), world.committed(1)), (3, Some(2), Some(1)));
    let other = Pop { group: Group::from("other"), ..pop() };
    assert_eq!(world.pop(conn, &other).len(), 3, "each group for itself");
}

#[test]
fn a_pop_of_one_queue_takes_of_that_queue_only_and_only_tags_that_are_wanted() {
    let mut world = World::new();
    let conn = world.client();
    for (queue, body, tag) in [(0, "a", "x"), (1, "b", "x"), (1, "c", "y"), (1, "d", "z")] {
        world.ask(conn, send("t", queue, body, &[("TAGS", tag)]));
    }
    let queue = MessageQueue::new("t", "embedded-a", 1);
    let some = Pop { queue, expression: "x || z".into(), ..pop() };
    assert_eq!(texts(&world.pop(conn, &some)), ["b", "d"]);
    assert_eq!((world.committed(0), world.committed(1)), (None, Some(3)));
    assert_eq!(texts(&world.pop(conn, &pop())), ["a"], "what was passed over does not come again");
}

#[test]
fn a_new_group_starts_where_its_first_pop_says() {
    for (young_group, from_end, wanted) in [
        (YoungGroup::DecidesItself, true, vec!["b", "later"]),
        (YoungGroup::DecidesItself, false, vec!["a", "b", "later"]),
        (YoungGroup::StartsAtZero, true, vec!["a", "b", "later"]),
    ] {
        let mut world = World::with(Config { young_group, ..config() });
        let conn = world.client();
        world.store(conn, "a");
        world.store(conn, "b");
        let pop = Pop { from_end, ..pop() };
        let mut seen = world.pop(conn, &pop);
        world.store(conn, "later");
        seen.extend(world.pop(conn, &pop));
        assert_eq!(texts(&seen), wanted, "the last message is not skipped");
    }
}

#[test]
fn an_operators_reset_counts_for_the_next_pop() {
    let mut world = World::new();
    let conn = world.client();
    world.join(conn, "c1", "g");
    for body in ["a", "b"] {
        world.store(conn, body);
    }
    assert_eq!(world.pop(conn, &pop()).len(), 2);
    let fields = [("group", "g"), ("topic", "t"), ("timestamp", "0"), ("isForce", "true")];
    let reset =
        crate::world::about(evenkeel_core::wire::code::RequestCode::INVOKE_BROKER_TO_RESET_OFFSET, &fields);
    assert_eq!(world.ask(conn, reset).response_code(), ResponseCode::SUCCESS);
    assert_eq!(texts(&world.pop(conn, &pop())), ["a", "b"]);
    assert_eq!(world.committed(0), Some(2));
}

#[test]
fn a_parked_pop_is_answered_when_a_message_comes_and_the_longest_waiting_first() {
    let mut world = World::new();
    let conns = [world.client(), world.client()];
    let producer = world.client();
    let calls = conns.map(|conn| (conn, world.post(conn, Request::Pop(held()).to_command())));
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 2);
    for ((conn, opaque), body) in calls.into_iter().zip(["a", "b"]) {
        assert_eq!(world.answer(conn, opaque), None);
        world.store(producer, body);
        let answer = world.answer(conn, opaque).expect("woken");
        let reply = read_pop(&held(), answer);
        assert_eq!((texts(&reply.messages), reply.rest), (vec![body.to_owned()], 0));
    }
}

#[test]
fn a_parked_pop_does_not_wake_for_what_it_does_not_want() {
    let mut world = World::new();
    let conn = world.client();
    let queue = MessageQueue::new("t", "embedded-a", 1);
    let tagged = Pop { expression: "x".into(), queue, ..held() };
    let opaque = world.post(conn, Request::Pop(tagged.clone()).to_command());
    for (queue, tag) in [(1, "y"), (0, "x")] {
        world.ask(conn, send("t", queue, "other", &[("TAGS", tag)]));
    }
    assert_eq!(world.answer(conn, opaque), None);
    world.ask(conn, send("t", 1, "wanted", &[("TAGS", "x")]));
    let answer = world.answer(conn, opaque).expect("woken");
    assert_eq!(text(&read_pop(&tagged, answer).messages[0]), "wanted");
}

#[test]
fn a_parked_pop_ends_when_its_time_is_over_and_goes_with_its_connection() {
    let mut world = World::new();
    let conns = [world.client(), world.client()];
    let opaque = world.post(conns[0], Request::Pop(held()).to_command());
    world.advance(seconds(10));
    world.post(conns[1], Request::Pop(held()).to_command());
    world.disconnect(conns[1]);
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 1);
    world.advance(seconds(5) - Duration::from_millis(1));
    assert_eq!(world.answer(conns[0], opaque), None);
    world.advance(Duration::from_millis(1));
    let answer = world.answer(conns[0], opaque).expect("ended");
    assert_eq!(answer.response_code(), ResponseCode::POLLING_TIMEOUT);
    assert_eq!(number(&answer, "restNum"), 0);
    assert_eq!(read_pop(&held(), answer).status, PopStatus::NoNew);
    assert_eq!(world.state.snapshot(world.now).brokers[0].held, 0);
}

#[test]
fn requests_that_are_wrong_are_refused_as_by_a_real_broker() {
    let mut world = World::new();
    let conn = world.client();
    world.store(conn, "a");
    let queue = |topic: &str, id| MessageQueue::new(topic, "embedded-a", id);
    let wall = world.wall().as_millis();
    for (what, request, code) in [
        ("topic", Pop { queue: queue("unknown", -1), ..pop() }, ResponseCode::TOPIC_NOT_EXIST),
        ("queue", Pop { queue: queue("t", 2), ..pop() }, ResponseCode::INVALID_PARAMETER),
        ("too many", Pop { max_messages: 33, ..pop() }, ResponseCode::INVALID_PARAMETER),
        ("below none", Pop { max_messages: i32::MIN, ..pop() }, ResponseCode::SYSTEM_ERROR),
        ("no tag", Pop { expression: "||".into(), ..pop() }, ResponseCode::SUBSCRIPTION_PARSE_FAILED),
        ("properties", Pop { expression_type: "SQL92".into(), ..pop() }, ResponseCode::SYSTEM_ERROR),
        ("too late", Pop { born: wall - 501, ..pop() }, ResponseCode::POLLING_TIMEOUT),
        ("never born", Pop { born: i64::MIN, ..held() }, ResponseCode::POLLING_TIMEOUT),
    ] {
        assert_eq!(world.code(conn, &Request::Pop(request)), code, "{what}");
    }
    let ordered = Request::Pop(pop()).to_command().with_field("order", "true");
    assert_eq!(world.ask(conn, ordered).response_code(), ResponseCode::SYSTEM_ERROR);
    let nothing = Request::Pop(pop()).to_command().with_field("maxMsgNums", "many");
    assert_eq!(world.ask(conn, nothing).response_code(), ResponseCode::SYSTEM_ERROR);
    assert_eq!((world.popped(), texts(&world.pop(conn, &pop()))), (0, vec!["a".to_owned()]));
}

#[test]
fn with_too_many_popped_or_parked_nothing_more_is_given_out_or_parked() {
    let limits = Limits { popped: 2, held: 1, ..Limits::default() };
    let mut world = World::with(Config { limits, ..config() });
    let conn = world.client();
    for body in ["a", "b", "c"] {
        world.store(conn, body);
    }
    let first = world.pop(conn, &pop());
    assert_eq!(texts(&first), ["a", "b"]);
    assert_eq!(world.pop(conn, &pop()), []);
    world.post(conn, Request::Pop(held()).to_command());
    assert_eq!(world.code(conn, &Request::Pop(held())), ResponseCode::POLLING_FULL);
    world.ack(conn, &first[0].check_point);
    assert_eq!(texts(&world.pop(conn, &pop())), ["c"]);
}
