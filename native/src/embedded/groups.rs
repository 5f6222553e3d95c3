//! Who is in which group, over which connection, and what the group subscribes to; who is told of a change.

use super::config::{Generation, is_legal_name};
use super::context::Context;
use super::output::ConnId;
use evenkeel_core::model::{ClientId, Group, Topic};
use evenkeel_core::time::{Duration, Instant};
use evenkeel_core::wire::bodies::{AnnouncedGroup, Announcement, ConsumeType, StartRule};
use evenkeel_core::wire::code::{LanguageCode, RequestCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::peer::NotifyConsumerIdsChanged;
use evenkeel_core::wire::request::{MessageModel, SubscriptionData};
use std::collections::{BTreeMap, BTreeSet};
use std::net::SocketAddr;

/// How often silent members are looked for.
const SCAN_EVERY: Duration = Duration::from_secs(10);

/// One connection within a group.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) client: ClientId,
    pub(crate) language: Option<LanguageCode>,
    pub(crate) version: i32,
    pub(crate) remote: SocketAddr,
    last_seen: Instant,
}

/// A consumer group that has members.
#[derive(Clone, Debug)]
pub(crate) struct ConsumerGroup {
    pub(crate) consume_type: ConsumeType,
    pub(crate) model: MessageModel,
    pub(crate) start_from: StartRule,
    pub(crate) subscriptions: BTreeMap<Topic, SubscriptionData>,
    subscription_bytes: usize,
    pub(crate) members: BTreeMap<ConnId, Member>,
}

/// Tables of one broker.
#[derive(Debug, Default)]
pub(crate) struct Groups {
    consumers: BTreeMap<Group, ConsumerGroup>,
    producers: BTreeMap<Group, BTreeMap<ConnId, Member>>,
    fingerprints: BTreeMap<Group, i32>,
    next_scan: Option<Instant>,
}

impl Groups {
    /// The group, if it has members.
    pub(crate) fn find(&self, group: &Group) -> Option<&ConsumerGroup> {
        self.consumers.get(group)
    }

    /// Consumer groups with members.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Group, &ConsumerGroup)> {
        self.consumers.iter()
    }

    /// Connections of a producer group.
    pub(crate) fn producers(&self, group: &Group) -> Option<&BTreeMap<ConnId, Member>> {
        self.producers.get(group)
    }

    /// The member that a request forwarded to `client` goes to.
    pub(crate) fn member(&self, group: &Group, client: &ClientId) -> Option<(ConnId, &Member)> {
        let members = self.consumers.get(group)?.members.iter();
        members.filter(|(_, member)| member.client == *client).map(|(conn, member)| (*conn, member)).next()
    }

    /// One consumer group of a heartbeat. `notify` is the group's setting. Gives whether anything changed.
    pub(crate) fn register(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        member: Member,
        data: &AnnouncedGroup,
        heartbeat: &Announcement,
        notify: bool,
    ) -> bool {
        let limits = &cx.config.limits;
        let group = data.group.clone();
        let known = self.consumers.get(&group);
        let is_new = known.is_none_or(|entry| !entry.members.contains_key(&conn));
        let has_room = known.map_or(self.consumers.len() < limits.groups, |entry| {
            !is_new || entry.members.len() < limits.members
        });
        let others = self.consumers.iter().filter(|(other, _)| **other != group);
        let others: usize = others.map(|(_, entry)| entry.subscription_bytes).sum();
        let bytes = data.subscriptions.iter().take(limits.subscriptions).map(size).sum::<usize>();
        if !is_legal_name(group.as_str()) || !has_room || others + bytes > limits.subscription_bytes {
            return false;
        }
        self.next_scan.get_or_insert(cx.now + SCAN_EVERY);
        let entry = self.consumers.entry(group.clone()).or_insert_with(|| ConsumerGroup {
            consume_type: data.consume_type,
            model: data.model,
            start_from: data.start_from,
            subscriptions: BTreeMap::new(),
            subscription_bytes: 0,
            members: BTreeMap::new(),
        });
        entry.consume_type = data.consume_type;
        entry.model = data.model;
        entry.start_from = data.start_from;
        entry.members.insert(conn, member);
        let subscribed = !heartbeat.without_sub && entry.subscribe(&data.subscriptions, limits.subscriptions);
        if (is_new || subscribed) && notify {
            self.notify(cx, &group);
        }
        is_new || subscribed
    }

    /// One producer group of a heartbeat.
    pub(crate) fn register_producer(
        &mut self,
        cx: &Context<'_>,
        conn: ConnId,
        member: Member,
        group: &Group,
    ) {
        let limits = &cx.config.limits;
        let known = self.producers.contains_key(group);
        if !is_legal_name(group.as_str()) || (!known && self.producers.len() >= limits.groups) {
            return;
        }
        self.next_scan.get_or_insert(cx.now + SCAN_EVERY);
        let members = self.producers.entry(group.clone()).or_default();
        if members.len() < limits.members || members.contains_key(&conn) {
            members.insert(conn, member);
        }
    }

    /// Remembers the fingerprint that a heartbeat carried for a group; gives whether it is another one than before.
    pub(crate) fn fingerprint(&mut self, group: &Group, fingerprint: i32) -> bool {
        if !self.consumers.contains_key(group) {
            return true;
        }
        self.fingerprints.insert(group.clone(), fingerprint) != Some(fingerprint)
    }

    /// Request 35: a client leaves a group by its own wish.
    pub(crate) fn unregister(&mut self, cx: &mut Context<'_>, conn: ConnId, group: &Group, notify: bool) {
        if self.leave(conn, group) && notify {
            self.notify(cx, group);
        }
    }

    /// Request 35, for a producer group.
    pub(crate) fn unregister_producer(&mut self, conn: ConnId, group: &Group) {
        if let Some(members) = self.producers.get_mut(group) {
            members.remove(&conn);
            if members.is_empty() {
                self.producers.remove(group);
            }
        }
    }

    /// A connection is gone: it leaves all its groups, and the others are told.
    pub(crate) fn disconnected(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        for group in self.groups_of(conn) {
            if self.leave(conn, &group) {
                self.notify(cx, &group);
            }
        }
        self.producers.retain(|_, members| {
            members.remove(&conn);
            !members.is_empty()
        });
    }

    /// Every ten seconds: members without a heartbeat for too long are removed and their connections closed. As in
    /// real brokers the others are *not* told; they find out at their own next round.
    pub(crate) fn tick(&mut self, cx: &mut Context<'_>) {
        if self.next_scan.is_none_or(|at| at > cx.now) {
            return;
        }
        let (now, life) = (cx.now, cx.config.member_life);
        let mut gone = BTreeSet::new();
        let mut keep_vocal = |members: &mut BTreeMap<ConnId, Member>| {
            members.retain(|conn, member| {
                let is_vocal = now.since(member.last_seen) <= life;
                if !is_vocal {
                    gone.insert(*conn);
                }
                is_vocal
            });
            !members.is_empty()
        };
        self.consumers.retain(|_, entry| keep_vocal(&mut entry.members));
        self.producers.retain(|_, members| keep_vocal(members));
        let consumers = &self.consumers;
        self.fingerprints.retain(|group, _| consumers.contains_key(group));
        for conn in gone {
            cx.close(conn);
        }
        let any = !self.consumers.is_empty() || !self.producers.is_empty();
        self.next_scan = any.then_some(cx.now + SCAN_EVERY);
    }

    /// When [`Self::tick`] has something to do.
    pub(crate) fn wake(&self) -> Option<Instant> {
        self.next_scan
    }

    fn groups_of(&self, conn: ConnId) -> Vec<Group> {
        let of_conn = self.consumers.iter().filter(|(_, entry)| entry.members.contains_key(&conn));
        of_conn.map(|(group, _)| group.clone()).collect()
    }

    /// Removes a connection from a group, and the group with its last member. Gives whether it was there.
    fn leave(&mut self, conn: ConnId, group: &Group) -> bool {
        let Some(entry) = self.consumers.get_mut(group) else { return false };
        let was_there = entry.members.remove(&conn).is_some();
        if entry.members.is_empty() {
            self.consumers.remove(group);
            self.fingerprints.remove(group);
        }
        was_there
    }

    /// Tells every member that the group has changed, the one that changed it included.
    fn notify(&self, cx: &mut Context<'_>, group: &Group) {
        let Some(entry) = self.consumers.get(group) else { return };
        if cx.config.generation == Generation::V5 && entry.model == MessageModel::Broadcasting {
            return;
        }
        for conn in entry.members.keys() {
            let notice = Command::request(RequestCode::NOTIFY_CONSUMER_IDS_CHANGED)
                .with_header(&NotifyConsumerIdsChanged { group: group.clone(), broker: None })
                .one_way();
            cx.send(*conn, notice);
        }
    }
}

impl Member {
    /// The sender of a heartbeat.
    pub(crate) fn new(client: ClientId, request: &Command, remote: SocketAddr, now: Instant) -> Self {
        let (language, version) = (request.language, request.version);
        Self { client, language, version, remote, last_seen: now }
    }
}

impl ConsumerGroup {
    /// Makes the group's subscriptions those of this heartbeat. Gives whether a topic came or went: a newer version of
    /// one that stays replaces it silently, an older one is ignored.
    fn subscribe(&mut self, wanted: &[SubscriptionData], most: usize) -> bool {
        let wanted: BTreeMap<Topic, &SubscriptionData> =
            wanted.iter().map(|one| (one.subscription.topic.clone(), one)).take(most).collect();
        let before = self.subscriptions.len();
        self.subscriptions.retain(|topic, _| wanted.contains_key(topic));
        let mut changed = self.subscriptions.len() != before;
        for (topic, new) in wanted {
            match self.subscriptions.get_mut(&topic) {
                Some(old) if new.version > old.version => *old = new.clone(),
                Some(_) => {}
                None => {
                    self.subscriptions.insert(topic, new.clone());
                    changed = true;
                }
            }
        }
        self.subscription_bytes = self.subscriptions.values().map(size).sum();
        changed
    }
}

/// What a subscription takes, about.
fn size(data: &SubscriptionData) -> usize {
    let of = &data.subscription;
    let texts = of.topic.as_str().len() + of.sub_string.len() + of.expression_type.as_str().len();
    let tags = of.tags.iter().map(|tag| 24 + tag.len()).sum::<usize>();
    256 + texts + tags + 4 * of.codes.len()
}
