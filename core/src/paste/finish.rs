//! Brings together what the pastes tell, once all of it is there.

use alloc::collections::{BTreeMap, BTreeSet};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use super::found::{Brokers, Found, Noted, Owner, Share, put};
use crate::model::{BrokerName, ClientId, MessageQueue, Topic};
use crate::order;
use crate::plan::{Said, said};
use crate::report::{BrokerSeen, ConsumerSeen, Load, Owned, Snapshot, TopicSeen};

/// The group as far as it is known, and all that is wrong or missing.
pub(super) fn finish(found: &Found) -> (Snapshot, Vec<Noted>) {
    let mut whole = Whole { problems: found.problems.clone(), ..Whole::default() };
    let names = Names::of(found, &mut whole.problems);
    whole.topics(found, &names);
    whole.consumers = found.consumers.clone();
    order::sort_by(&mut whole.consumers, |a, b| a.id.cmp(&b.id).then_with(|| a.address.cmp(&b.address)));
    let owned = whole.owned(found, &names);
    whole.incomplete(found);
    let load = found.load.iter().map(|(queue, &(lag, tps))| Load { queue: names.queue(queue), lag, tps });
    let topics = whole.topics.into_iter().map(|(topic, brokers)| TopicSeen {
        topic,
        brokers: brokers
            .into_iter()
            .map(|(broker, queues)| BrokerSeen {
                broker,
                read_queues: queues.read,
                readable: queues.readable,
            })
            .collect(),
    });
    let snapshot = Snapshot {
        taken_at: found.taken_at.clone(),
        topics: topics.collect(),
        consumers: whole.consumers,
        strategy: found.strategy.clone(),
        owned,
        load: (!found.load.is_empty()).then(|| load.collect()),
        redacted: found.redacted,
        ..Snapshot::new(found.group.clone())
    };
    let mut problems = whole.problems;
    order::sort_by(&mut problems, |a, b| (a.paste, a.line).cmp(&(b.paste, b.line)));
    if found.more_problems > 0 {
        let (lines, most) = (found.more_problems, super::MAX_PROBLEMS);
        let text = said!("{lines} more lines", "另外 {lines} 行");
        let expected = said!("fewer problems; {most} are named", "更少的问题；已列出 {most} 个");
        problems.push(Noted { paste: 0, line: 0, lines, text, expected });
    }
    (snapshot, problems)
}

/// The one there is, if there is one and no more.
fn only<T>(mut of: impl Iterator<Item = T>) -> Option<T> {
    let one = of.next()?;
    of.next().is_none().then_some(one)
}

#[derive(Default)]
struct Whole {
    topics: BTreeMap<Topic, Brokers>,
    consumers: Vec<ConsumerSeen>,
    problems: Vec<Noted>,
}

/// Whole names in place of those that a table cut.
struct Names {
    topics: BTreeMap<Topic, Topic>,
    brokers: BTreeMap<BrokerName, BrokerName>,
}

impl Names {
    fn of(found: &Found, problems: &mut Vec<Noted>) -> Self {
        let known = order::set(found.topics.keys().chain(&found.subscribed).map(Topic::as_str));
        let on = found.topics.values().chain(found.unnamed.iter().map(|one| &one.brokers));
        let brokers = order::set(on.flat_map(|brokers| brokers.keys().map(BrokerName::as_str)));
        let mut names = Self { topics: BTreeMap::new(), brokers: BTreeMap::new() };
        for (cut, at) in &found.cut_topics {
            match whole_name(cut.as_str(), &known) {
                Some(whole) => drop(names.topics.insert(cut.clone(), Topic::from(whole))),
                None => problems.push(maybe_cut(cut.as_str(), *at, Said { en: "topic", zh: "主题" })),
            }
        }
        for (cut, at) in &found.cut_brokers {
            match whole_name(cut.as_str(), &brokers) {
                Some(whole) => drop(names.brokers.insert(cut.clone(), BrokerName::from(whole))),
                None => problems.push(maybe_cut(cut.as_str(), *at, Said { en: "broker", zh: "Broker" })),
            }
        }
        names
    }

    fn topic(&self, topic: &Topic) -> Topic {
        self.topics.get(topic).unwrap_or(topic).clone()
    }

    fn broker(&self, broker: &BrokerName) -> BrokerName {
        self.brokers.get(broker).unwrap_or(broker).clone()
    }

    fn queue(&self, queue: &MessageQueue) -> MessageQueue {
        MessageQueue { topic: self.topic(&queue.topic), broker: self.broker(&queue.broker), id: queue.id }
    }
}

/// The only longer name that begins so.
fn whole_name<'a>(cut: &str, known: &BTreeSet<&'a str>) -> Option<&'a str> {
    only(known.iter().copied().filter(|name| name.len() > cut.len() && name.starts_with(cut)))
}

fn maybe_cut(name: &str, (paste, line): (usize, usize), what: Said<&str>) -> Noted {
    let expected = said!(
        "the whole name of the {what}: mqadmin cuts names to the width of the column, and this one fills it; \
         consumerConnection or topicRoute tell it",
        "{what} 的完整名称：mqadmin 会把名称截断到列宽，而这个名称正好占满；consumerConnection 或 topicRoute 给出完整名称",
        what
    );
    Noted { paste, line, lines: 1, text: Said::same(name), expected }
}

impl Whole {
    fn topics(&mut self, found: &Found, names: &Names) {
        for (topic, brokers) in &found.topics {
            let known = self.topics.entry(names.topic(topic)).or_default();
            brokers.iter().for_each(|(broker, queues)| put(known, names.broker(broker), *queues));
        }
        for unnamed in &found.unnamed {
            let brokers: Brokers =
                order::map(unnamed.brokers.iter().map(|(broker, queues)| (names.broker(broker), *queues)));
            let topic = self.name_for(&brokers, found).unwrap_or_else(|| {
                let topic = self.free_name();
                let expected = said!(
                    "the name of this topic, which the output does not tell; it is called {topic} here. Paste the \
                     command as well: mqadmin topicRoute -t NAME",
                    "该主题的名称，输出中没有；这里称为 {topic}。请把命令一起粘贴：mqadmin topicRoute -t NAME"
                );
                self.problems.push(Noted {
                    paste: unnamed.paste,
                    line: unnamed.line,
                    lines: 1,
                    text: Said::same(&*unnamed.text),
                    expected,
                });
                topic
            });
            let known = self.topics.entry(topic).or_default();
            brokers.into_iter().for_each(|(broker, queues)| put(known, broker, queues));
        }
    }

    /// The only topic that these queues can be of: one that has the same queues, or may have more than were seen of it;
    /// or the only one that the group subscribes to and of which nothing is known yet.
    fn name_for(&self, brokers: &Brokers, found: &Found) -> Option<Topic> {
        let real = || self.topics.iter().filter(|(topic, known)| !topic.is_retry() && !known.is_empty());
        let equal = real().filter(|(_, known)| {
            known.len() == brokers.len()
                && known.iter().zip(brokers).all(|((one, a), (other, b))| one == other && a.read == b.read)
        });
        let within = real().filter(|(_, known)| {
            known.len() == brokers.len()
                && known.iter().zip(brokers).all(|((one, a), (other, b))| {
                    one == other
                        && (a.read <= b.read || a.told)
                        && (b.read <= a.read || b.told)
                        && a.told != b.told
                })
        });
        let is_new =
            |topic: &&Topic| !topic.is_retry() && self.topics.get(*topic).is_none_or(BTreeMap::is_empty);
        let new = found.subscribed.iter().filter(is_new);
        only(equal.map(|(topic, _)| topic))
            .or_else(|| only(within.map(|(topic, _)| topic)))
            .or_else(|| only(new))
            .cloned()
    }

    fn free_name(&self) -> Topic {
        let numbered = (2..).map(|number| Topic::from(format!("topic-{number}")));
        let mut names = core::iter::once(Topic::from("topic")).chain(numbered);
        names.find(|name| !self.topics.contains_key(name)).unwrap_or_else(|| Topic::from("topic"))
    }

    /// Owners, if they are known of every queue: from tables first, from logs else.
    fn owned(&mut self, found: &Found, names: &Names) -> Option<Vec<Owned>> {
        if found.owners.is_empty() && found.owners_told.is_empty() {
            return self.owned_by_logs(found);
        }
        let mut owned = Vec::new();
        let hosts = self.hosts();
        let mut missing: BTreeMap<String, Said> = BTreeMap::new();
        let mut miss = |what: Said| drop(missing.insert(what.en.clone(), what));
        let known = order::set(self.consumers.iter().map(|consumer| &consumer.id));
        for (queue, owner) in &found.owners {
            let owners = match owner {
                Owner::Nobody => Vec::new(),
                Owner::Ids(ids) => {
                    let strangers = ids.iter().filter(|id| !known.contains(id));
                    strangers.for_each(|id| miss(said!("consumer {id}", "消费者 {id}")));
                    ids.clone()
                }
                Owner::Host(host) => match hosts.get(host.as_str()) {
                    Some(Some(id)) => [(*id).clone()].into(),
                    Some(None) => {
                        miss(said!(
                            "which of the consumers on {host} is meant",
                            "指的是 {host} 上的哪个消费者"
                        ));
                        continue;
                    }
                    None => {
                        miss(said!("the consumer on {host}", "{host} 上的消费者"));
                        continue;
                    }
                },
            };
            owned.push(Owned { queue: names.queue(queue), owners });
        }
        order::sort_by(&mut owned, |a, b| a.queue.cmp(&b.queue));
        let told = |queue: &MessageQueue| {
            found.owners_told.contains(&queue.topic)
                || owned.binary_search_by(|entry| entry.queue.cmp(queue)).is_ok()
        };
        let silent = self.last_queues().filter(|queue| !told(queue));
        silent.take(3).for_each(|queue| miss(said!("the owner of {queue}", "{queue} 的归属者")));
        if missing.is_empty() {
            return Some(owned);
        }
        let missing: Vec<Said> = missing.into_values().take(5).collect();
        let missing = Said::joined(&missing, Said { en: ", ", zh: "、" });
        let text = said!("owners of queues", "队列的归属者");
        let expected =
            said!("{missing}; without it, owners are not known", "{missing}；否则不知道归属者", missing);
        self.problems.push(Noted { paste: 0, line: 0, lines: 1, text, expected });
        None
    }

    /// The highest queue of each topic on each broker that can be read: if its owner was told, so were the others.
    fn last_queues(&self) -> impl Iterator<Item = MessageQueue> {
        self.topics.iter().flat_map(|(topic, brokers)| {
            brokers.iter().filter(|(_, queues)| queues.readable && queues.read > 0).map(|(broker, queues)| {
                let id = i32::try_from(queues.read - 1).unwrap_or(i32::MAX);
                MessageQueue { topic: topic.clone(), broker: broker.clone(), id }
            })
        })
    }

    /// The consumer of each host, and none if there are several.
    fn hosts(&self) -> BTreeMap<&str, Option<&ClientId>> {
        let mut hosts: BTreeMap<&str, Option<&ClientId>> = BTreeMap::new();
        for consumer in &self.consumers {
            let host = consumer.id.as_str().split('@').next().unwrap_or_default();
            let known = hosts.entry(host).or_insert(Some(&consumer.id));
            if *known != Some(&consumer.id) {
                *known = None;
            }
        }
        hosts
    }

    /// Consumers that logged anything have answered. A client logs changes only, so that of one without a word about a
    /// topic it has to be asked whether the others own all of it; if they do not, it is taken to be silent.
    fn owned_by_logs(&mut self, found: &Found) -> Option<Vec<Owned>> {
        if found.shares.is_empty() {
            return None;
        }
        let mut owners: BTreeMap<&MessageQueue, Vec<ClientId>> = BTreeMap::new();
        for ((_, id), share) in &found.shares {
            share.queues.iter().for_each(|queue| owners.entry(queue).or_default().push(id.clone()));
        }
        let topics = order::set(found.shares.keys().map(|(topic, _)| topic));
        let open: Vec<&Topic> = topics.into_iter().filter(|topic| !self.is_owned(topic, &owners)).collect();
        let mut silent = BTreeSet::new();
        for consumer in &mut self.consumers {
            let told = |topic: &Topic| found.shares.contains_key(&(topic.clone(), consumer.id.clone()));
            let any = found.shares.keys().any(|(_, id)| *id == consumer.id);
            let answered = any && open.iter().all(|topic| told(topic));
            consumer.answered = Some(answered);
            if !answered {
                silent.insert(consumer.id.clone());
            }
        }
        let owned = owners.into_iter().map(|(queue, mut owners)| {
            owners.retain(|id| !silent.contains(id));
            Owned { queue: queue.clone(), owners }
        });
        Some(owned.collect())
    }

    /// Whether every queue of a topic that is known has an owner.
    fn is_owned(&self, topic: &Topic, owners: &BTreeMap<&MessageQueue, Vec<ClientId>>) -> bool {
        let brokers = self.topics.get(topic).into_iter().flatten();
        brokers.filter(|(_, queues)| queues.readable).all(|(broker, queues)| {
            (0..queues.read).all(|id| {
                let queue = MessageQueue {
                    topic: topic.clone(),
                    broker: broker.clone(),
                    id: i32::try_from(id).unwrap_or(i32::MAX),
                };
                owners.contains_key(&queue)
            })
        })
    }

    /// Logs say how many queues and consumers there are; the pastes may know fewer.
    fn incomplete(&mut self, found: &Found) {
        let mut latest: BTreeMap<&Topic, &Share> = BTreeMap::new();
        for ((topic, _), share) in &found.shares {
            let known = latest.entry(topic).or_insert(share);
            if known.place() < share.place() {
                *known = share;
            }
        }
        let last = latest.values().map(|share| share.place()).max();
        for (topic, share) in latest {
            let readable = self.topics.get(topic).into_iter().flatten().filter(|(_, queues)| queues.readable);
            let queues: i64 = readable.map(|(_, queues)| queues.read).sum();
            let mut missing = Vec::new();
            if let Some(all) = share.all_queues.filter(|&all| i64::try_from(all) != Ok(queues)) {
                missing.push(said!(
                    "all {all} queues of {topic}, {queues} are known: paste topicRoute",
                    "{topic} 的全部 {all} 个队列，已知 {queues} 个：请粘贴 topicRoute"
                ));
            }
            // Consumers come and go, and not every line is written again when they do.
            let known = self.consumers.len();
            if let Some(all) = share.all_consumers.filter(|&all| all != known && last == Some(share.place()))
            {
                missing.push(said!(
                    "all {all} consumers, {known} are known: paste consumerConnection",
                    "全部 {all} 个消费者，已知 {known} 个：请粘贴 consumerConnection"
                ));
            }
            if !missing.is_empty() {
                self.problems.push(Noted {
                    paste: share.paste,
                    line: share.line,
                    lines: 1,
                    text: Said::same(&*share.text),
                    expected: Said::joined(&missing, Said { en: "; ", zh: "；" }),
                });
            }
        }
    }
}
