//! Findings: groups made sick on purpose, one way at a time.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::planning::{many_topics, one_topic};
use evenkeel_core::allocate::{
    Allocate, Average, ConsistentHash, GoRing, Nearby, RoomPrefix, SortedMembers, SortedQueues,
};
use evenkeel_core::model::{ClientId, Group, MessageQueue, Topic};
use evenkeel_core::plan::{
    Change, Code, EXPLANATIONS, Finding, Layout, Level, Limits, MemberSeen, Plan, Snapshot, Trials, Verdict,
    explain, preview, verify,
};

const AVERAGELY: &str = "org.apache.rocketmq.client.consumer.rebalance.AllocateMessageQueueAveragely";

/// A group whose members all answer: each owns what AVG gives it of one topic of 16 queues.
fn healthy(count: usize) -> Snapshot {
    let layout = one_topic(16, count);
    let plan = Plan::new(&Average, &layout).expect("AVG takes any names");
    let member = |(place, id): (usize, &ClientId)| {
        let topic = &plan.topics()[0];
        MemberSeen {
            language: Some("JAVA".into()),
            version: Some("5.3.1".into()),
            strategy: Some(AVERAGELY.into()),
            subscriptions: Some(subscribed(&[("T", "*")])),
            owned: Some(topic.owners.share(place).into_iter().map(|at| topic.queues[at].clone()).collect()),
            ..MemberSeen::new(id.as_str())
        }
    };
    Snapshot {
        group: layout.group.clone(),
        members: layout.members.iter().enumerate().map(member).collect(),
        topics: layout.topics,
        strategy: None,
    }
}

fn subscribed(topics: &[(&str, &str)]) -> BTreeMap<Topic, String> {
    topics.iter().map(|&(topic, expression)| (Topic::from(topic), expression.to_owned())).collect()
}

fn codes(verdict: &Verdict) -> Vec<Code> {
    verdict.findings.iter().map(|finding| finding.code).collect()
}

fn sole(snapshot: &Snapshot) -> Finding {
    let verdict = verify(snapshot).expect("it is not too large");
    assert_eq!(verdict.findings.len(), 1, "{:?}", verdict.findings);
    verdict.findings[0].clone()
}

#[test]
fn a_healthy_group_has_no_findings() {
    let verdict = verify(&healthy(3)).unwrap();
    assert_eq!(codes(&verdict), []);
    assert!(verdict.is_healthy());
    assert_eq!(verdict.expected, verdict.actual);
    assert_eq!(verdict.differs.unwrap().moves, []);
}

#[test]
fn r101_a_duplicate_id_is_named_with_its_processes() {
    let mut snapshot = healthy(3);
    let double = MemberSeen { address: Some("10.31.79.17:48864".into()), ..MemberSeen::new("c01") };
    snapshot.members[0].address = Some("10.31.79.112:59606".into());
    snapshot.members[1] = double;
    snapshot.members.iter_mut().for_each(|member| member.owned = None);
    let finding = sole(&snapshot);
    assert_eq!((finding.code, finding.level), (Code::R101, Level::Error));
    assert_eq!(finding.text.en, "c01 is used by 2 processes (10.31.79.112:59606, 10.31.79.17:48864)");
    assert_eq!(finding.effect.unwrap().en, "6 queues have several owners, 5 have none");
    assert!(finding.fix.en.contains("--client-id"));
    assert_eq!((finding.members.len(), finding.queues.len()), (1, 11));
}

#[test]
fn r102_and_r103_come_from_what_members_say() {
    let mut snapshot = healthy(3);
    let stolen = snapshot.members[0].owned.as_mut().unwrap().pop().unwrap();
    snapshot.members[1].owned.as_mut().unwrap().push(MessageQueue::new("T", "broker-a", 0));
    let verdict = verify(&snapshot).unwrap();
    assert_eq!(codes(&verdict), [Code::R102, Code::R103]);
    assert_eq!(verdict.findings[0].members, ["c01", "c02"].map(ClientId::from));
    assert_eq!(verdict.findings[1].queues, [stolen]);
    assert_eq!(verdict.differs.unwrap().moves.len(), 2);
}

#[test]
fn r104_one_member_on_another_strategy() {
    let mut snapshot = healthy(3);
    snapshot.members[2].strategy = Some("AllocateMessageQueueAveragelyByCircle".into());
    let finding = sole(&snapshot);
    assert_eq!(finding.code, Code::R104);
    assert_eq!(finding.text.en, "AVG on 2 members, AVG_BY_CIRCLE on 1 member (c03)");
    assert!(finding.effect.unwrap().en.contains("several owners"));
    assert_eq!(finding.members, [ClientId::from("c03")]);

    snapshot.members[2].strategy = Some("com.example.Ours".into());
    let finding = sole(&snapshot);
    assert_eq!(finding.text.en, "AVG on 2 members, Ours on 1 member (c03)");
    assert!(finding.effect.unwrap().en.starts_with("cannot be reckoned"));
}

#[test]
fn r105_a_go_member_on_its_own_ring() {
    let mut snapshot = healthy(3);
    for member in &mut snapshot.members {
        member.strategy = Some("CONSISTENT_HASH".into());
        member.owned = None;
    }
    assert_eq!(codes(&verify(&snapshot).unwrap()), []);
    snapshot.members[1].language = Some("GO".into());
    let finding = sole(&snapshot);
    assert_eq!(finding.code, Code::R105);
    assert!(
        finding.text.en.starts_with("1 member (c02) use") || finding.text.en.contains("c02"),
        "{}",
        finding.text.en
    );
    assert!(!finding.queues.is_empty());
}

/// The Go client's own answers, from its ring library with ten points for each member.
#[test]
fn the_ring_of_go_is_the_go_clients() {
    let queues: SortedQueues = ["broker-a", "broker-b"]
        .iter()
        .flat_map(|&broker| (0..8).map(move |id| MessageQueue::new("orders", broker, id)))
        .collect();
    for (ids, go, agree) in [
        (["c1", "c2", "c3"], [2, 2, 2, 2, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 1, 2], 2),
        (
            ["10.0.3.11@7#812", "10.0.3.12@7#944", "10.0.3.13@7#377"],
            [2, 2, 1, 2, 0, 0, 2, 2, 1, 2, 2, 1, 2, 1, 1, 2],
            1,
        ),
    ] {
        let members = SortedMembers::new(ids.map(ClientId::from));
        let places = |strategy: &dyn Allocate| -> Vec<usize> {
            let owners = strategy.owners(&Group::from("g"), &queues, &members).unwrap();
            (0..queues.len()).filter_map(|queue| owners.sole(queue)).collect()
        };
        let (java, ours) = (places(&ConsistentHash::default()), places(&GoRing::default()));
        assert_eq!(ours, go);
        assert_eq!(java.iter().zip(&ours).filter(|(java, go)| java == go).count(), agree);
    }
}

#[test]
fn r106_names_the_member_and_the_difference() {
    let mut snapshot = healthy(3);
    snapshot.topics = many_topics(2, 8, 0).topics;
    for member in &mut snapshot.members {
        member.subscriptions = Some(subscribed(&[("T00", "*"), ("T01", "a || b")]));
        member.owned = None;
    }
    snapshot.members[1].subscriptions = Some(subscribed(&[("T01", "a"), ("X", "*")]));
    let finding = sole(&snapshot);
    assert_eq!(finding.code, Code::R106);
    assert_eq!(finding.text.en, "c02 lacks T00 and has T01 as \"a\" instead of \"a || b\" and has X besides");
    assert_eq!(finding.effect.unwrap().en, "3 queues have no owner");
}

#[test]
fn r107_and_r108_tell_totals_over_all_topics() {
    let group = |topics, queues, members| {
        let layout = many_topics(topics, queues, members);
        Snapshot {
            group: layout.group.clone(),
            members: layout.members.iter().map(|id| MemberSeen::new(id.as_str())).collect(),
            topics: layout.topics,
            strategy: None,
        }
    };
    let idle = sole(&group(20, 4, 6));
    assert_eq!((idle.code, idle.level), (Code::R108, Level::Warning));
    assert_eq!(idle.text.en, "2 of 6 members have no queue: AVG shares 80 queues of 20 topics");
    assert_eq!(idle.effect.unwrap().en, "queues of the members in total: 20 20 20 20 0 0");
    assert!(idle.fix.en.starts_with("run 1, 2, 4 members"), "{}", idle.fix.en);
    assert_eq!(idle.members, ["c05", "c06"].map(ClientId::from));

    let uneven = sole(&group(20, 5, 2));
    assert_eq!((uneven.code, uneven.level), (Code::R107, Level::Info));
    assert_eq!(uneven.text.en, "AVG gives 40 to 60 queues of 20 topics to a member");
    assert!(uneven.fix.en.starts_with("run 1, 5 members"), "{}", uneven.fix.en);

    assert_eq!(sole(&group(1, 4, 6)).text.en, "2 of 6 members have no queue: there are only 4 queues");
    let mut with_retry = group(1, 4, 4);
    with_retry.topics.extend(Layout::new("g", []).with_queues("%RETRY%g", "broker-a", 1).topics);
    assert_eq!(codes(&verify(&with_retry).unwrap()), []);
}

#[test]
fn r109_lists_that_overlap_or_have_a_gap() {
    let mut snapshot = healthy(2);
    let queue = |id| MessageQueue::new("T", "broker-a", id);
    for member in &mut snapshot.members {
        (member.strategy, member.owned) = (Some("AllocateMessageQueueByConfig".into()), None);
    }
    snapshot.members[0].listed = Some((0..8).map(queue).collect());
    snapshot.members[1].listed = Some((8..16).map(queue).collect());
    assert_eq!(codes(&verify(&snapshot).unwrap()), []);
    snapshot.members[1].listed = Some((7..15).map(queue).collect());
    let finding = sole(&snapshot);
    assert_eq!(finding.code, Code::R109);
    assert_eq!(finding.effect.unwrap().en, "1 queue has several owners, 1 has none");
    assert_eq!(finding.queues, [queue(7), queue(15)]);
}

#[test]
fn r110_a_silent_member_is_reckoned_with() {
    let mut snapshot = healthy(3);
    (snapshot.members[2].owned, snapshot.members[2].strategy) = (None, None);
    let finding = sole(&snapshot);
    assert_eq!((finding.code, finding.level), (Code::R110, Level::Warning));
    assert_eq!(finding.text.en, "c03 did not answer (JAVA 5.3.1)");
    assert_eq!(finding.effect.unwrap().en, "by reckoning, queues that nobody reads if nobody is there: 5");
    assert!(verify(&snapshot).unwrap().is_healthy());
}

#[test]
fn a_member_that_is_dead_but_listed_shows_by_the_queues_of_the_others() {
    // Killed, and the broker has not noticed: it does not answer; the others still count it.
    let mut snapshot = healthy(4);
    snapshot.members[3].owned = None;
    let finding = sole(&snapshot);
    assert_eq!((finding.code, finding.members), (Code::R110, vec![ClientId::from("c04")]));
    assert_eq!(finding.effect.unwrap().en, "by reckoning, queues that nobody reads if nobody is there: 4");
}

#[test]
fn r204_a_room_that_nobody_knows() {
    let mut snapshot = healthy(3);
    snapshot.strategy = Some(Arc::new(Nearby::new(Average, RoomPrefix { separator: '@' })));
    snapshot.members.iter_mut().for_each(|member| member.strategy = None);
    let verdict = verify(&snapshot).unwrap();
    assert_eq!(codes(&verdict), [Code::R204]);
    assert!(verdict.findings[0].text.en.contains("broker-a"), "{}", verdict.findings[0].text.en);
}

#[test]
fn r201_to_r203_hold_a_change_against_limits() {
    let layout = one_topic(16, 3);
    let join = [Change::Join(vec![ClientId::from("c99")])];
    let nine = preview(&layout, Arc::new(Average), &join, Trials::default()).unwrap();
    let limits = Limits { max_moves: Some(8), max_skew: Some(0) };
    assert!(!limits.allow(&nine));
    let findings = limits.findings(&nine);
    assert_eq!(findings.len(), 1);
    assert_eq!((findings[0].code, findings[0].text.en.as_str()), (Code::R201, "AVG moves 9 queues, limit 8"));
    assert_eq!(findings[0].effect.as_ref().unwrap().en, "the fewest that lead to an even result are 4");
    assert!(Limits { max_moves: Some(9), max_skew: Some(0) }.allow(&nine));

    let crowd = [Change::JoinUnknown(20)];
    let crowd = preview(&layout, Arc::new(Average), &crowd, Trials::default()).unwrap();
    let codes: Vec<Code> = Limits { max_moves: None, max_skew: Some(0) }
        .findings(&crowd)
        .iter()
        .map(|found| found.code)
        .collect();
    assert_eq!(codes, [Code::R202, Code::R203]);
}

#[test]
fn every_code_is_explained_once() {
    let all: Vec<Code> = EXPLANATIONS.iter().map(|entry| entry.code).collect();
    assert!(all.is_sorted_by(|a, b| a < b));
    for entry in EXPLANATIONS {
        assert_eq!(explain(entry.code.as_str()), Some(entry));
        for text in [entry.meaning, entry.cause, entry.fix.en] {
            assert!(text.ends_with('.') && !text.contains("  "), "{}: {text}", entry.code);
        }
    }
    assert_eq!(explain("r110").unwrap().code, Code::R110);
}

#[test]
fn odd_snapshots_panic_nowhere() {
    let empty = Snapshot {
        group: "g".into(),
        topics: Layout::new("g", []).topics,
        members: Vec::new(),
        strategy: None,
    };
    assert_eq!(codes(&verify(&empty).unwrap()), []);
    let mut nameless = healthy(2);
    nameless.members.push(MemberSeen::new(""));
    nameless.members[0].owned =
        Some(vec![MessageQueue::new("T", "broker-a", i32::MIN), MessageQueue::new("X", "b", 0)]);
    nameless.members[1].strategy = Some(String::new());
    let _ = verify(&nameless).unwrap();
}
