//! The members of the demo.

use super::ledger::Ledger;
use super::{GROUP, TOPIC};
use crate::cmd::exit::Failure;
use evenkeel::allocate::{Allocate, Input, SortedMembers, SortedQueues, named};
use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, ClientId, Consumer, Event, Group, MessageQueue, StartFrom};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long members may take to agree after a change.
const SETTLE: Duration = Duration::from_secs(60);
/// How long the work on one message takes.
const WORK: Duration = Duration::from_millis(2);

/// What can happen to the group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    Join,
    Leave,
    Kill,
}

impl Change {
    /// As JSON has it.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Join => "join",
            Self::Leave => "leave",
            Self::Kill => "kill",
        }
    }
}

/// What a change did.
#[derive(Clone, Debug)]
pub(super) struct Changed {
    pub(super) change: Change,
    pub(super) member: String,
    /// Since the start of the load.
    pub(super) at: Duration,
    /// Queues that have another owner now.
    pub(super) moved: usize,
    pub(super) settled: Duration,
    pub(super) before: Owners,
}

/// Queues by member.
pub(super) type Owners = BTreeMap<String, Vec<MessageQueue>>;

/// The members and what they work on.
pub(super) struct DemoGroup {
    broker: Arc<EmbeddedBroker>,
    ledger: Arc<Ledger>,
    strategy: Arc<dyn Allocate>,
    queues: usize,
    members: BTreeMap<String, Consumer>,
    joined: u32,
    rebalances: Arc<AtomicU64>,
    abandoned: usize,
}

impl DemoGroup {
    pub(super) fn new(
        broker: &Arc<EmbeddedBroker>,
        ledger: &Arc<Ledger>,
        strategy: &str,
        queues: i32,
    ) -> Result<Self, Failure> {
        Ok(Self {
            broker: Arc::clone(broker),
            ledger: Arc::clone(ledger),
            strategy: named(strategy).map_err(|error| Failure::usage(error.to_string()))?,
            queues: usize::try_from(queues).unwrap_or(0),
            members: BTreeMap::new(),
            joined: 0,
            rebalances: Arc::default(),
            abandoned: 0,
        })
    }

    /// A new member. Its name.
    pub(super) async fn join(&mut self) -> Result<String, Failure> {
        self.joined += 1;
        let name = format!("member-{:02}", self.joined);
        let ledger = Arc::clone(&self.ledger);
        let consumer = Consumer::builder(GROUP)
            .embedded(&self.broker)
            .client_id(name.as_str())
            .subscribe(TOPIC, "*")
            .strategy(Arc::clone(&self.strategy))
            .start_from(StartFrom::First)
            .option("commit_interval", "500ms")
            .handler(move |message| {
                let ledger = Arc::clone(&ledger);
                async move {
                    let number: usize = std::str::from_utf8(message.body())?.parse()?;
                    sleep(WORK).await;
                    ledger.consumed(number);
                    Ok(Ack::Done)
                }
            })
            .start()
            .await?;
        let (mut events, rebalances) = (consumer.events(), Arc::clone(&self.rebalances));
        tokio::spawn(async move {
            while let Some(event) = events.next().await {
                if matches!(&event, Event::Rebalanced { topic, .. } if !topic.is_retry()) {
                    rebalances.fetch_add(1, Ordering::Relaxed);
                }
            }
        });
        self.members.insert(name.clone(), consumer);
        Ok(name)
    }

    /// Changes the group and waits until its members agree again.
    pub(super) async fn change(&mut self, change: Change, load_began: Instant) -> Result<Changed, Failure> {
        let (before, began, at) = (self.owners(), Instant::now(), load_began.elapsed());
        let member = match change {
            Change::Join => self.join().await?,
            Change::Leave => self.without_first(true).await,
            Change::Kill => self.without_first(false).await,
        };
        self.settle().await?;
        let (settled, after) = (began.elapsed(), by_queue(&self.owners()));
        let old = by_queue(&before);
        let moved = after.iter().filter(|(queue, owner)| old.get(*queue) != Some(*owner)).count();
        Ok(Changed { change, member, at, moved, settled, before })
    }

    async fn without_first(&mut self, clean: bool) -> String {
        let Some((name, consumer)) = self.members.pop_first() else { return String::new() };
        if clean {
            self.abandoned += consumer.shutdown(Duration::from_secs(10)).await.abandoned;
        } else {
            consumer.kill();
        }
        name
    }

    /// Waits until every member owns what the strategy gives it.
    pub(super) async fn settle(&self) -> Result<(), Failure> {
        let began = Instant::now();
        while began.elapsed() < SETTLE {
            if self.expected(&self.names()).await? == by_name(&self.owners()) {
                return Ok(());
            }
            sleep(Duration::from_millis(10)).await;
        }
        let owners = self.owners();
        Err(Failure::other(format!("the members did not agree within {SETTLE:?}: {owners:?}")))
    }

    /// Whether the broker knows these members and no others, and the members own what follows from that: every queue
    /// has one owner.
    pub(super) async fn agrees_with_broker(&self) -> Result<bool, Failure> {
        let snapshot = self.broker.snapshot().await.map_err(|error| Failure::other(error.to_string()))?;
        let names = self.names();
        let group = Group::from(GROUP);
        let same = snapshot.brokers.iter().all(|broker| {
            let mut known: Vec<ClientId> = broker.members.get(&group).cloned().unwrap_or_default();
            known.sort();
            known == names
        });
        let owners = self.owners();
        let one_each = by_queue(&owners).len() == self.queues
            && owners.values().map(Vec::len).sum::<usize>() == self.queues;
        Ok(same && one_each && self.expected(&names).await? == by_name(&owners))
    }

    async fn expected(
        &self,
        names: &[ClientId],
    ) -> Result<BTreeMap<String, BTreeSet<MessageQueue>>, Failure> {
        let snapshot = self.broker.snapshot().await.map_err(|error| Failure::other(error.to_string()))?;
        let all = snapshot.brokers.iter().flat_map(|broker| broker.queues.keys());
        let queues = SortedQueues::new(all.filter(|queue| queue.topic.as_str() == TOPIC).cloned());
        let members = SortedMembers::new(names.iter().cloned());
        let group = Group::from(GROUP);
        let share = |me: &ClientId| {
            let input = Input { group: &group, me, queues: &queues, members: &members, nth: 0 };
            let share = self.strategy.allocate(&input).map_err(|error| Failure::other(error.to_string()))?;
            Ok((me.to_string(), share.into_iter().collect()))
        };
        names.iter().map(share).collect()
    }

    fn names(&self) -> Vec<ClientId> {
        self.members.keys().map(|name| ClientId::from(name.as_str())).collect()
    }

    /// What each member says it owns.
    pub(super) fn owners(&self) -> Owners {
        let owned = |consumer: &Consumer| consumer.assignment().queues().cloned().collect();
        self.members.iter().map(|(name, consumer)| (name.clone(), owned(consumer))).collect()
    }

    /// Stored but not committed messages of each queue.
    pub(super) async fn lags(&self) -> Result<BTreeMap<MessageQueue, u64>, Failure> {
        let snapshot = self.broker.snapshot().await.map_err(|error| Failure::other(error.to_string()))?;
        let group = Group::from(GROUP);
        let all = snapshot.brokers.iter().flat_map(|broker| &broker.queues);
        let lag = |(queue, offsets): (&MessageQueue, &evenkeel::embedded::QueueSnapshot)| {
            let committed = snapshot.committed(&group, queue).unwrap_or(offsets.min);
            (queue.clone(), u64::try_from(offsets.max - committed).unwrap_or(0))
        };
        Ok(all.filter(|(queue, _)| queue.topic.as_str() == TOPIC).map(lag).collect())
    }

    /// Stored but not committed messages.
    pub(super) async fn lag(&self) -> Result<u64, Failure> {
        Ok(self.lags().await?.values().sum())
    }

    /// Rounds that changed something, over all members.
    pub(super) fn rebalances(&self) -> u64 {
        self.rebalances.load(Ordering::Relaxed)
    }

    /// All members leave. How many handlers had to be broken off.
    pub(super) async fn shutdown(self) -> usize {
        let mut abandoned = self.abandoned;
        for consumer in self.members.into_values() {
            abandoned += consumer.shutdown(Duration::from_secs(10)).await.abandoned;
        }
        abandoned
    }
}

/// Owner by queue; of two owners, the last.
fn by_queue(owners: &Owners) -> BTreeMap<MessageQueue, String> {
    let pairs = owners
        .iter()
        .flat_map(|(name, queues)| queues.iter().map(move |queue| (queue.clone(), name.clone())));
    pairs.collect()
}

fn by_name(owners: &Owners) -> BTreeMap<String, BTreeSet<MessageQueue>> {
    owners.iter().map(|(name, queues)| (name.clone(), queues.iter().cloned().collect())).collect()
}
