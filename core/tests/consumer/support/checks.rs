//! Rules that hold in every test, whatever it is about.
//!
//! * One pull of a queue is in flight at most, across its lives. Only a queue that was lost and regained may have
//!   an old one besides.
//! * Deciding twice changes nothing ([`super::Rig::input`] gives an extra tick).
//! * The commit point of one life never falls, and no commit of a life lies below an earlier one.
//! * No pull, commit or send-back of a queue that is not ours; no delivery of one that is on its way out.
//! * Nothing of a topic is popped while a queue of it is ours, and the other way round.
//! * Not more deliveries than handlers.
//! * Orderly: one delivery of a queue at a time, and a lock for whatever is pulled or handed out.

use evenkeel_core::consumer::{Consumer, Event, Output};
use evenkeel_core::model::{CallId, MessageQueue, QueueEpoch};
use evenkeel_core::wire::request::Request;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
pub(crate) struct Checks {
    /// Pulls in flight of present tenancies.
    pulls: BTreeMap<MessageQueue, BTreeSet<CallId>>,
    /// Begun and not ended.
    alive: BTreeSet<MessageQueue>,
    /// Alive, but on its way out.
    revoked: BTreeSet<MessageQueue>,
    points: BTreeMap<MessageQueue, i64>,
    commits: BTreeMap<MessageQueue, i64>,
    pub(crate) concurrency: Option<usize>,
    /// One delivery of a queue at a time, under its lock, without gaps.
    pub(crate) orderly: bool,
}

impl Checks {
    pub(crate) fn output(&mut self, output: &Output) {
        match output {
            Output::Call { call, request, .. } => self.call(*call, request),
            // An operator may have any message consumed.
            Output::Deliver(delivery) if delivery.ticket.epoch == QueueEpoch::NONE => {}
            // What was popped is worked off, whoever pops next.
            Output::Deliver(delivery) if delivery.queue.id < 0 => {
                assert!(self.alive.contains(&delivery.queue), "delivery of {}", delivery.queue);
            }
            Output::Deliver(delivery) => {
                let queue = &delivery.queue;
                assert!(self.alive.contains(queue), "delivery of {queue}, which has not begun");
                assert!(!self.revoked.contains(queue), "delivery of {queue}, which is on its way out");
                let offsets = delivery.messages.iter().map(|message| message.queue_offset);
                assert!(offsets.is_sorted(), "a delivery of {queue} is out of order");
                assert!(!delivery.messages.is_empty(), "an empty delivery of {queue}");
            }
            Output::Event(event) => self.event(event),
            _ => {}
        }
    }

    fn call(&mut self, call: CallId, request: &Request) {
        match request {
            Request::Pull(pull) => {
                let queue = &pull.queue;
                let popped = self.alive.iter().find(|entry| entry.id < 0 && entry.topic == queue.topic);
                assert_eq!(popped, None, "pull of {queue}");
                assert!(self.alive.contains(queue), "pull of {queue}, which has not begun");
                assert!(!self.revoked.contains(queue), "pull of {queue}, which is on its way out");
                let pulls = self.pulls.entry(queue.clone()).or_default();
                pulls.insert(call);
                assert_eq!(pulls.len(), 1, "two pulls of {queue} are in flight");
                if let Some(commit) = pull.commit {
                    self.commit(&pull.queue, commit);
                }
            }
            Request::Pop(pop) => {
                let entry = &pop.queue;
                assert!(self.alive.contains(entry), "pop of {entry}, which has not begun");
                assert!(!self.revoked.contains(entry), "pop of {entry}, which is on its way out");
                let pulled = self.alive.iter().find(|queue| queue.id >= 0 && queue.topic == entry.topic);
                assert_eq!(pulled, None, "pop of {entry}");
            }
            Request::CommitOffset { queue, offset, .. } => {
                assert!(self.alive.contains(queue), "commit of {queue}, which is not ours");
                self.commit(queue, *offset);
            }
            _ => {}
        }
    }

    fn commit(&mut self, queue: &MessageQueue, offset: i64) {
        let last = self.commits.insert(queue.clone(), offset).unwrap_or(offset);
        assert!(last <= offset, "the commits of {queue} went back from {last} to {offset}");
    }

    fn event(&mut self, event: &Event) {
        match event {
            Event::QueueStarted { queue, .. } | Event::PopStarted { queue } => {
                self.alive.insert(queue.clone());
                self.revoked.remove(queue);
            }
            Event::QueueEnded { queue, .. } => {
                self.forget(queue);
                self.alive.remove(queue);
                self.revoked.remove(queue);
                self.pulls.remove(queue);
            }
            Event::OffsetReset { queue, .. } => self.forget(queue),
            Event::Rebalanced { gained, lost, .. } => {
                self.revoked.extend(lost.iter().cloned());
                // An entry that is regained goes on.
                self.revoked.retain(|entry| entry.id >= 0 || !gained.contains(entry));
            }
            _ => {}
        }
    }

    fn forget(&mut self, queue: &MessageQueue) {
        self.points.remove(queue);
        self.commits.remove(queue);
    }

    pub(crate) fn ended(&mut self, call: CallId) {
        for pulls in self.pulls.values_mut() {
            pulls.remove(&call);
        }
    }

    pub(crate) fn look_at(&mut self, consumer: &Consumer) {
        let snapshot = consumer.snapshot();
        for view in &snapshot.queues {
            let Some(point) = view.commit_point else { continue };
            let last = self.points.insert(view.queue.clone(), point).unwrap_or(point);
            assert!(last <= point, "the commit point of {} fell from {last} to {point}", view.queue);
        }
        if self.orderly {
            for view in &snapshot.queues {
                assert!(view.running <= 1, "{} deliveries of {} run", view.running, view.queue);
            }
        }
        if let Some(most) = self.concurrency {
            assert!(snapshot.delivered <= most, "{} deliveries for {most} handlers", snapshot.delivered);
        }
    }
}
