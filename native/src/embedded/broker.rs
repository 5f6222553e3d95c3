//! One broker: its tables, and which handler a request goes to.

use super::assignment::Modes;
use super::config::{BrokerSpec, Config, Generation, LONGEST_NAME};
use super::context::Context;
use super::delay::Delay;
use super::groups::{Groups, Member};
use super::locks::Locks;
use super::log::Log;
use super::offsets::Offsets;
use super::output::ConnId;
use super::pop::HeldPops;
use super::popped::Popped;
use super::pull::Held;
use super::request::{Handled, Refusal, body, header, success};
use super::settings::Settings;
use super::topics::Topics;
use evenkeel_core::model::{Address, BrokerName, Group};
use evenkeel_core::time::Instant;
use evenkeel_core::wire::bodies::{Announcement, Body, GroupConfig, Members};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::consume::{GetConsumerList, UnregisterClient};
use evenkeel_core::wire::message::Host;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// The state of one broker.
#[derive(Debug)]
pub(crate) struct Broker {
    pub(crate) name: BrokerName,
    pub(crate) address: Address,
    pub(crate) cluster: String,
    /// Whether it answers and stands in routes.
    pub(crate) up: bool,
    pub(crate) topics: Topics,
    pub(crate) settings: Settings,
    pub(crate) groups: Groups,
    pub(crate) locks: Locks,
    pub(crate) offsets: Offsets,
    pub(crate) log: Log,
    pub(crate) delay: Delay,
    pub(crate) held: Held,
    pub(crate) modes: Modes,
    pub(crate) held_pops: HeldPops,
    pub(crate) popped: Popped,
}

impl Broker {
    /// The broker with this index, as configured.
    pub(crate) fn new(config: &Config, index: usize, spec: &BrokerSpec) -> Self {
        Self {
            name: spec.name.clone(),
            address: spec.address.clone(),
            cluster: config.cluster.clone(),
            up: true,
            topics: Topics::new(config, index),
            settings: Settings::default(),
            groups: Groups::default(),
            locks: Locks::default(),
            offsets: Offsets::default(),
            log: Log::new(store_host(&spec.address), config.limits.log_bytes),
            delay: Delay::default(),
            held: Held::default(),
            modes: Modes::default(),
            held_pops: HeldPops::default(),
            popped: Popped::default(),
        }
    }

    /// Answers a request, or keeps it for later. Requests that are relayed to members, and those that need to
    /// know the other brokers, are not for here.
    pub(crate) fn handle(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        remote: SocketAddr,
        request: &Command,
    ) -> Handled {
        // 4.9 does not know these requests.
        let pops = cx.config.generation == Generation::V5;
        match request.request_code() {
            RequestCode::SEND_MESSAGE | RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_BATCH_MESSAGE => {
                self.send(cx, remote, request)
            }
            RequestCode::PULL_MESSAGE | RequestCode::LITE_PULL_MESSAGE => self.pull(cx, conn, request, true),
            RequestCode::QUERY_CONSUMER_OFFSET => self.query_offset(cx, request),
            RequestCode::UPDATE_CONSUMER_OFFSET => self.commit_offset(cx, request),
            RequestCode::GET_MAX_OFFSET => self.max_offset(request),
            RequestCode::GET_MIN_OFFSET => self.min_offset(request),
            RequestCode::SEARCH_OFFSET_BY_TIMESTAMP => self.offset_at(request),
            RequestCode::HEART_BEAT => self.heartbeat(cx, conn, remote, request),
            RequestCode::UNREGISTER_CLIENT => self.unregister(cx, conn, request),
            RequestCode::GET_CONSUMER_LIST_BY_GROUP => self.member_list(request),
            RequestCode::CONSUMER_SEND_MSG_BACK => self.send_back(cx, request),
            RequestCode::LOCK_BATCH_MQ => self.locks.lock(cx, request),
            RequestCode::UNLOCK_BATCH_MQ => self.locks.unlock(cx, request),
            RequestCode::CHECK_CLIENT_CONFIG => self.check_client(cx, request),
            RequestCode::UPDATE_AND_CREATE_TOPIC => self.topics.update(request),
            RequestCode::GET_TOPIC_CONFIG => self.topics.show(request),
            RequestCode::UPDATE_AND_CREATE_SUBSCRIPTIONGROUP => self.settings.update(cx, request),
            RequestCode::GET_ALL_SUBSCRIPTIONGROUP_CONFIG => self.settings.list(cx, request),
            RequestCode::SET_MESSAGE_REQUEST_MODE if pops => self.set_mode(cx, request),
            RequestCode::POP_MESSAGE if pops => self.pop(cx, conn, request),
            RequestCode::ACK_MESSAGE if pops => self.ack(request),
            RequestCode::BATCH_ACK_MESSAGE if pops => self.batch_ack(cx, request),
            RequestCode::CHANGE_MESSAGE_INVISIBLETIME if pops => self.change_invisible(cx, request),
            _ => self.admin(cx, request),
        }
    }

    /// A connection is gone.
    pub(crate) fn disconnected(&mut self, cx: &mut Context<'_>, conn: ConnId) {
        self.held.disconnected(conn);
        self.held_pops.disconnected(conn);
        self.groups.disconnected(cx, conn);
    }

    /// Does what is due.
    pub(crate) fn tick(&mut self, cx: &mut Context<'_>) {
        self.deliver_delayed(cx);
        self.revive_popped(cx);
        self.sweep_held(cx);
        self.sweep_pops(cx);
        self.groups.tick(cx);
    }

    /// When [`Self::tick`] has something to do.
    pub(crate) fn wake(&self) -> Option<Instant> {
        let pops = [self.popped.wake(), self.held_pops.wake()];
        let others = [self.delay.wake(), self.held.wake(), self.groups.wake()];
        others.into_iter().chain(pops).flatten().min()
    }

    /// Request 35.
    fn unregister(&mut self, cx: &mut Context<'_>, conn: ConnId, request: &Command) -> Handled {
        let leaving: UnregisterClient = header(request, &[("clientID", "")])?;
        if let Some(group) = leaving.producer_group {
            self.groups.unregister_producer(conn, &group);
        }
        if let Some(group) = leaving.consumer_group {
            let notify = self.notifies(&group);
            self.groups.unregister(cx, conn, &group, notify);
        }
        Ok(Some(success(request)))
    }

    /// Request 34.
    fn heartbeat(
        &mut self,
        cx: &mut Context<'_>,
        conn: ConnId,
        remote: SocketAddr,
        request: &Command,
    ) -> Handled {
        let heartbeat: Announcement = body(request, cx.config.limits.json)?;
        if heartbeat.client.as_str().len() > LONGEST_NAME {
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, "the client id is too long"));
        }
        let member = Member::new(heartbeat.client.clone(), request, remote, cx.now);
        let mut resend = heartbeat.fingerprint == 0;
        for data in &heartbeat.consumers {
            let group = &data.group;
            let settings = self.settings.ensure(cx.config, group);
            if settings.is_err() && cx.config.generation == Generation::V5 {
                continue; // 4.9 lets it in without settings
            }
            let settings = settings.unwrap_or_else(|_| GroupConfig::new(group.clone()));
            // Without room for a retry topic the group consumes without retries.
            let _ = self.topics.ensure_retry(&group.retry_topic(), settings.retry_queues, data.unit_mode);
            let notify = settings.notify_changes;
            self.groups.register(cx, conn, member.clone(), data, &heartbeat, notify);
            if heartbeat.fingerprint != 0 {
                resend |= self.groups.fingerprint(group, heartbeat.fingerprint);
            }
        }
        for producer in &heartbeat.producers {
            self.groups.register_producer(cx, conn, member.clone(), producer);
        }
        let mut answer = success(request);
        if cx.config.generation == Generation::V5 {
            answer = answer.with_field("IS_SUPPORT_HEART_BEAT_V2", true).with_field("IS_SUB_CHANGE", resend);
        }
        Ok(Some(answer))
    }

    /// Request 38.
    fn member_list(&self, request: &Command) -> Handled {
        let GetConsumerList { group, .. } = header(request, &[])?;
        let Some(entry) = self.groups.find(&group) else {
            let remark = format!("group {group} has no members here");
            return Err(Refusal::new(ResponseCode::SYSTEM_ERROR, remark));
        };
        let members = Members(entry.members.values().map(|member| member.client.clone()).collect());
        Ok(Some(success(request).with_body(members.encode())))
    }

    /// Whether changes of the group are told to its members on request.
    fn notifies(&self, group: &Group) -> bool {
        self.settings.find(group).is_none_or(|settings| settings.notify_changes)
    }
}

/// The address that messages carry: a host name cannot stand there, so it becomes the loopback.
fn store_host(address: &Address) -> Host {
    match address.as_str().parse::<SocketAddr>() {
        Ok(address) => Host::new(address.ip(), address.port()),
        Err(_) => {
            let port = address.as_str().rsplit_once(':').and_then(|(_, port)| port.parse().ok());
            Host::new(IpAddr::V4(Ipv4Addr::LOCALHOST), port.unwrap_or(0))
        }
    }
}
