//! What it takes to know who owns what: for the whole group at once, for one member, and before and after a change.
//!
//! ```text
//! cargo bench -p evenkeel-core --bench whole_group
//! ```
//!
//! The medians and what they are held to stand in `core/src/manual/figures.md`; `core/tests/allocation/work_done.rs`
//! counts the work without a clock.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Duration;

use criterion::{BenchmarkId, Criterion, criterion_group, criterion_main};
use evenkeel_core::allocate::{
    Allocate, Average, ByConfig, Circle, ConsistentHash, Draft, Input, MachineRoom, Nearby, Room, RoomTable,
    SortedMembers, SortedQueues,
};
use evenkeel_core::model::{BrokerName, ClientId, Group, MessageQueue};
use evenkeel_core::plan::{Change, Layout, Trials, preview};

const BROKERS: usize = 50;
const ROOMS: usize = 4;

/// One topic on fifty brokers in four rooms, and members in those rooms.
struct Crowd {
    queues: SortedQueues,
    members: SortedMembers,
    strategies: Vec<Arc<dyn Allocate>>,
}

impl Crowd {
    fn new(queues: usize, members: usize) -> Self {
        let rooms = RoomTable {
            brokers: (0..BROKERS).map(|n| (BrokerName::from(broker(n)), room(n))).collect(),
            members: (0..members).map(|n| (member(n), room(n))).collect(),
        };
        let queue = |n: usize| MessageQueue::new("orders", broker(n % BROKERS), (n / BROKERS) as i32);
        let listed = (0..queues / members).map(queue);
        let strategies: Vec<Arc<dyn Allocate>> = vec![
            Arc::new(Average),
            Arc::new(Circle),
            Arc::new(ConsistentHash::default()),
            Arc::new(MachineRoom::new((0..ROOMS / 2).map(room))),
            Arc::new(Nearby::new(Average, rooms)),
            Arc::new(ByConfig::new(listed)),
            Arc::new(Draft::default()),
        ];
        Self {
            queues: (0..queues).map(queue).collect(),
            members: (0..members).map(member).collect(),
            strategies,
        }
    }

    /// The strategies that Java has too.
    fn of_java(&self) -> impl Iterator<Item = &Arc<dyn Allocate>> {
        self.strategies.iter().filter(|strategy| strategy.name() != "AVG_BY_DRAFT")
    }
}

fn broker(number: usize) -> String {
    format!("{}@rmq-broker-{number:03}", room(number))
}

fn room(number: usize) -> Room {
    Room::from(format!("room{}", number % ROOMS))
}

fn member(number: usize) -> ClientId {
    ClientId::from(format!(
        "10.42.{}.{}@{}#{}",
        number / 250,
        number % 250,
        1 + number % 7,
        number * 7_919_317
    ))
}

const SIZES: [(usize, usize); 2] = [(1_000, 100), (10_000, 1_000)];

fn whole_group(criterion: &mut Criterion) {
    let group = Group::from("pay-worker");
    let mut benches = criterion.benchmark_group("whole_group");
    for (queues, members) in SIZES {
        let crowd = Crowd::new(queues, members);
        let size = format!("{queues}x{members}");
        for strategy in &crowd.strategies {
            benches.bench_function(BenchmarkId::new(&*strategy.name(), &size), |bench| {
                bench.iter(|| strategy.owners(&group, black_box(&crowd.queues), black_box(&crowd.members)));
            });
        }
        benches.bench_function(BenchmarkId::new("all of Java's", &size), |bench| {
            bench.iter(|| {
                for strategy in crowd.of_java() {
                    black_box(strategy.owners(&group, black_box(&crowd.queues), &crowd.members).is_ok());
                }
            });
        });
    }
}

fn one_member(criterion: &mut Criterion) {
    let group = Group::from("pay-worker");
    let mut benches = criterion.benchmark_group("one_member");
    for (queues, members) in SIZES {
        let crowd = Crowd::new(queues, members);
        let me = &crowd.members[members / 2];
        let input = Input { group: &group, me, queues: &crowd.queues, members: &crowd.members, nth: 0 };
        for strategy in &crowd.strategies {
            benches.bench_function(
                BenchmarkId::new(&*strategy.name(), format!("{queues}x{members}")),
                |bench| {
                    bench.iter(|| strategy.positions(black_box(&input)));
                },
            );
        }
    }
}

/// A member of a known name joins: two plans, what moves between them, and the least that would have to.
fn previews(criterion: &mut Criterion) {
    let mut benches = criterion.benchmark_group("preview");
    for (queues, members) in SIZES {
        let crowd = Crowd::new(queues, members);
        let layout = (0..BROKERS)
            .fold(Layout::new("pay-worker", (0..members).map(member)), |layout, number| {
                layout.with_queues("orders", broker(number), (queues / BROKERS) as u32)
            });
        let joins = [Change::Join(vec![ClientId::from("10.42.0.77@1#1")])];
        // The tables of rooms do not know the new member.
        let strategies = || crowd.strategies.iter().filter(|strategy| !strategy.name().contains("NEARBY"));
        benches.bench_function(BenchmarkId::new("all strategies", format!("{queues}x{members}")), |bench| {
            bench.iter(|| {
                for strategy in strategies() {
                    let told = preview(black_box(&layout), Arc::clone(strategy), &joins, Trials::default());
                    black_box(told.is_ok());
                }
            });
        });
    }
}

fn short() -> Criterion {
    Criterion::default().warm_up_time(Duration::from_millis(500)).measurement_time(Duration::from_secs(3))
}

criterion_group!(name = benches; config = short(); targets = whole_group, one_member, previews);
criterion_main!(benches);
