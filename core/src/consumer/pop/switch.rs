//! Switching a topic between pull and pop while it is being consumed.
//!
//! 1. The new mode arrives with an assignment. What must go goes at once: queues by their usual way out, with their last
//!    commit; entries as soon as their last pop is answered and all they held is settled.
//! 2. The new kind begins when nothing of the old kind is left of the topic, its retry topics included. So a member never
//!    pulls what it has popped, and pops from where its last commit says.
//! 3. Members hear of the switch at different times, up to one round apart. What one of them pulls while another one pops
//!    may come twice. Nothing is lost: offsets are only committed of what is done, and the broker keeps what is popped.
//! 4. Popped messages that nobody acknowledged wait in retry topics of their own (`%RETRY%group_topic`, or with `+`). Pops
//!    bring them along; while a topic is pulled, these topics are pulled, too (Java: only the first form).

use crate::consumer::Consumer;
use crate::model::Topic;
use crate::wire::subscription::Filter;
use alloc::vec::Vec;

impl Consumer {
    /// Whether queues of the topic may begin to be pulled: nothing of it is held from a pop.
    pub(in crate::consumer) fn may_pull(&self, topic: &Topic) -> bool {
        !self.pops.has(self.pops.base(topic))
    }

    /// Whether entries of the topic may begin to be popped: none of its queues is left, nor of its retry topics.
    pub(in crate::consumer) fn may_pop(&self, topic: &Topic) -> bool {
        !self.queues.lives.values().any(|life| self.pops.base(&life.queue.topic) == topic)
    }

    /// The topic is pulled now, or popped: its retry topics are consumed by themselves, or come along.
    pub(in crate::consumer) fn follow_mode(&mut self, topic: &Topic, popped: bool) {
        if topic.is_retry() {
            return;
        }
        for retry in
            [self.config.group.pop_retry_topic_v1(topic), self.config.group.pop_retry_topic_v2(topic)]
        {
            match (popped, self.subscriptions.contains_key(&retry)) {
                (true, true) => self.on_unsubscribe(&retry),
                (false, false) => {
                    // The filter of everything is always a legal expression.
                    let Ok(all) = Filter::All.subscribe(retry.clone()) else {
                        continue;
                    };
                    self.pops.retries.insert(retry, topic.clone());
                    self.on_subscribe(all);
                }
                _ => {}
            }
        }
    }

    /// The topic is not subscribed to any more, and so are its retry topics.
    pub(in crate::consumer) fn forget_pop_retries(&mut self, topic: &Topic) {
        let ours: Vec<Topic> = self
            .pops
            .retries
            .iter()
            .filter(|(_, base)| *base == topic)
            .map(|(retry, _)| retry.clone())
            .collect();
        for retry in ours {
            self.on_unsubscribe(&retry);
        }
    }
}
