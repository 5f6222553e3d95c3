//! C23: a broker that cannot evaluate a subscription is an error before we are a member, not a consumer that stands still.

use crate::support;

use evenkeel_core::consumer::{Event, Input};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::subscription::{Filter, Subscription};
use support::cluster::refusal;
use support::{Address, CallError, Cluster, Flight, MS, Request, Rig, SECOND, Verdict, config, lost};

fn sql(topic: &str) -> Subscription {
    Filter::Sql92("a > 5".into()).subscribe(topic.into()).expect("legal")
}

fn rig(answer: impl Fn(&Address) -> Result<(), CallError> + 'static) -> Rig {
    let mut config = config(&[]);
    config.subscriptions = vec![sql("T")];
    let mut net = Cluster::one("T", 1);
    net.topic("T", &[("a", 1), ("b", 1)]);
    let mut rig = Rig::new(net, config);
    answered(&mut rig, answer);
    rig
}

fn answered(rig: &mut Rig, answer: impl Fn(&Address) -> Result<(), CallError> + 'static) {
    rig.rule(move |to, request| match request {
        Request::CheckSubscription { .. } => match answer(to) {
            Ok(()) => Verdict::Usual,
            Err(error) => Verdict::Reply(Err(error)),
        },
        _ => Verdict::Usual,
    });
}

/// Checks and heartbeats as they were sent, with milliseconds and the broker.
fn said(rig: &Rig, from: usize) -> Vec<(&'static str, u64, String)> {
    rig.sent(from, |flight: &Flight| {
        let what = match flight.request {
            Request::CheckSubscription { .. } => "check",
            Request::Heartbeat(_) => "heartbeat",
            _ => return None,
        };
        Some((what, flight.sent.as_millis(), flight.to.to_string()))
    })
}

fn refusals(rig: &Rig) -> usize {
    rig.saw(
        |event| matches!(event, Event::CallFailed { what: "check the filter", about, .. } if about == "T"),
    )
}

#[test]
fn c23_one_broker_is_asked_before_any_heartbeat() {
    let mut rig = rig(|_| Ok(()));
    rig.advance(SECOND);
    let said: Vec<&str> = said(&rig, 0).iter().map(|(what, ..)| *what).collect();
    assert_eq!(said, ["check", "heartbeat", "heartbeat"]);
    assert_eq!(rig.fetching("T"), [0, 0]);
    let asked = rig.sent(0, |flight| match &flight.request {
        Request::CheckSubscription { client, group, subscription } => {
            Some((client.to_string(), group.to_string(), subscription.subscription.clone()))
        }
        _ => None,
    });
    assert_eq!(asked, [("me".to_string(), "g".to_string(), sql("T"))]);
}

/// The refusal is told each time, the waits grow, and when the broker has been mended the consumer begins.
#[test]
fn c23_who_is_refused_does_not_join() {
    for code in [1, 23] {
        let mut rig = rig(move |_| Err(refusal(code)));
        rig.advance(20 * SECOND);
        let asked = said(&rig, 0);
        assert!(asked.iter().all(|(what, ..)| *what == "check"), "{asked:?}");
        let waits: Vec<u64> = asked.windows(2).map(|pair| pair[1].1 - pair[0].1).collect();
        assert_eq!(waits, [501, 1001, 2001, 4001, 8001]);
        assert_eq!(refusals(&rig), 6);

        answered(&mut rig, |_| Ok(()));
        rig.advance(20 * SECOND);
        assert_eq!(rig.fetching("T"), [0, 0]);
    }
}

/// Brokers from before the question cannot answer it; what they make of the expression, pulls will tell.
#[test]
fn c23_a_broker_that_does_not_know_the_question_is_no_obstacle() {
    let mut rig = rig(|_| Err(refusal(ResponseCode::REQUEST_CODE_NOT_SUPPORTED.0)));
    rig.advance(SECOND);
    assert_eq!((rig.fetching("T"), refusals(&rig)), (vec![0, 0], 0));
}

#[test]
fn c23_another_broker_is_asked_where_one_is_gone() {
    let mut rig = rig(|to| if to.as_str().starts_with('a') { Err(lost()) } else { Ok(()) });
    rig.advance(SECOND);
    let asked = said(&rig, 0);
    assert_eq!(asked[..2].iter().map(|(_, _, to)| &to[..1]).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(rig.fetching("T"), [0, 0]);
}

/// A member that takes up another topic stays a member, whatever becomes of that topic.
#[test]
fn c23_who_is_a_member_stays_one() {
    let mut rig = Rig::new(Cluster::one("T", 1), config(&["T"]));
    answered(&mut rig, |_| Err(refusal(23)));
    rig.advance(SECOND);
    assert_eq!(refusals(&rig), 0, "tags are not asked about");
    let calls = rig.calls.len();
    rig.input(Input::Subscribe { subscription: sql("T") });
    rig.advance(200 * MS);
    let said: Vec<&str> = said(&rig, calls).iter().map(|(what, ..)| *what).collect();
    assert_eq!((said, refusals(&rig)), (vec!["check", "heartbeat"], 1));

    // What is not subscribed any more is not asked about.
    rig.input(Input::Unsubscribe { topic: "T".into() });
    let calls = rig.calls.len();
    rig.advance(40 * SECOND);
    assert!(self::said(&rig, calls).iter().all(|(what, ..)| *what == "heartbeat"));
}
