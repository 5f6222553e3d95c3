//! The Java push consumer pops on the embedded broker, once `mqadmin` has switched its group, and follows a switch back.

use evenkeel::embedded::EmbeddedBroker;
use evenkeel_tests::java::{Peer, Version, mqadmin};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const MINUTE: Duration = Duration::from_secs(60);
/// So many messages are sent at a time; the first try of every tenth fails.
const COUNT: u64 = 300;
const FAIL_EVERY: u64 = 10;

#[test]
fn a_java_group_is_switched_to_pop_and_back() {
    let runtime = Runtime::new().expect("a runtime");
    let broker = EmbeddedBroker::builder().brokers(2).topic("orders", 2, 2).topic("%RETRY%switched", 2, 1);
    let broker = broker.configure(|config| config.delay_levels = vec![Duration::from_secs(1); 18]);
    let broker = runtime.block_on(broker.start()).expect("a listening broker");
    let namesrv = broker.name_server().to_string();
    let popped = || -> usize {
        let snapshot = runtime.block_on(broker.snapshot()).expect("a running broker");
        snapshot.brokers.iter().map(|broker| broker.popped).sum()
    };

    set_mode(&namesrv, "POP");
    let mut peer = Peer::start(Version::V5);
    let consumer = peer.send(json!({
        "cmd": "consume", "namesrv": namesrv, "group": "switched", "topic": "orders", "clientRebalance": false, "threads": 4,
        "seed": 1, "kind": "text", "failEvery": FAIL_EVERY,
    }));
    peer.answer(consumer, MINUTE).expect("a started consumer");
    let mut heard = Heard::default();
    produce(&mut peer, &namesrv, 0);
    heard.read(&mut peer, |heard| heard.is_done(COUNT));
    assert_eq!(heard.popped, (0..COUNT).collect(), "all came by pop");
    let begin = Instant::now();
    while popped() > 0 {
        assert!(begin.elapsed() < MINUTE, "{} are not settled", popped());
        std::thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(heard.repeated(COUNT), 0, "only what failed came again");

    set_mode(&namesrv, "PULL");
    heard.read(&mut peer, |heard| heard.queues == 4);
    produce(&mut peer, &namesrv, COUNT);
    heard.read(&mut peer, |heard| heard.is_done(2 * COUNT));
    assert_eq!(heard.popped, (0..COUNT).collect(), "all others came by pull");
    peer.call(json!({"cmd": "stop", "consumer": consumer}), MINUTE);
    peer.shutdown();
    runtime.block_on(broker.shutdown());
}

/// What the consumer has said.
#[derive(Default)]
struct Heard {
    /// Tries of each message.
    tries: BTreeMap<u64, Vec<i64>>,
    popped: BTreeSet<u64>,
    /// Queues of `orders` that it pulls.
    queues: usize,
}

impl Heard {
    fn read(&mut self, peer: &mut Peer, wanted: impl Fn(&Self) -> bool) {
        let mut last = Instant::now();
        while !wanted(self) {
            if let Some(line) = peer.read_line(Duration::from_millis(100)) {
                last = Instant::now();
                self.take(&line);
            }
            let tries: usize = self.tries.values().map(Vec::len).sum();
            assert!(last.elapsed() < MINUTE, "{tries} tries of {}, {} queues", self.tries.len(), self.queues);
        }
    }

    fn take(&mut self, line: &Value) {
        match line["type"].as_str() {
            Some("message") => {
                assert_eq!((&line["ok"], &line["topic"]), (&json!(true), &json!("orders")), "{line}");
                let seq = line["seq"].as_u64().expect("a number");
                self.tries.entry(seq).or_default().push(line["reconsumeTimes"].as_i64().expect("a number"));
                if line["props"]["POP_CK"].is_string() {
                    self.popped.insert(seq);
                }
            }
            Some("assigned") => {
                let queues = line["queues"].as_array().into_iter().flatten();
                self.queues = queues.filter(|queue| queue["topic"] == "orders").count();
            }
            _ => {}
        }
    }

    /// Whether each of the first messages came, and those that fail came again.
    fn is_done(&self, count: u64) -> bool {
        let wanted = |seq| if seq % FAIL_EVERY == 0 { [0, 1].as_slice() } else { &[0] };
        (0..count).all(|seq| self.tries.get(&seq).is_some_and(|tries| tries.ends_with(wanted(seq))))
    }

    fn repeated(&self, count: u64) -> usize {
        let tries: usize = self.tries.values().map(Vec::len).sum();
        tries - (count + count / FAIL_EVERY) as usize
    }
}

fn set_mode(namesrv: &str, mode: &str) {
    let arguments = ["setConsumeMode", "-c", "DefaultCluster", "-t", "orders", "-g", "switched", "-m", mode];
    let said = mqadmin(Version::V5, namesrv, &arguments);
    assert_eq!(said.matches("success").count(), 2, "{said}");
}

fn produce(peer: &mut Peer, namesrv: &str, first: u64) {
    peer.call(
        json!({
            "cmd": "produce", "namesrv": namesrv, "topic": "orders", "first": first, "count": COUNT, "kind": "text", "seed": 1,
        }),
        MINUTE,
    );
}
