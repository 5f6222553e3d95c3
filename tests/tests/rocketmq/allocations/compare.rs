//! What Java answered to a case, against what core does.

use std::collections::{BTreeMap, BTreeSet};

use evenkeel_core::allocate::{Input, Owners, SortedMembers, SortedQueues};
use evenkeel_core::model::{ClientId, Group, MessageQueue};
use serde_json::Value;

use super::cases::{Case, Rooms, Rule};

/// What a run has met.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) cases: u64,
    /// Members that were asked.
    asked: u64,
    by_strategy: BTreeMap<&'static str, u64>,
    /// Answers that were errors, by core's word for them.
    errors: BTreeMap<String, u64>,
    with_repeated_ids: u64,
    /// Cases in which bytes sort otherwise than Java does.
    java_order_counts: u64,
    most_queues: usize,
    most_members: usize,
    /// Queues that nobody got, and that several got.
    orphaned: usize,
    doubled: usize,
}

impl Tally {
    pub(crate) fn assert_varied(&self) {
        assert_eq!(self.by_strategy.len(), 6, "{self:#?}");
        assert!(self.by_strategy.values().all(|&count| count > 1_000), "{self:#?}");
        for kind in ["no-client-id", "no-queues", "no-members", "no-room", "bad-parameter", "rooms-not-set"] {
            assert!(self.errors.get(kind).is_some_and(|&count| count > 10), "hardly any {kind}: {self:#?}");
        }
        assert!(self.with_repeated_ids > 500 && self.java_order_counts > 500, "{self:#?}");
        assert!((self.most_queues, self.most_members) == (2_000, 200), "{self:#?}");
        assert!(self.orphaned > 0 && self.doubled > 0, "{self:#?}");
    }
}

/// Where the two part, in words; nothing if they agree.
pub(crate) fn differences(case: &Case, java: &Value, tally: &mut Tally) -> Vec<String> {
    let queues = SortedQueues::new(case.queues.iter().cloned());
    let members = SortedMembers::new(case.members.iter().cloned());
    tally.note(case, &queues, &members);
    let group = Group::from("group");
    let strategy = match (case.rule.ours(), java_error(java)) {
        (Ok(strategy), None) => strategy,
        (Err(ours), Some(theirs)) if ours.kind() == theirs => {
            *tally.errors.entry(theirs).or_default() += 1;
            return Vec::new();
        }
        (ours, theirs) => return vec![format!("core makes {ours:?} and Java {theirs:?}")],
    };

    let mut found = Vec::new();
    if java["name"] != *strategy.name() {
        found.push(format!("core is called {:?} and Java {}", strategy.name(), java["name"]));
    }
    let shares = java["shares"].as_array().map_or(&[][..], Vec::as_slice);
    if shares.len() != case.ask.len() {
        found.push(format!("{} were asked and {} answered", case.ask.len(), shares.len()));
    }
    let mut all = Ok(Owners::nobody(queues.len()));
    for (me, share) in case.ask.iter().zip(shares) {
        tally.asked += 1;
        let theirs = match java_error(share) {
            Some(kind) => {
                *tally.errors.entry(kind.clone()).or_default() += 1;
                Err(kind)
            }
            None => Ok(in_our_terms(case, me, named(case, share))),
        };
        let ours =
            strategy.allocate(&Input { group: &group, me, queues: &queues, members: &members, nth: 0 });
        let ours = ours.map_err(|error| error.kind().to_owned());
        if ours != theirs {
            found.push(cut(format!("{me:?} is given {theirs:?} by Java and {ours:?} by core")));
        }
        add(&mut all, me, &theirs, &queues, &members);
    }

    let at_once = strategy.owners(&group, &queues, &members).map_err(|error| error.kind().to_owned());
    if let Ok(owners) = &at_once {
        tally.orphaned += owners.orphaned().count();
        tally.doubled += owners.doubled().count();
    }
    if at_once != all {
        found.push(cut(format!("all together Java gives {all:?} and core {at_once:?}")));
    }
    found
}

impl Tally {
    fn note(&mut self, case: &Case, queues: &SortedQueues, members: &SortedMembers) {
        self.cases += 1;
        *self.by_strategy.entry(case.rule.name()).or_default() += 1;
        self.with_repeated_ids += u64::from(members.repeated().next().is_some());
        let in_bytes = queues.is_sorted_by_key(|queue| (queue.broker.as_str(), queue.id))
            && members.is_sorted_by_key(|id| id.as_str());
        self.java_order_counts += u64::from(!in_bytes);
        self.most_queues = self.most_queues.max(queues.len());
        self.most_members = self.most_members.max(members.len());
    }
}

/// Which of core's errors one of Java's is.
fn java_error(answer: &Value) -> Option<String> {
    let error = answer.get("error")?;
    let message = error["message"].as_str().unwrap_or_default();
    Some(match error["class"].as_str() {
        Some("NullPointerException") => "rooms-not-set".to_owned(),
        Some("IllegalArgumentException") => match message {
            "currentCID is empty" => "no-client-id".to_owned(),
            "mqAll is null or mqAll empty" => "no-queues".to_owned(),
            "cidAll is null or cidAll empty" => "no-members".to_owned(),
            text if text.starts_with("Machine room is null for ") => "no-room".to_owned(),
            text if text.starts_with("illegal virtualNodeCnt") => "bad-parameter".to_owned(),
            other => format!("without a counterpart: {other}"),
        },
        other => format!("without a counterpart: {other:?} {message}"),
    })
}

/// The queues that Java's numbers stand for; a list that was never set is an empty one.
fn named(case: &Case, share: &Value) -> Vec<MessageQueue> {
    let listed = case.rule.listed();
    let queue = |number: &Value| {
        let number = number.as_i64().expect("a number of a queue");
        let list = if number < 0 { listed } else { &case.queues };
        list[if number < 0 { -1 - number } else { number } as usize].clone()
    };
    share.as_array().into_iter().flatten().map(queue).collect()
}

/// Java's CONFIG answers with its list as it stands, for every topic, and inside Nearby once for each room. Core gives
/// of that what the topic has, and each room has, once: number 9 of the differences in the manual.
fn in_our_terms(case: &Case, me: &ClientId, share: Vec<MessageQueue>) -> Vec<MessageQueue> {
    let there: BTreeSet<&MessageQueue> = case.queues.iter().collect();
    let mut taken = BTreeSet::new();
    match &case.rule {
        Rule::Config(_) => {
            share.into_iter().filter(|queue| there.contains(queue) && taken.insert(queue.clone())).collect()
        }
        Rule::Nearby { inner, rooms } if matches!(**inner, Rule::Config(_)) => {
            let rooms = rooms_in_turn(case, me, rooms);
            let lists = share.chunks(case.rule.listed().len().max(1));
            let of_room = |(list, room): (&[MessageQueue], BTreeSet<&MessageQueue>)| {
                let there =
                    list.iter().filter(|queue| room.contains(queue) && taken.insert((*queue).clone()));
                there.cloned().collect::<Vec<_>>()
            };
            lists.zip(rooms).flat_map(of_room).collect()
        }
        _ => share,
    }
}

/// The queues of a member's own room, and of each room without members, by room.
fn rooms_in_turn<'a>(case: &'a Case, me: &ClientId, rooms: &Rooms) -> Vec<BTreeSet<&'a MessageQueue>> {
    let rooms = rooms.resolver();
    let (own, mut by_room) = (rooms.member(me), BTreeMap::<_, BTreeSet<_>>::new());
    for queue in &case.queues {
        by_room.entry(rooms.queue(queue)).or_default().insert(queue);
    }
    let inhabited: BTreeSet<_> = case.members.iter().map(|id| rooms.member(id)).collect();
    let mut in_turn: Vec<_> = by_room.remove(&own).into_iter().collect();
    in_turn
        .extend(by_room.into_iter().filter(|(room, _)| !inhabited.contains(room)).map(|(_, queues)| queues));
    in_turn
}

/// Adds a member's share to those of all: the first error of a member stands for all, and who has no client id or is no
/// member owns nothing.
fn add(
    all: &mut Result<Owners, String>,
    me: &ClientId,
    share: &Result<Vec<MessageQueue>, String>,
    queues: &SortedQueues,
    members: &SortedMembers,
) {
    let places: Vec<usize> = (0..members.len()).filter(|&place| members[place] == *me).collect();
    if me.as_str().is_empty() || places.is_empty() {
        return;
    }
    let Ok(owners) = all else { return };
    match share {
        Err(kind) => *all = Err(kind.clone()),
        Ok(share) => {
            for queue in share {
                let at = queues.position(queue).expect("a queue of the topic");
                places.iter().for_each(|&place| owners.give(at, place).expect("a queue that is there"));
            }
        }
    }
}

fn cut(mut text: String) -> String {
    if let Some((at, _)) = text.char_indices().nth(2_000) {
        text.truncate(at);
    }
    text
}
