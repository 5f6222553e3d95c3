//! Members that other strategies serve, under a strategy that nobody but us knows.

use std::sync::Arc;

use crate::support;

use evenkeel_core::allocate::{Allocate, Draft, Nearby, RoomPrefix};
use evenkeel_core::config::{ConsumerConfig, ForeignMembers};
use evenkeel_core::consumer::{Common, Event, Input};
use evenkeel_core::wire::bodies::{Connection, ConsumerConnection};
use evenkeel_core::wire::code::{LanguageCode, ResponseCode};
use evenkeel_core::wire::peer::{Answer, PeerRequest, RunningInfo};
use support::{ClientId, Cluster, GROUP, ME, Reply, Request, Rig, SECOND, Verdict, config, queue, refused};

/// A member of the group besides us.
#[derive(Clone, Copy)]
enum Other {
    /// In this language.
    In(LanguageCode),
    /// In ours, and this is what it says of its strategy.
    Runs(&'static str),
    /// In ours, and this is what it says of its hand-over.
    HandsOver(bool),
    /// In ours, and it says nothing of a strategy.
    Vague,
    /// In ours, and it does not answer.
    Silent,
}

fn drafting() -> ConsumerConfig {
    ConsumerConfig { strategy: Arc::new(Draft::default()), ..config(&["T"]) }
}

/// A consumer whose group has these members, after it has had time to start.
fn started(others: &[(&'static str, Other)], config: ConsumerConfig) -> Rig {
    let mut net = Cluster::one("T", 8);
    for id in 0..8 {
        net.committed.insert(queue("T", id), 0);
    }
    let mut rig = Rig::new(net, config);
    group_of(&mut rig, others);
    rig.advance(10 * SECOND);
    rig
}

fn group_of(rig: &mut Rig, others: &[(&'static str, Other)]) {
    let ids: Vec<&str> = others.iter().map(|(id, _)| *id).chain([ME]).collect();
    rig.net.members(&ids);
    let others = others.to_vec();
    rig.rule(move |_, request| match request {
        Request::Pull(_) => Verdict::Park,
        Request::Connections { .. } => Verdict::Reply(Ok(connected(&others))),
        Request::RunningInfo { client, .. } => {
            let (_, other) = others.iter().find(|(id, _)| *id == client.as_str()).expect("a member is asked");
            let told = |name: &str, told: Option<String>| {
                let setting = told.map(|told| (name.to_owned(), told));
                Verdict::Reply(Ok(Reply::RunningInfo(RunningInfo {
                    properties: setting.into_iter().collect(),
                    ..RunningInfo::default()
                })))
            };
            match other {
                Other::Runs(strategy) => told("allocateMessageQueueStrategy", Some((*strategy).to_owned())),
                Other::HandsOver(on) => told("exclusive_handover", Some(on.to_string())),
                Other::Vague => told("allocateMessageQueueStrategy", None),
                Other::Silent => Verdict::Park,
                Other::In(language) => panic!("a member in {language} was asked"),
            }
        }
        _ => Verdict::Usual,
    });
}

fn connected(others: &[(&'static str, Other)]) -> Reply {
    let connection = |id: &str, language| Connection {
        client: ClientId::from(id),
        address: "10.0.0.1:50000".into(),
        language: Some(language),
        version: 475,
    };
    let language = |other: &Other| match other {
        Other::In(language) => *language,
        _ => LanguageCode::RUST,
    };
    let others = others.iter().map(|(id, other)| connection(id, language(other)));
    let connections = others.chain([connection(ME, LanguageCode::RUST)]).collect();
    Reply::Connections(Some(ConsumerConnection { connections, ..ConsumerConnection::default() }))
}

/// Who was told of as foreign, and whether the start was refused for it.
fn told(rig: &Rig) -> Vec<(Vec<(String, String)>, bool)> {
    let told = rig.events.iter().filter_map(|(_, event)| match event {
        Event::ForeignMembers { members, refused, .. } => {
            Some((members.iter().map(|(id, what)| (id.to_string(), what.clone())).collect(), *refused))
        }
        _ => None,
    });
    told.collect()
}

fn one(id: &str, what: &str, refused: bool) -> Vec<(Vec<(String, String)>, bool)> {
    vec![(vec![(id.to_owned(), what.to_owned())], refused)]
}

fn calls(rig: &Rig, is_it: impl Fn(&Request) -> bool) -> usize {
    rig.sent(0, |flight| is_it(&flight.request).then_some(())).len()
}

fn looks(rig: &Rig) -> usize {
    calls(rig, |request| matches!(request, Request::Connections { .. }))
}

fn queues_held(rig: &Rig) -> usize {
    rig.consumer.snapshot().queues.len()
}

#[track_caller]
fn assert_refused(rig: &Rig) {
    assert_eq!(rig.saw(|event| matches!(event, Event::QueueStarted { .. })), 0, "no queue was taken");
    assert_eq!(calls(rig, |request| matches!(request, Request::Unregister { .. })), 1, "it left the group");
    assert!(rig.consumer.is_stopped());
}

#[test]
fn a_start_among_java_members_is_refused_before_it_takes_a_queue() {
    let rig = started(&[("j", Other::In(LanguageCode::JAVA))], drafting());
    assert_eq!(told(&rig), one("j", "a JAVA client", true));
    assert_refused(&rig);
}

#[test]
fn a_member_of_ours_on_another_strategy_is_as_foreign() {
    let rig = started(&[("r", Other::Runs("AVG")), ("s", Other::Runs("AVG_BY_DRAFT"))], drafting());
    assert_eq!(told(&rig), one("r", "runs AVG", true));
    assert_refused(&rig);
}

#[test]
fn another_client_in_our_language_is_foreign_too() {
    let rig = started(&[("m", Other::Vague)], drafting());
    assert_eq!(told(&rig), one("m", "does not say which strategy it runs", true));
    assert_refused(&rig);
}

#[test]
fn members_that_run_the_same_strategy_share() {
    let rig = started(&[("r", Other::Runs("AVG_BY_DRAFT"))], drafting());
    assert_eq!(told(&rig), []);
    assert_eq!(queues_held(&rig), 4);
    assert_eq!(looks(&rig), 1, "once looked at, a member is known");
}

#[test]
fn by_setting_it_is_a_warning() {
    let mut config = drafting();
    config.limits.foreign_members = ForeignMembers::Warn;
    let rig = started(&[("g", Other::In(LanguageCode::GO))], config);
    assert_eq!(told(&rig), one("g", "a GO client", false));
    assert_eq!(queues_held(&rig), 4);
}

#[test]
fn who_joins_later_is_told_once_and_stops_nothing() {
    let mut rig = started(&[], drafting());
    assert_eq!(queues_held(&rig), 8);
    group_of(&mut rig, &[("j", Other::In(LanguageCode::JAVA))]);
    rig.members_changed();
    rig.advance(60 * SECOND);
    assert_eq!(told(&rig), one("j", "a JAVA client", false));
    assert_eq!(queues_held(&rig), 4);
    assert_eq!(looks(&rig), 2);

    // It leaves, and comes back under its old id: news again.
    group_of(&mut rig, &[]);
    rig.members_changed();
    rig.advance(10 * SECOND);
    group_of(&mut rig, &[("j", Other::In(LanguageCode::JAVA))]);
    rig.members_changed();
    rig.advance(60 * SECOND);
    assert_eq!(told(&rig).len(), 2);
}

#[test]
fn a_list_that_cannot_be_read_does_not_keep_a_group_from_starting() {
    for refusal in [true, false] {
        let mut net = Cluster::one("T", 8);
        net.members(&["j", ME]);
        let mut rig = Rig::new(net, drafting());
        rig.rule(move |_, request| match request {
            Request::Pull(_) => Verdict::Park,
            Request::Connections { .. } if refusal => {
                Verdict::Reply(Err(refused(request, ResponseCode::NO_PERMISSION)))
            }
            Request::Connections { .. } => Verdict::Park,
            _ => Verdict::Usual,
        });
        rig.advance(120 * SECOND);
        assert_eq!(told(&rig), []);
        assert_eq!(queues_held(&rig), 4);
        let failed =
            |event: &Event| matches!(event, Event::CallFailed { what, .. } if what.contains("other clients"));
        assert_eq!(rig.saw(failed), looks(&rig), "each that failed is told");
        assert_eq!(looks(&rig) == 1, refusal, "who says no is not asked again: {}", looks(&rig));
    }
}

#[test]
fn a_member_that_does_not_answer_is_not_foreign_for_that() {
    let rig = started(&[("r", Other::Silent)], drafting());
    assert_eq!(told(&rig), []);
    assert_eq!(queues_held(&rig), 4);
    let failed = |event: &Event| matches!(event, Event::CallFailed { about, .. } if about == "r");
    assert_eq!(rig.saw(failed), 1);
}

#[test]
fn strategies_of_java_ask_nobody() {
    let rig = started(&[("j", Other::In(LanguageCode::JAVA))], config(&["T"]));
    assert_eq!((looks(&rig), told(&rig)), (0, Vec::new()));
    assert_eq!(queues_held(&rig), 4);
}

fn handing_over() -> ConsumerConfig {
    let mut config = config(&["T"]);
    config.limits.exclusive_handover = true;
    config
}

#[test]
fn who_hands_over_exclusively_starts_only_among_its_like() {
    let like = started(&[("r", Other::HandsOver(true))], handing_over());
    assert_eq!((told(&like), queues_held(&like)), (Vec::new(), 4));
    let java = started(&[("j", Other::In(LanguageCode::JAVA))], handing_over());
    assert_eq!(told(&java), one("j", "a JAVA client", true));
    assert_refused(&java);
    for other in [Other::HandsOver(false), Other::Vague] {
        let ours = started(&[("r", other)], handing_over());
        assert_eq!(told(&ours), one("r", "does not hand its queues over exclusively", true));
        assert_refused(&ours);
    }
    let common = |event: &Event| matches!(event, Event::ForeignMembers { common: Common::Handover, .. });
    assert_eq!(java.saw(common), 1);
}

#[test]
fn by_setting_a_member_that_does_not_hand_over_is_a_warning() {
    let mut config = handing_over();
    config.limits.foreign_members = ForeignMembers::Warn;
    let rig = started(&[("j", Other::In(LanguageCode::JAVA))], config);
    assert_eq!(told(&rig), one("j", "a JAVA client", false));
    assert_eq!(queues_held(&rig), 4);
}

/// Java's orderly members keep to the same locks.
#[test]
fn an_orderly_consumer_asks_nobody() {
    let rig =
        started(&[("j", Other::In(LanguageCode::JAVA))], ConsumerConfig { orderly: true, ..handing_over() });
    assert_eq!((looks(&rig), told(&rig), queues_held(&rig)), (0, Vec::new(), 4));
}

/// It is this setting that others ask for.
#[test]
fn a_member_says_whether_it_hands_over() {
    for (config, says) in [(handing_over(), "true"), (config(&["T"]), "false")] {
        let mut rig = started(&[], config);
        let request = PeerRequest::RunningInfo { reply: 1, group: GROUP.into(), client: ME.into() };
        rig.input(Input::Peer { from: "a:10911".into(), request });
        let Some((_, 1, Answer::RunningInfo(info))) = rig.answers.pop() else { panic!("{:?}", rig.answers) };
        assert_eq!(info.properties["exclusive_handover"], says);
    }
}

#[test]
fn what_has_ours_inside_is_ours_alone() {
    let rooms = RoomPrefix { separator: '@' };
    assert!(Nearby::new(Draft::default(), rooms).is_ours_alone());
    assert!(!Nearby::new(evenkeel_core::allocate::Average, rooms).is_ours_alone());
    assert!((Arc::new(Draft::default()) as Arc<dyn Allocate>).is_ours_alone());
}
