//! Order on real brokers, under 2,000 messages a second: one worker for each queue in the whole group, first deliveries that
//! ascend for each sharding key, and nothing begins while something before it is open; through joins, a clean leave, a
//! kill, a Java member, and a message that nobody can handle.

use evenkeel::{Batch, Consumer, Context, Ordered, StartFrom};
use evenkeel_tests::java::{Cluster, Options, Peer, Version};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use tokio::runtime::{Builder, Runtime};

const COUNT: i64 = 12_000;
/// Messages a second.
const RATE: u64 = 2_000;
const QUEUES: i64 = 8;
/// Each on one queue.
const SHARDING_KEYS: i64 = 64;
const MINUTE: Duration = Duration::from_secs(60);
/// A broker keeps the lock of a killed member for 60 s; then come a renewal and a look.
const LOCK_IS_OVER: Duration = Duration::from_secs(100);

#[test]
fn one_worker_for_each_queue_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn one_worker_for_each_queue_on_5() {
    scenarios(Version::V5);
}

fn scenarios(version: Version) {
    let cluster = Cluster::start(version, &Options::default());
    let mut peer = Peer::start(version);
    a_poisoned_message_holds_its_queue_and_ends_as_one_dead_letter(&cluster, &mut peer);
    joins_a_leave_and_a_kill(&cluster, &mut peer);
    with_a_java_member(&cluster, &mut peer);
    peer.shutdown();
}

/// What all members of this process did, in one order.
#[derive(Clone, Default)]
struct Book(Arc<Mutex<Pages>>);

#[derive(Default)]
struct Pages {
    /// By queue: who works on it, and the offset.
    open: BTreeMap<i32, (usize, i64)>,
    /// By queue: one past the last offset that was done.
    done: BTreeMap<i32, i64>,
    /// By sharding key: the numbers that were handed out.
    keys: BTreeMap<String, BTreeSet<i64>>,
    distinct: i64,
    repeated: i64,
    /// Offsets that others may have done, so that a queue may go on behind them.
    shared: bool,
    wrong: Vec<String>,
}

impl Book {
    fn pages(&self) -> MutexGuard<'_, Pages> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self, member: usize, queue: i32, offset: i64) {
        let mut pages = self.pages();
        if let Some((other, open)) = pages.open.insert(queue, (member, offset)) {
            pages.wrong.push(format!("{member} begins {queue}@{offset} while {other} works on {open}"));
        }
        let next = pages.done.get(&queue).copied().unwrap_or(0);
        if offset > next && !pages.shared {
            pages.wrong.push(format!("{member} begins {queue}@{offset} while {next} is open"));
        }
        if offset < next {
            pages.repeated += 1;
        }
    }

    /// The first deliveries of a key ascend.
    fn note_key(&self, key: &str, number: i64) {
        let mut pages = self.pages();
        let numbers = pages.keys.entry(key.to_owned()).or_default();
        let last = numbers.last().copied();
        if numbers.insert(number) && last.is_some_and(|last| number < last) {
            pages.wrong.push(format!("{number} of key {key} comes first after {last:?}"));
        }
    }

    fn end(&self, queue: i32, offset: i64) {
        let mut pages = self.pages();
        pages.open.remove(&queue);
        let next = pages.done.entry(queue).or_default();
        if offset >= *next {
            *next = offset + 1;
            pages.distinct += 1;
        }
    }

    /// The handlers of a member are no more.
    fn forget(&self, member: usize) {
        self.pages().open.retain(|_, (who, _)| *who != member);
    }

    fn wait(&self, what: &str, timeout: Duration, holds: impl Fn(&Pages) -> bool) {
        let end = Instant::now() + timeout;
        while !holds(&self.pages()) {
            let pages = self.pages();
            assert!(
                Instant::now() < end,
                "{what}: {} done, {:?}, wrong: {:?}",
                pages.distinct,
                pages.done,
                pages.wrong
            );
            drop(pages);
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// A member with a runtime of its own, so that it can be killed.
struct Member {
    runtime: Runtime,
    consumer: Option<Consumer>,
}

impl Member {
    fn start(cluster: &Cluster, group: &str, topic: &str, number: usize, book: &Book) -> Self {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let book = book.clone();
        let handler = move |batch: Batch, context: Context| {
            let book = book.clone();
            async move {
                let queue = context.queue().id;
                for message in batch {
                    book.begin(number, queue, message.offset());
                    let key = message.property("__SHARDINGKEY").expect("a sharding key");
                    book.note_key(key, message.property("seq").expect("a number").parse()?);
                    tokio::time::sleep(Duration::from_millis(1)).await;
                    book.end(queue, message.offset());
                }
                Ok(Ordered::Done)
            }
        };
        let builder = Consumer::builder(group)
            .name_servers(&cluster.namesrv())
            .client_id(format!("127.0.0.1@ours-{number}"))
            .subscribe(topic, "*")
            .start_from(StartFrom::First)
            .batch_max(4)
            .ordered_handler_with(handler);
        let consumer = runtime.block_on(builder.start()).expect("a started member");
        Self { runtime, consumer: Some(consumer) }
    }

    fn owns(&self) -> usize {
        self.consumer.as_ref().expect("a living member").assignment().len()
    }

    fn stop(mut self) {
        let consumer = self.consumer.take().expect("a living member");
        let report = self.runtime.block_on(consumer.shutdown(MINUTE));
        assert_eq!(report.abandoned, 0, "{report:?}");
    }

    /// Its sockets close, and nothing is said. When this returns its handlers have taken their last step.
    fn kill(mut self) {
        std::mem::forget(self.consumer.take());
        self.runtime.shutdown_timeout(MINUTE);
    }
}

fn settle(what: &str, members: &[&Member], queues: usize) {
    let end = Instant::now() + MINUTE;
    let fair = |member: &&Member| member.owns() == queues / members.len();
    while !members.iter().all(fair) {
        let owned: Vec<usize> = members.iter().map(|member| member.owns()).collect();
        assert!(Instant::now() < end, "{what}: {owned:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn produce(cluster: &Cluster, peer: &mut Peer, topic: &str) -> i64 {
    peer.send(json!({
        "cmd": "produce", "namesrv": cluster.namesrv(), "topic": topic, "count": COUNT, "kind": "text", "seed": 5,
        "rate": RATE, "shards": SHARDING_KEYS,
    }))
}

fn joins_a_leave_and_a_kill(cluster: &Cluster, peer: &mut Peer) {
    cluster.create_topic("ordered", QUEUES as u32);
    let book = Book::default();
    let member = |number| Member::start(cluster, "ordered", "ordered", number, &book);
    let done = |what: &str, count: i64| book.wait(what, LOCK_IS_OVER, |pages| pages.distinct >= count);

    let first = member(0);
    let producing = produce(cluster, peer, "ordered");
    done("one member", COUNT / 8);
    let others = [member(1), member(2), member(3)];
    settle("four members", &[&first, &others[0], &others[1], &others[2]], QUEUES as usize);
    done("four members", COUNT * 3 / 8);
    let before_leave = book.pages().repeated;
    first.stop();
    let [second, third, fourth] = others;
    done("three members", COUNT * 4 / 8);
    let clean = book.pages().repeated;
    let begin = Instant::now();
    second.kill();
    book.forget(1);
    settle("two members", &[&third, &fourth], QUEUES as usize);
    done("two members", COUNT);
    let after_kill = begin.elapsed();
    third.stop();
    fourth.stop();
    peer.answer(producing, MINUTE).expect("everything was sent");

    let pages = book.pages();
    println!(
        "{}: {COUNT} in order; repeated: {before_leave} at joins, {} at a clean leave, {} at a kill, all done {after_kill:?} after it",
        cluster.version(),
        clean - before_leave,
        pages.repeated - clean
    );
    assert_eq!(pages.wrong, [] as [String; 0]);
    assert_eq!(
        (pages.distinct, clean),
        (COUNT, 0),
        "no message comes twice where a queue is handed over under its lock"
    );
    let of_each: Vec<usize> = pages.keys.values().map(BTreeSet::len).collect();
    let [some, more] = [COUNT / SHARDING_KEYS, COUNT / SHARDING_KEYS + 1].map(|count| count as usize);
    assert!(
        of_each.len() as i64 == SHARDING_KEYS && of_each.iter().all(|count| [some, more].contains(count)),
        "{of_each:?}"
    );
    for queue in 0..QUEUES {
        let (queue, end) = (queue as i32, cluster.max_offset("ordered", 0, queue as i32));
        assert_eq!(cluster.committed("ordered", "ordered", 0, queue), Some(end), "queue {queue}");
    }
}

/// Java respects our locks, and we respect Java's.
fn with_a_java_member(cluster: &Cluster, peer: &mut Peer) {
    cluster.create_topic("mixed", QUEUES as u32);
    let book = Book::default();
    book.pages().shared = true;
    let ours = Member::start(cluster, "mixed", "mixed", 0, &book);
    let producing = produce(cluster, peer, "mixed");
    book.wait("ours alone", MINUTE, |pages| pages.distinct >= COUNT / 4);
    let java = peer.send(json!({
        "cmd": "consume", "namesrv": cluster.namesrv(), "group": "mixed", "topic": "mixed", "instance": "java",
        "seed": 5, "kind": "text", "threads": 4, "orderly": true,
    }));
    peer.answer(java, MINUTE).expect("a started Java member");
    settle("half is Java's", &[&ours], QUEUES as usize / 2);
    peer.answer(producing, MINUTE).expect("everything was sent");

    // What each offset's worker was, and in which order Java had its own.
    let mut seen: BTreeSet<(i32, i64)> = BTreeSet::new();
    let mut java_last: BTreeMap<i32, i64> = BTreeMap::new();
    let end = Instant::now() + LOCK_IS_OVER;
    let mut java_count = 0;
    loop {
        let pages = book.pages();
        let (count, wrong) = (pages.distinct + java_count, pages.wrong.clone());
        drop(pages);
        assert_eq!(wrong, [] as [String; 0]);
        if count >= COUNT {
            break;
        }
        assert!(Instant::now() < end, "{count} of {COUNT}");
        let Some(line) = peer.read_line(Duration::from_millis(200)) else { continue };
        if line["type"] != "message" || line["id"] != java {
            continue;
        }
        let queue = i32::try_from(line["queue"].as_i64().expect("a queue number")).expect("a small number");
        let offset = line["offset"].as_i64().expect("an offset");
        assert_eq!(line["ok"], true, "{line}");
        let last = java_last.insert(queue, offset);
        assert!(last.is_none_or(|last| offset > last), "Java had {queue}@{offset} after {last:?}");
        java_count += i64::from(seen.insert((queue, offset)));
    }
    peer.call(json!({"cmd": "stop", "consumer": java}), MINUTE);
    ours.stop();
    println!("{}: with a Java member: {java_count} of {COUNT} were Java's, in order", cluster.version());
    assert!(java_count > 0);
}

/// With two retries a message is tried three times, here, while those behind it wait; then it is a dead letter, once.
fn a_poisoned_message_holds_its_queue_and_ends_as_one_dead_letter(cluster: &Cluster, peer: &mut Peer) {
    cluster.create_topic("poisoned", 1);
    let count = 10;
    peer.call(
        json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "poisoned", "count": count, "kind": "text", "seed": 5}),
        MINUTE,
    );
    let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let (tell, told) = std::sync::mpsc::channel();
    let handler = move |batch: Batch| {
        let tell = tell.clone();
        async move {
            let message = batch.into_iter().next().expect("a batch has a message");
            // An error only says that the test is over.
            let _ = tell.send((message.offset(), message.retries()));
            if message.offset() == 3 {
                return Ok(Ordered::PauseQueue(Duration::from_millis(50)));
            }
            Ok(Ordered::Done)
        }
    };
    let builder = Consumer::builder("poisoned")
        .name_servers(&cluster.namesrv())
        .subscribe("poisoned", "*")
        .start_from(StartFrom::First)
        .max_retries(2)
        .ordered_handler(handler);
    let consumer = runtime.block_on(builder.start()).expect("a started member");
    let calls: Vec<(i64, i32)> =
        (0..count + 2).map(|_| told.recv_timeout(MINUTE).expect("every message comes")).collect();
    let end = Instant::now() + MINUTE;
    while cluster.max_offset("%DLQ%poisoned", 0, 0) < 1 {
        assert!(Instant::now() < end, "no dead letter");
    }
    let report = runtime.block_on(consumer.shutdown(MINUTE));
    assert_eq!((report.handed_back, told.try_recv().ok()), (0, None));
    let before = (0..3).map(|offset| (offset, 0));
    let behind = (4..count).map(|offset| (offset, 0));
    let expected: Vec<(i64, i32)> = before.chain([(3, 0), (3, 1), (3, 2)]).chain(behind).collect();
    assert_eq!(calls, expected);
    assert_eq!(cluster.max_offset("%DLQ%poisoned", 0, 0), 1, "one dead letter");
    assert_eq!(cluster.committed("poisoned", "poisoned", 0, 0), Some(count));
}
