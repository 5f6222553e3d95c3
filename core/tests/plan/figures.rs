//! Plans: the figures that are known beforehand.

use std::sync::Arc;

use crate::planning::{many_topics, members, one_topic};
use evenkeel_core::allocate::{Allocate, Average, Circle, ConsistentHash, Draft};
use evenkeel_core::model::{ClientId, MessageQueue};
use evenkeel_core::plan::{
    Change, Layout, NewIds, Party, Plan, PlanError, Preview, Trials, moved_by_place, preview,
};

fn previewed(layout: &Layout, strategy: impl Allocate + 'static, changes: &[Change]) -> Preview {
    preview(layout, Arc::new(strategy), changes, Trials::default()).expect("the changes fit")
}

fn id(name: &str) -> ClientId {
    ClientId::from(name)
}

#[test]
fn where_a_new_id_sorts_decides_what_moves() {
    let layout = one_topic(64, 8);
    assert_eq!(moved_by_place(&Average, &layout).unwrap(), Some(vec![36, 28, 22, 18, 16, 16, 18, 22, 28]));
    let circle = moved_by_place(&Circle, &layout).unwrap().unwrap();
    assert_eq!((circle.iter().min(), circle.iter().max()), (Some(&56), Some(&64)));
    assert_eq!(moved_by_place(&ConsistentHash::default(), &layout).unwrap(), None);

    let unknown = previewed(&layout, Average, &[Change::JoinUnknown(1)]);
    let moved = unknown.moved;
    assert_eq!((moved.min, moved.typical, moved.max, moved.exact), (16, 22, 36, true));
    assert_eq!((unknown.kept.min, unknown.kept.max), (28, 48));
    assert_eq!((unknown.floor, unknown.diff()), (7, None));
    let known = previewed(&layout, Average, &[Change::Join(vec![id("c00")])]);
    assert_eq!((known.moved.min, known.moved.max, known.moved.samples), (36, 36, 0));
}

#[test]
fn one_more_member_on_sixteen_queues() {
    let layout = one_topic(16, 3);
    let join = [Change::Join(vec![id("c99")])];
    let average = previewed(&layout, Average, &join);
    assert_eq!((average.moved.typical, average.kept.typical, average.floor), (9, 7, 4));
    assert_eq!(previewed(&layout, Circle, &join).moved.typical, 10);
    let unknown = |strategy: Arc<dyn Allocate>| {
        let moved = preview(&layout, strategy, &[Change::JoinUnknown(1)], Trials::default()).unwrap().moved;
        (moved.min, moved.max, moved.exact)
    };
    assert_eq!(unknown(Arc::new(Average)), (5, 9, true));
    assert_eq!(unknown(Arc::new(Circle)), (10, 13, true));
    let (least, most, exact) = unknown(Arc::new(ConsistentHash::default()));
    assert!(least <= 2 && (8..=11).contains(&most) && !exact, "{least} to {most}");
}

#[test]
fn one_more_pod_by_name() {
    let pods = ["10.0.3.11@7#812", "10.0.3.12@7#944", "10.0.3.13@7#377"].map(ClientId::from);
    let layout = Layout::new("pay-worker", pods)
        .with_queues("orders", "broker-a", 8)
        .with_queues("orders", "broker-b", 8);
    let join = [Change::Join(vec![id("10.0.3.14@7#120")])];
    let moved = |strategy: Arc<dyn Allocate>| {
        let preview = preview(&layout, strategy, &join, Trials::default()).unwrap();
        (preview.moved.typical, preview.floor)
    };
    assert_eq!(moved(Arc::new(Average)), (9, 4));
    assert_eq!(moved(Arc::new(Circle)), (10, 4));
    assert_eq!(moved(Arc::new(ConsistentHash::default())).0, 3);
    let (draft, floor) = moved(Arc::new(Draft::default()));
    assert!(draft >= floor && draft < 9, "{draft} of {floor}");

    let average = previewed(&layout, Average, &join).diff().unwrap();
    let first = &average.members[0];
    assert_eq!((first.before, first.after), (Some(6), Some(4)));
    let lost = average.moves.iter().filter(|moved| moved.from == [first.id.clone()]);
    let lost: Vec<String> = lost.map(|moved| format!("{} {}", moved.queue.broker, moved.queue.id)).collect();
    assert_eq!(lost, ["broker-a 4", "broker-a 5"]);
    let last = &average.members[3];
    assert_eq!((last.before, last.after), (None, Some(4)));
}

#[test]
fn eight_queues_and_a_third_member() {
    let layout = Layout::new("g", ["c1", "c2"].map(ClientId::from)).with_queues("TopicTest", "broker-a", 8);
    let moved = |strategy: Arc<dyn Allocate>| -> Vec<i32> {
        let preview = preview(&layout, strategy, &[Change::Join(vec![id("c3")])], Trials::default()).unwrap();
        preview.diff().unwrap().moves.iter().map(|step| step.queue.id).collect()
    };
    // From 0-3 | 4-7 to 0-2 | 3-5 | 6-7.
    assert_eq!(moved(Arc::new(Average)), [3, 6, 7]);
    assert_eq!(moved(Arc::new(ConsistentHash::default())), [2, 3]);
}

#[test]
fn a_rolling_restart_costs_more_than_the_topic() {
    let layout = one_topic(16, 4);
    let stable = |strategy: Arc<dyn Allocate>| {
        preview(&layout, strategy, &[Change::Roll(NewIds::Stable)], Trials::default()).unwrap()
    };
    let average = stable(Arc::new(Average));
    assert_eq!((average.handed_over.typical, average.moved.typical, average.steps.len()), (54, 0, 8));
    assert_eq!(average.steps.last().unwrap().total, 54);
    assert_eq!(stable(Arc::new(Circle)).handed_over.typical, 92);

    // New ids that sort last, as rising process numbers do.
    let new = NewIds::Given((5..9).map(|n| ClientId::from(format!("c{n:02}"))).collect());
    let replaced = |strategy: Arc<dyn Allocate>| {
        preview(&layout, strategy, &[Change::Roll(new.clone())], Trials::default())
            .unwrap()
            .handed_over
            .typical
    };
    assert_eq!(replaced(Arc::new(Average)), 64);
    assert_eq!(replaced(Arc::new(Circle)), 92);
    let draft = replaced(Arc::new(Draft::default()));
    assert!(draft < 54, "{draft}");
    let unknown = previewed(&layout, Average, &[Change::Roll(NewIds::Unknown)]);
    assert!(!unknown.handed_over.exact && unknown.handed_over.samples >= 8);
    assert!(unknown.handed_over.min < 64 && unknown.handed_over.max >= 54, "{:?}", unknown.handed_over);
}

#[test]
fn many_topics_leave_the_last_members_idle() {
    for strategy in [&Average as &dyn Allocate, &Circle] {
        let six = Plan::new(strategy, &many_topics(20, 4, 6)).unwrap();
        let figures = six.figures();
        assert_eq!(figures.loads, [20, 20, 20, 20, 0, 0]);
        assert_eq!((figures.min, figures.max, figures.skew), (0, 20, 20));
        assert_eq!(figures.idle, members(6)[4..]);
        assert_eq!(six.figures_of(&six.topics()[0]).loads, [1, 1, 1, 1, 0, 0]);
        let two = Plan::new(strategy, &many_topics(20, 5, 2)).unwrap();
        assert_eq!(two.figures().loads, [60, 40]);
    }
    let draft = Plan::new(&Draft::default(), &many_topics(60, 4, 8)).unwrap().figures();
    assert!(draft.min >= 20 && draft.max <= 40, "{:?}", draft.loads);
}

#[test]
fn two_processes_with_one_id_double_and_orphan() {
    let layout = Layout::new("g", ["x", "x", "y"].map(ClientId::from)).with_queues("T", "b", 16);
    let plan = Plan::new(&Average, &layout).unwrap();
    let figures = plan.figures();
    assert_eq!((figures.doubled.len(), figures.orphaned.len()), (6, 5));
    assert_eq!(plan.owners_of(&MessageQueue::new("T", "b", 0)), [&id("x"), &id("x")]);
    assert_eq!(plan.owners_of(&MessageQueue::new("T", "b", 6)), Vec::<&ClientId>::new());
}

#[test]
fn c15_the_planner_names_what_nobody_owns() {
    let layout = |queues| Layout::new("g", ["x", "x", "y"].map(ClientId::from)).with_queues("T", "b", queues);
    let orphaned = |strategy: &dyn Allocate, queues| -> Vec<i32> {
        let figures = Plan::new(strategy, &layout(queues)).unwrap().figures();
        figures.orphaned.iter().map(|queue| queue.id).collect()
    };
    assert_eq!(orphaned(&Average, 12), [4, 5, 6, 7]);
    assert_eq!(orphaned(&Circle, 8), [1, 4, 7]);
}

#[test]
fn one_member_with_another_strategy_doubles_and_orphans() {
    let layout = one_topic(16, 3);
    let (average, circle): (Arc<dyn Allocate>, Arc<dyn Allocate>) = (Arc::new(Average), Arc::new(Circle));
    for odd_one in 0..3 {
        let party = |(place, id): (usize, ClientId)| {
            let strategy = Arc::clone(if place == odd_one { &circle } else { &average });
            Party { id, strategy, topics: None }
        };
        let parties = members(3).into_iter().enumerate().map(party).collect();
        let figures = Plan::of_parties(&layout, parties).unwrap().figures();
        assert!((3..=4).contains(&figures.doubled.len()), "{}", figures.doubled.len());
        assert!((3..=4).contains(&figures.orphaned.len()), "{}", figures.orphaned.len());
    }
}

#[test]
fn a_topic_that_not_all_subscribe_to_has_orphans() {
    let layout = many_topics(2, 8, 2);
    let strategy: Arc<dyn Allocate> = Arc::new(Average);
    let party = |id: ClientId, topics: &[&str]| Party {
        id,
        strategy: Arc::clone(&strategy),
        topics: Some(topics.iter().map(|&topic| topic.into()).collect()),
    };
    let parties = vec![party(id("c01"), &["T00", "T01"]), party(id("c02"), &["T00"])];
    let figures = Plan::of_parties(&layout, parties).unwrap().figures();
    assert_eq!(figures.loads, [8, 4]);
    assert_eq!(figures.orphaned.len(), 4);
    assert!(figures.orphaned.iter().all(|queue| queue.topic.as_str() == "T01"));
}

#[test]
fn changes_in_a_row_are_told_step_by_step() {
    let layout = one_topic(16, 4).with_queues("T", "broker-b", 16);
    let changes = [
        Change::Join(vec![id("c05"), id("c06")]),
        Change::BrokerLost("broker-b".into()),
        Change::Queues { topic: "T".into(), broker: "broker-a".into(), read: 20 },
        Change::Strategy(Arc::new(Circle)),
        Change::Leave(vec![id("c01")]),
    ];
    let preview = previewed(&layout, Average, &changes);
    let steps: Vec<&str> = preview.steps.iter().map(|step| step.label.as_str()).collect();
    assert_eq!(
        steps,
        [
            "2 members join",
            "broker-b is lost",
            "T has 20 queues on broker-a",
            "all members change to AVG_BY_CIRCLE",
            "c01 leaves"
        ]
    );
    assert_eq!((preview.added, preview.removed), (4, 16));
    let diff = preview.diff().unwrap();
    assert_eq!(diff.moves.len() + diff.kept, 16);
    assert_eq!(preview.handed_over.typical, preview.steps.iter().map(|step| step.moved).sum::<usize>());
    let gone = &diff.members[0];
    assert_eq!((gone.id.as_str(), gone.before, gone.after), ("c01", Some(8), None));
    let came = &diff.members[5];
    assert_eq!((came.id.as_str(), came.before, came.after), ("c06", None, Some(4)));
}

#[test]
fn a_lost_permission_takes_the_queues_of_its_topic_only() {
    let layout = many_topics(2, 8, 2).with_queues("T00", "broker-b", 8);
    let lost = |topic: Option<&str>| {
        let change = Change::PermissionLost { topic: topic.map(Into::into), broker: "broker-a".into() };
        previewed(&layout, Average, &[change]).removed
    };
    assert_eq!((lost(Some("T00")), lost(None)), (8, 16));
}

#[test]
fn what_does_not_fit_is_an_error() {
    let layout = one_topic(4, 2);
    let error = |change: Change| {
        preview(&layout, Arc::new(Average), &[change], Trials::default()).unwrap_err().kind()
    };
    assert_eq!(error(Change::Leave(vec![id("c09")])), "no-such-member");
    assert_eq!(error(Change::Leave(vec![id("c00")])), "no-such-member");
    assert_eq!(error(Change::Join(vec![id("c01")])), "already-member");
    assert_eq!(error(Change::Join(vec![id("c05"), id("c05")])), "already-member");
    assert_eq!(error(Change::LeaveUnknown(3)), "too-few-members");
    assert_eq!(error(Change::JoinUnknown(usize::MAX)), "too-many-members");
    assert_eq!(error(Change::Roll(NewIds::Given(Vec::new()))), "wrong-number-of-ids");
    assert_eq!(error(Change::BrokerLost("broker-z".into())), "no-such-broker");
    let lost = Change::PermissionLost { topic: Some("X".into()), broker: "broker-a".into() };
    assert_eq!(error(lost), "no-such-topic");
    let many = Change::Queues { topic: "T".into(), broker: "b".into(), read: u32::MAX };
    assert_eq!(error(many), "too-many-queues");
    assert!(matches!(
        Plan::new(&Average, &one_topic(u32::MAX, 2)),
        Err(PlanError::TooManyQueues { count: 4_294_967_295 })
    ));
}

#[test]
fn everybody_may_leave_and_come_back() {
    let preview = previewed(&one_topic(4, 1), Average, &[Change::Roll(NewIds::Stable)]);
    assert_eq!((preview.handed_over.typical, preview.moved.typical), (8, 0));
    let gone = previewed(&one_topic(4, 2), Average, &[Change::LeaveUnknown(2)]);
    assert_eq!((gone.moved.min, gone.after.orphaned.len(), gone.floor), (4, 4, 4));
}
