//! Equal seeds and inputs give equal outputs, and no input whatsoever makes the machine panic.

use crate::support;

use evenkeel_core::config::ConsumerConfig;
use evenkeel_core::consumer::{Consumer, Failure, Input, Outcome, Output, Position, Scope};
use evenkeel_core::time::{Duration, Instant, WallClock};
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::peer::PeerRequest;
use evenkeel_core::wire::reply::{BrokerData, PullStatus, QueueData, TopicRoute};
use evenkeel_core::wire::request::MessageModel;
use proptest::prelude::*;
use std::collections::BTreeSet;
use support::cluster::{Cluster, empty, found, group, message, refusal};
use support::{
    Address, CallError, CallId, MS, MessageQueue, Reply, SECOND, Ticket, Topic, WALL, all_of, config, lost,
    queue,
};

/// What a fuzzer does in one step: a kind of input and a number that picks its details.
type Step = (u8, u64);

/// One consumer, the calls and tickets it has given out, and the time.
struct Fuzzed {
    consumer: Consumer,
    now: u64,
    calls: Vec<(CallId, &'static str)>,
    tickets: Vec<Ticket>,
    log: Vec<String>,
}

const ADDRESSES: [&str; 5] = ["ns1:9876", "a:10911", "b:10911", "a-slave:10911", "elsewhere:1"];
const OFFSETS: [i64; 10] = [i64::MIN, -1, 0, 1, 5, 31, 32, 1000, i64::MAX - 1, i64::MAX];
const TOPICS: [&str; 4] = ["T", "U", "%RETRY%g", "X"];

fn pick<T: Copy>(from: &[T], number: &mut u64) -> T {
    let at = *number % from.len() as u64;
    *number /= from.len() as u64;
    from[at as usize]
}

fn some_queue(n: &mut u64) -> MessageQueue {
    MessageQueue::new(pick(&TOPICS, n), pick(&["a", "b"], n), pick(&[0, 1, 2, -1], n))
}

fn all_queues() -> BTreeSet<MessageQueue> {
    let of = |topic: &str, broker: &str| [0, 1, 2].map(|id| MessageQueue::new(topic, broker, id));
    TOPICS.iter().flat_map(|topic| ["a", "b"].into_iter().flat_map(move |broker| of(topic, broker))).collect()
}

fn some_scope(n: &mut u64) -> Scope {
    match *n % 3 {
        0 => Topic::from(pick(&TOPICS, n)).into(),
        _ => (0..*n % 4).map(|_| some_queue(n)).collect(),
    }
}

fn some_route(n: &mut u64) -> TopicRoute {
    let mut route = TopicRoute::default();
    for broker in pick(&[&["a"][..], &["b"], &["a", "b"], &[]], n) {
        let addresses = match pick(&[3, 3, 0, 1, 2], n) {
            0 => [(0, Address::from("a-slave:10911"))].into(),
            1 => [(1, Address::from("a-slave:10911"))].into(),
            2 => [(0, Address::from(format!("{broker}:10911"))), (1, Address::from("a-slave:10911"))].into(),
            _ => [(0, Address::from(format!("{broker}:10911")))].into(),
        };
        route.brokers.push(BrokerData { cluster: "c".into(), broker: (*broker).into(), addresses });
        let (read_queues, perm) = (pick(&[3, 1, 0, -1], n), pick(&[6, 6, 6, 2], n));
        route.queues.push(QueueData {
            broker: (*broker).into(),
            read_queues,
            write_queues: 4,
            perm,
            sys_flag: 0,
        });
    }
    route
}

/// A reply that fits the kind of call most of the time.
fn some_reply(kind: &str, n: &mut u64) -> Result<Reply, CallError> {
    const KINDS: [&str; 6] = ["Route", "Heartbeat", "Members", "Offset", "Pull", "Done"];
    let kind = if n.is_multiple_of(10) { KINDS[(*n / 10 % 6) as usize] } else { kind };
    *n /= 60;
    match pick(&[0, 0, 0, 0, 0, 0, 1, 2, 3, 4], n) {
        1 => return Err(lost()),
        2 => return Err(CallError::Expired { after_ms: 3000 }),
        3 => return Err(refusal(pick(&[1, 17, 22, 24, 25, 215, 9999], n))),
        4 => return Err(CallError::Garbled(WireError::new(WireErrorKind::Truncated, 0, "a header"))),
        _ => {}
    }
    Ok(match kind {
        "Route" => Reply::Route(some_route(n)),
        "Heartbeat" => Reply::Heartbeat { version: 475 },
        "Members" => {
            let lists: [&[&str]; 6] =
                [&["me"], &["me"], &["me", "zz"], &["aa", "me"], &["me", "me"], &["zz"]];
            Reply::Members(pick(&lists, n).iter().map(|id| (*id).into()).collect())
        }
        "QueryOffset" | "MaxOffset" | "MinOffset" | "OffsetAt" | "Offset" => {
            Reply::Offset(if n.is_multiple_of(3) { None } else { Some(pick(&OFFSETS, n)) })
        }
        "Lock" => Reply::Locked(if n.is_multiple_of(3) { [some_queue(n)].into() } else { all_queues() }),
        "Pull" => {
            let next = pick(&OFFSETS, n);
            let status =
                [PullStatus::NoNew, PullStatus::NoMatch, PullStatus::OffsetIllegal][(*n % 3) as usize];
            let mut pulled = match pick(&[0, 1, 1], n) {
                0 => empty(status, next),
                _ => {
                    let first = pick(&OFFSETS, n);
                    let offsets = (0..(*n % 40) as i64).map(|i| first.wrapping_add(i));
                    found(offsets.map(|offset| message(&queue("T", 0), offset)).collect(), next)
                }
            };
            pulled.suggested_broker = pick(&[0, 0, 1, i64::MAX, -1], n);
            pulled.damaged =
                n.is_multiple_of(5).then(|| WireError::new(WireErrorKind::BadMagic, 4, "a message"));
            Reply::Pulled(pulled)
        }
        _ => Reply::Done,
    })
}

impl Fuzzed {
    fn new(seed: u64) -> Self {
        let mut config = settings();
        config.orderly = seed % 3 == 1;
        if seed % 5 == 2 {
            config.model = MessageModel::Broadcasting;
        }
        let consumer = Consumer::new(config, seed, Instant::ZERO).expect("good settings");
        Self { consumer, now: 0, calls: Vec::new(), tickets: Vec::new(), log: Vec::new() }
    }

    fn input(&mut self, (kind, mut n): Step) -> Input {
        let n = &mut n;
        let address = Address::from(pick(&ADDRESSES, n));
        match kind % 38 {
            0..=14 => {
                let at = (*n % self.calls.len().max(1) as u64) as usize;
                *n /= 64;
                let (call, kind) = match self.calls.get(at) {
                    Some(_) => self.calls.remove(at),
                    None => (CallId(*n % 1000), "Route"),
                };
                Input::Reply { call, result: some_reply(kind, n) }
            }
            15..=20 => {
                let at = (*n % self.tickets.len().max(1) as u64) as usize;
                *n /= 64;
                let nobody = Ticket { epoch: evenkeel_core::model::QueueEpoch(*n % 50), number: *n % 7 };
                let ticket = if self.tickets.is_empty() { nobody } else { self.tickets.remove(at) };
                let why = Failure::Panic("x".into());
                let outcome = match *n % 4 {
                    0 | 1 => Outcome::Done,
                    2 => Outcome::PutBack,
                    _ => Outcome::Retry { done: (*n / 4 % 3) as usize, delay_level: -1, why },
                };
                Input::Outcome { ticket, outcome }
            }
            21 => Input::Peer { from: address, request: PeerRequest::MembersChanged { group: group() } },
            22 => {
                let offsets = (0..3).map(|_| (some_queue(n), pick(&OFFSETS, n))).collect();
                let request = PeerRequest::ResetOffsets { group: group(), topic: "T".into(), offsets };
                Input::Peer { from: address, request }
            }
            23 => match *n % 3 {
                0 => Input::Peer {
                    from: address,
                    request: PeerRequest::Status { reply: 1, group: group(), topic: None },
                },
                1 => Input::Peer {
                    from: address,
                    request: PeerRequest::RunningInfo { reply: 2, group: group(), client: "me".into() },
                },
                _ => {
                    Input::Peer { from: address, request: PeerRequest::Unknown { reply: Some(3), code: -4 } }
                }
            },
            24 | 25 => Input::Link { address, up: n.is_multiple_of(2) },
            26 => Input::Subscribe { subscription: all_of(pick(&TOPICS, n)) },
            27 => Input::Unsubscribe { topic: pick(&TOPICS, n).into() },
            28 => Input::Quiet(n.is_multiple_of(2)),
            29 => {
                Input::NameServers(ADDRESSES[..(*n % 3) as usize].iter().map(|a| Address::from(*a)).collect())
            }
            30 if n.is_multiple_of(40) => {
                Input::Stop { grace: pick(&[Duration::ZERO, SECOND, 9 * SECOND], n) }
            }
            32 | 33 => Input::Pause { scope: some_scope(n) },
            34 => Input::Resume { scope: some_scope(n) },
            35 => {
                let queue = some_queue(n);
                let at = Position::At(WallClock::from_millis(pick(&OFFSETS, n)));
                let to = pick(&[Position::First, Position::Last, at, Position::Offset(pick(&OFFSETS, n))], n);
                Input::Seek { queue, to }
            }
            36 => {
                let request = PeerRequest::ConsumeDirectly {
                    reply: 4,
                    group: group(),
                    broker: (*n % 2 == 0).then(|| "a".into()),
                    message: Box::new(message(&some_queue(n), pick(&OFFSETS, n))),
                };
                Input::Peer { from: address, request }
            }
            37 if n.is_multiple_of(5) => {
                Input::LocalOffsets((0..3).map(|_| (some_queue(n), pick(&OFFSETS, n))).collect())
            }
            37 => Input::Saved { result: if n.is_multiple_of(3) { Err("disk full".into()) } else { Ok(()) } },
            _ => Input::Tick,
        }
    }

    /// Everything is answered well until only pulls are left; each queue has been given 32 messages.
    fn settle(&mut self) {
        while let Some(at) = self.calls.iter().position(|(_, kind)| *kind != "Pull") {
            let (call, kind) = self.calls.remove(at);
            let result = match kind {
                // Both brokers, each with a master and three queues.
                "Route" => Ok(Reply::Route(some_route(&mut 2))),
                "Members" => Ok(Reply::Members(vec!["me".into()])),
                "Heartbeat" => Ok(Reply::Heartbeat { version: 475 }),
                "Lock" => Ok(Reply::Locked(all_queues())),
                _ => Ok(Reply::Offset(Some(5))),
            };
            self.give(self.now + 1_100_000_000, Input::Reply { call, result });
        }
        for (call, _) in std::mem::take(&mut self.calls) {
            let messages = (5..37).map(|offset| message(&queue("T", 0), offset)).collect();
            self.give(self.now, Input::Reply { call, result: Ok(Reply::Pulled(found(messages, 37))) });
        }
    }

    fn step(&mut self, step: Step) {
        // Sometimes to the next wake-up, sometimes a little, sometimes far, sometimes back.
        let at = match step.1 >> 60 {
            0..=4 => self.now + 1_000_000,
            5..=9 => self.now + (step.1 >> 30 & 0x3FFF_FFFF) * 4,
            10 => self.now.saturating_sub(5_000_000_000),
            11 => self.now + 100_000_000_000,
            _ => self.now,
        };
        let input = self.input(step);
        self.give(at, input);
    }

    fn give(&mut self, at: u64, input: Input) {
        self.now = self.now.max(at);
        self.consumer.handle(Instant::from_nanos(at), input);
        loop {
            let output = self.consumer.poll();
            let text = format!("{output:?}");
            let idle = matches!(output, Output::Idle { .. });
            self.log.push(text);
            match output {
                Output::Call { call, request, .. } => {
                    let text = format!("{request:?}");
                    let kinds = [
                        "Route",
                        "Heartbeat",
                        "Members",
                        "QueryOffset",
                        "MaxOffset",
                        "MinOffset",
                        "OffsetAt",
                        "Pull",
                        "Lock",
                    ];
                    let kind = kinds.into_iter().find(|kind| text.starts_with(kind)).unwrap_or("Done");
                    self.calls.push((call, kind));
                }
                Output::Deliver(delivery) => self.tickets.push(delivery.ticket),
                _ => {}
            }
            if idle {
                break;
            }
        }
        let snapshot = self.consumer.snapshot();
        assert!(snapshot.delivered <= 4, "{} deliveries for 4 handlers", snapshot.delivered);
        for view in snapshot.queues {
            assert!(view.cached < 50 + 40, "{view:?}");
            assert!(
                view.running <= 4 && view.commit_point.is_none_or(|point| point <= view.next),
                "{view:?}"
            );
        }
    }
}

fn settings() -> ConsumerConfig {
    let mut config = config(&["T", "U"]);
    (config.limits.concurrency, config.limits.queue_messages_max) = (4, 50);
    config
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_inputs(seed: u64, steps in proptest::collection::vec(any::<Step>(), 0..300)) {
        let run = || {
            let mut fuzzed = Fuzzed::new(seed);
            // Before the start, too.
            for step in steps.iter().take(2) {
                fuzzed.step(*step);
            }
            fuzzed.give(0, Input::Start { wall: WallClock::from_millis(WALL) });
            if seed % 4 != 0 {
                fuzzed.settle();
            }
            for step in &steps {
                fuzzed.step(*step);
            }
            fuzzed.give(u64::MAX - 1, Input::Tick);
            fuzzed
        };
        let (first, second) = (run(), run());
        prop_assert_eq!(&first.log, &second.log);

        // However it got here, it can be stopped within its limits.
        let mut last = first;
        if !last.consumer.is_stopped() {
            last.give(0, Input::Stop { grace: SECOND });
            for _ in 0..4 {
                last.give(u64::MAX, Input::Tick);
            }
            prop_assert!(last.consumer.is_stopped(), "{:?}", last.log.last());
        }
        prop_assert_eq!(last.log.last().map(String::as_str), Some("Idle { wake: None }"));
    }
}

/// The whole log of an ordinary life is the same twice, and another seed asks others first.
#[test]
fn same_seed_same_log() {
    let log = |seed| {
        let mut net = Cluster::one("T", 4).with_stored(&queue("T", 0), 0, 100);
        net.topic("U", &[("b", 2)]);
        let mut config = settings();
        config.name_servers = ["ns1", "ns2", "ns3"].map(Address::from).to_vec();
        let mut rig = support::Rig::with_seed(net, config, seed);
        rig.work = Some(7 * MS);
        rig.advance(60 * SECOND);
        rig.stop(SECOND);
        rig.advance(SECOND);
        format!("{:?} {:?}", rig.calls, rig.events)
    };
    assert_eq!(log(1), log(1));
    assert!((2..10).any(|seed| log(seed) != log(1)));
}
