//! Hand-overs on real brokers: the members of a group are replaced one after the other under load, by Java's, by ours, and
//! by ours with exclusive hand-over; and one is killed. How many messages come twice?

use evenkeel::{Ack, Consumer, Context, DelayLevel, Message, MessageQueue, StartFrom};
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const COUNT: usize = 15_000;
const RATE: usize = 1_500;
const QUEUES: usize = 8;
const MEMBERS: usize = 4;
/// Handlers of each member that run at the same time.
const HANDLERS: u32 = 4;
/// Of so many messages one fails the first time.
const FAILS: u64 = 500;
const MINUTE: Duration = Duration::from_secs(60);
/// A broker keeps the lock of a killed member for 60 s.
const LOCK_IS_OVER: Duration = Duration::from_secs(100);

#[test]
fn members_are_replaced_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn members_are_replaced_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    let mut peer = Peer::start(version);
    // Its locks have to lapse: the other groups are replaced meanwhile.
    let killed = Killed::kill(&cluster, &mut peer);
    let mut java = Javas::new(&cluster, version);
    let of_java = replace(&cluster, &mut peer, "java", &mut java);
    java.peer.shutdown();
    let by_default = replace(&cluster, &mut peer, "default", &mut Ours::new(&cluster, "default", false));
    let exclusive = replace(&cluster, &mut peer, "exclusive", &mut Ours::new(&cluster, "exclusive", true));
    killed.check(&cluster, &mut peer);
    peer.shutdown();
    println!(
        "{version}: {COUNT} messages, {MEMBERS} members replaced one after the other; came twice: Java {of_java}, \
         ours by default {by_default}, with exclusive hand-over {exclusive}"
    );
    assert_eq!(exclusive, 0, "no message comes twice where queues are handed over exclusively");
}

/// Where a message was handed to a handler.
#[derive(Clone, Debug)]
struct Place {
    member: usize,
    /// The topic's or the retry topic's.
    queue: (String, i32),
    offset: i64,
}

fn named(queue: &MessageQueue) -> (String, i32) {
    (queue.topic.to_string(), queue.id)
}

/// What all members of a group did.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// By number of the message and of the tries before.
    begun: BTreeMap<(u64, i32), Vec<Place>>,
    done: BTreeSet<u64>,
}

impl Pages {
    /// Deliveries beyond the first of the same try.
    fn twice(&self) -> usize {
        self.begun.values().map(|places| places.len() - 1).sum()
    }
}

impl Book {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, number: u64, tries: i32, place: Place) {
        self.pages().begun.entry((number, tries)).or_default().push(place);
    }

    fn done(&self) -> usize {
        self.pages().done.len()
    }
}

/// The members of one group.
trait Fleet {
    fn start(&mut self);
    fn stop_oldest(&mut self);
    /// Queues of each member, as far as is known now.
    fn owned(&mut self) -> Vec<usize>;
    fn book(&self) -> &Book;

    /// Whether a member that stops commits all that is done. A Java member leaves out what is done at that moment.
    fn commits_at_a_stop(&self) -> bool {
        true
    }

    fn settle(&mut self, what: &str) {
        let end = Instant::now() + MINUTE;
        loop {
            let owned = self.owned();
            if owned == [QUEUES / MEMBERS; MEMBERS] {
                return;
            }
            assert!(Instant::now() < end, "{what}: {owned:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn wait(&mut self, what: &str, timeout: Duration, count: usize) {
        let end = Instant::now() + timeout;
        while self.book().done() < count {
            assert!(Instant::now() < end, "{what}: {} of {count} done", self.book().done());
            self.owned();
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Four members; each is stopped and another one takes its place. Gives how many messages came twice.
fn replace(cluster: &Cluster, peer: &mut Peer, group: &str, fleet: &mut dyn Fleet) -> usize {
    let begin = Instant::now();
    create(cluster, group);
    for _ in 0..MEMBERS {
        fleet.start();
    }
    fleet.settle(group);
    let producing = produce(cluster, peer, group, COUNT);
    for step in 1..=MEMBERS {
        fleet.wait(group, MINUTE, COUNT * step / (MEMBERS + 2));
        fleet.stop_oldest();
        fleet.start();
        fleet.settle(group);
    }
    fleet.wait(group, MINUTE, COUNT);
    peer.answer(producing, MINUTE).expect("everything was sent");
    if !fleet.commits_at_a_stop() {
        all_is_committed(cluster, group);
    }
    for _ in 0..MEMBERS {
        fleet.stop_oldest();
    }
    fleet.owned();
    all_is_committed(cluster, group);
    let twice = fleet.book().pages().twice();
    println!("{} {group}: {COUNT} messages, {twice} came twice, {:?}", cluster.version(), begin.elapsed());
    twice
}

fn create(cluster: &Cluster, group: &str) {
    cluster.create_topic(group, QUEUES as u32);
    // Else its route is known only after half a minute.
    cluster.create_topic(&format!("%RETRY%{group}"), 1);
}

fn produce(cluster: &Cluster, peer: &mut Peer, topic: &str, count: usize) -> i64 {
    peer.send(json!({
        "cmd": "produce", "namesrv": cluster.namesrv(), "topic": topic, "count": count, "kind": "text", "seed": 5,
        "rate": RATE,
    }))
}

fn all_is_committed(cluster: &Cluster, group: &str) {
    for queue in 0..QUEUES as i32 {
        cluster.until_committed(group, group, 0, queue, cluster.max_offset(group, 0, queue));
    }
}

/// Members with runtimes of their own, so that each can be killed.
struct Ours<'a> {
    cluster: &'a Cluster,
    group: &'static str,
    exclusive: bool,
    book: Book,
    started: usize,
    members: VecDeque<(Runtime, Consumer)>,
}

impl<'a> Ours<'a> {
    fn new(cluster: &'a Cluster, group: &'static str, exclusive: bool) -> Self {
        Self { cluster, group, exclusive, book: Book::default(), started: 0, members: VecDeque::new() }
    }
}

impl Fleet for Ours<'_> {
    fn start(&mut self) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let (member, book) = (self.started, self.book.clone());
        self.started += 1;
        let handler = move |message: Message, context: Context| {
            let book = book.clone();
            async move {
                let text = std::str::from_utf8(message.body())?;
                let number: u64 = text.split(' ').next().unwrap_or_default().parse()?;
                let place = Place { member, queue: named(context.queue()), offset: message.offset() };
                book.begin(number, message.retries(), place);
                tokio::time::sleep(Duration::from_millis(1 + number % 5)).await;
                if number.is_multiple_of(FAILS) && message.retries() == 0 {
                    return Ok(DelayLevel::new(1).map_or(Ack::RetryLater, Ack::RetryAfter));
                }
                book.pages().done.insert(number);
                Ok(Ack::Done)
            }
        };
        let builder = Consumer::builder(self.group)
            .name_servers(&self.cluster.namesrv())
            .client_id(format!("127.0.0.1@ours-{member}"))
            .subscribe(self.group, "*")
            .start_from(StartFrom::First)
            .concurrency(HANDLERS)
            .exclusive_handover(self.exclusive)
            .handler_with(handler);
        let consumer = runtime.block_on(builder.start()).expect("a started member");
        self.members.push_back((runtime, consumer));
    }

    fn stop_oldest(&mut self) {
        let (runtime, consumer) = self.members.pop_front().expect("a member");
        let report = runtime.block_on(consumer.shutdown(MINUTE));
        assert_eq!(report.abandoned, 0, "{report:?}");
    }

    fn owned(&mut self) -> Vec<usize> {
        self.members.iter().map(|(_, consumer)| consumer.assignment().len()).collect()
    }

    fn book(&self) -> &Book {
        &self.book
    }
}

/// Java members, all in one process.
struct Javas<'a> {
    cluster: &'a Cluster,
    peer: Peer,
    book: Book,
    members: VecDeque<i64>,
    owned: BTreeMap<i64, usize>,
}

impl<'a> Javas<'a> {
    fn new(cluster: &'a Cluster, version: Version) -> Self {
        let (members, owned) = (VecDeque::new(), BTreeMap::new());
        Self { cluster, peer: Peer::start(version), book: Book::default(), members, owned }
    }

    fn take(&mut self, line: &Value) {
        let member = line["id"].as_i64().unwrap_or_default();
        match line["type"].as_str() {
            Some("assigned") => {
                let queues = line["queues"].as_array().into_iter().flatten();
                self.owned.insert(member, queues.filter(|queue| queue["topic"] == "java").count());
            }
            Some("message") => {
                assert_eq!(line["ok"], true, "{line}");
                let number = line["seq"].as_u64().unwrap_or_else(|| panic!("no number in {line}"));
                let tries = line["reconsumeTimes"].as_i64().and_then(|tries| i32::try_from(tries).ok());
                let place = Place {
                    member: usize::try_from(member).unwrap_or_default(),
                    queue: (
                        line["topic"].as_str().unwrap_or_default().to_owned(),
                        line["queue"].as_i64().and_then(|queue| i32::try_from(queue).ok()).unwrap_or(-1),
                    ),
                    offset: line["offset"].as_i64().unwrap_or(-1),
                };
                self.book.begin(number, tries.unwrap_or_default(), place);
                self.book.pages().done.insert(number);
            }
            _ => {}
        }
    }
}

impl Fleet for Javas<'_> {
    fn start(&mut self) {
        let id = self.peer.send(json!({
            "cmd": "consume", "namesrv": self.cluster.namesrv(), "group": "java", "topic": "java", "seed": 5,
            "kind": "text", "threads": HANDLERS, "delayMs": 3,
        }));
        self.peer.answer(id, MINUTE).expect("a started Java consumer");
        self.members.push_back(id);
    }

    fn stop_oldest(&mut self) {
        let member = self.members.pop_front().expect("a member");
        self.peer.call(json!({"cmd": "stop", "consumer": member}), MINUTE);
    }

    fn owned(&mut self) -> Vec<usize> {
        while let Some(line) = self.peer.read_line(Duration::from_millis(5)) {
            self.take(&line);
        }
        self.members.iter().map(|member| self.owned.get(member).copied().unwrap_or_default()).collect()
    }

    fn book(&self) -> &Book {
        &self.book
    }

    fn commits_at_a_stop(&self) -> bool {
        false
    }
}

/// A group with exclusive hand-over of which one member was killed.
struct Killed<'a> {
    fleet: Ours<'a>,
    /// The place from which on nothing of it was committed, by queue.
    uncommitted: BTreeMap<(String, i32), i64>,
    in_flight: usize,
    at: Instant,
    producing: i64,
}

impl<'a> Killed<'a> {
    const COUNT: usize = 4_500;

    fn kill(cluster: &'a Cluster, peer: &mut Peer) -> Self {
        create(cluster, "killed");
        let mut fleet = Ours::new(cluster, "killed", true);
        for _ in 0..MEMBERS {
            fleet.start();
        }
        fleet.settle("killed");
        let producing = produce(cluster, peer, "killed", Self::COUNT);
        fleet.wait("killed", MINUTE, Self::COUNT / 2);
        // Its sockets close, and nothing is said. When this is over its handlers have taken their last step.
        let (runtime, consumer) = fleet.members.pop_front().expect("a member");
        // The assignment does not show it.
        let retries = ("%RETRY%killed".to_owned(), 0);
        let queues: Vec<(String, i32)> = consumer.assignment().queues().map(named).chain([retries]).collect();
        std::mem::forget(consumer);
        runtime.shutdown_timeout(MINUTE);
        let at = Instant::now();
        let committed = |(topic, id): &(String, i32)| cluster.committed("killed", topic, 0, *id).unwrap_or(0);
        let uncommitted = queues.into_iter().map(|queue| (queue.clone(), committed(&queue))).collect();
        let mut killed = Self { fleet, uncommitted, in_flight: 0, at, producing };
        let pages = killed.fleet.book.pages();
        let in_flight = pages.begun.values().filter(|places| killed.was_in_flight(&places[0])).count();
        drop(pages);
        killed.in_flight = in_flight;
        killed
    }

    /// Handed to a handler of the dead member, and not committed.
    fn was_in_flight(&self, place: &Place) -> bool {
        let from = self.uncommitted.get(&place.queue);
        place.member == 0 && from.is_some_and(|from| place.offset >= *from)
    }

    fn check(mut self, cluster: &Cluster, peer: &mut Peer) {
        self.fleet.wait("killed", LOCK_IS_OVER, Self::COUNT);
        let after = self.at.elapsed();
        peer.answer(self.producing, MINUTE).expect("everything was sent");
        for _ in 1..MEMBERS {
            self.fleet.stop_oldest();
        }
        all_is_committed(cluster, "killed");
        let pages = self.fleet.book.pages();
        let twice: Vec<&Vec<Place>> = pages.begun.values().filter(|places| places.len() > 1).collect();
        println!(
            "{} killed: {} in flight, {} came twice; all was done {after:?} after the kill at the latest",
            cluster.version(),
            self.in_flight,
            twice.len()
        );
        for places in twice {
            assert!(places.len() == 2 && self.was_in_flight(&places[0]), "{places:?}");
        }
    }
}
