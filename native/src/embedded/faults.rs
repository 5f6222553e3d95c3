//! Faults on purpose: ordered rules, each with a verdict on the requests it matches. Pure, so that simulations use the
//! same ones as socket tests.

use super::output::Endpoint;
use super::request::body;
use bytes::Bytes;
use evenkeel_core::rng::Rng;
use evenkeel_core::time::Duration;
use evenkeel_core::wire::bodies::QueueSet;
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::Command;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Largest lock body that is searched for a group or topic.
const LOCK_BODY: usize = 1 << 20;

/// What happens to a request that a [`Rule`] matches.
///
/// Requests that a broker sends to its clients (`NOTIFY_CONSUMER_IDS_CHANGED` and the like) can be matched, too;
/// for them only [`Drop`](Verdict::Drop), [`Delay`](Verdict::Delay) and
/// [`CloseConnection`](Verdict::CloseConnection) mean something, and any other verdict counts as `Drop`.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Verdict {
    /// It is not carried out and answered with this code and remark.
    Fail {
        /// The code.
        code: ResponseCode,
        /// The remark.
        remark: String,
    },
    /// It is not carried out and never answered.
    Drop,
    /// It arrives later.
    Delay(Duration),
    /// It is carried out at once, and answered later.
    DelayAnswer(Duration),
    /// It is carried out and never answered: to the client it looks as if it had been lost.
    LoseAnswer,
    /// It is not carried out, and the connection is closed.
    CloseConnection,
    /// It is carried out, and the answer's body replaced by these bytes.
    Garble(Bytes),
    /// It is not carried out; this is the answer, under the request's opaque.
    AnswerWith(Command),
    /// It is carried out as if there were no rules. Put before a wider rule, this makes exceptions from it.
    Pass,
}

/// Which requests a verdict is for. All conditions must hold; the first rule that matches decides.
#[derive(Clone, Debug)]
pub struct Rule {
    verdict: Verdict,
    code: Option<RequestCode>,
    endpoint: Option<Endpoint>,
    topic: Option<String>,
    queue: Option<i32>,
    group: Option<String>,
    per_mille: u64,
    skip: u64,
    times: Option<u64>,
}

impl Rule {
    /// A verdict on all requests with this code.
    pub fn on(code: RequestCode, verdict: Verdict) -> Self {
        Self { code: Some(code), ..Self::any(verdict) }
    }

    /// A verdict on all requests.
    pub fn any(verdict: Verdict) -> Self {
        Self {
            verdict,
            code: None,
            endpoint: None,
            topic: None,
            queue: None,
            group: None,
            per_mille: 1000,
            skip: 0,
            times: None,
        }
    }

    /// Only on requests that came in here.
    #[must_use]
    pub fn at(self, endpoint: Endpoint) -> Self {
        Self { endpoint: Some(endpoint), ..self }
    }

    /// Only on requests about this topic. A lock request is about the topics of all its queues.
    #[must_use]
    pub fn topic(self, topic: impl Into<String>) -> Self {
        Self { topic: Some(topic.into()), ..self }
    }

    /// Only on requests about the queue with this number.
    #[must_use]
    pub fn queue(self, queue: i32) -> Self {
        Self { queue: Some(queue), ..self }
    }

    /// Only on requests of this group.
    #[must_use]
    pub fn group(self, group: impl Into<String>) -> Self {
        Self { group: Some(group.into()), ..self }
    }

    /// Only on so many of a thousand, chosen by the machine's generator.
    #[must_use]
    pub fn per_mille(self, per_mille: u64) -> Self {
        Self { per_mille, ..self }
    }

    /// Not on the first `skip` requests that match.
    #[must_use]
    pub fn after(self, skip: u64) -> Self {
        Self { skip, ..self }
    }

    /// Only on the first `times` requests that match (behind those skipped).
    #[must_use]
    pub fn times(self, times: u64) -> Self {
        Self { times: Some(times), ..self }
    }

    fn matches(&self, endpoint: Endpoint, request: &Command) -> bool {
        self.code.is_none_or(|code| code == request.request_code())
            && self.endpoint.is_none_or(|wanted| wanted == endpoint)
            && self.matches_subject(request)
    }

    fn matches_subject(&self, request: &Command) -> bool {
        if self.topic.is_none() && self.queue.is_none() && self.group.is_none() {
            return true;
        }
        match request.request_code() {
            RequestCode::LOCK_BATCH_MQ | RequestCode::UNLOCK_BATCH_MQ => {
                body(request, LOCK_BODY).is_ok_and(|set| self.matches_locks(&set))
            }
            RequestCode::SEND_MESSAGE_V2 | RequestCode::SEND_BATCH_MESSAGE => {
                self.matches_names(request, "b", "e", &["a"])
            }
            _ => {
                self.matches_names(request, "topic", "queueId", &["consumerGroup", "group", "producerGroup"])
            }
        }
    }

    fn matches_names(&self, request: &Command, topic: &str, queue: &str, groups: &[&str]) -> bool {
        let is = |name: &str, wanted: &str| request.fields.get(name) == Some(wanted);
        self.topic.as_ref().is_none_or(|wanted| is(topic, wanted))
            && self.queue.is_none_or(|wanted| is(queue, &wanted.to_string()))
            && self.group.as_ref().is_none_or(|wanted| groups.iter().any(|name| is(name, wanted)))
    }

    fn matches_locks(&self, set: &QueueSet) -> bool {
        self.group.as_ref().is_none_or(|wanted| set.group.as_str() == wanted)
            && self
                .topic
                .as_ref()
                .is_none_or(|wanted| set.queues.iter().any(|queue| queue.topic.as_str() == wanted))
            && self.queue.is_none_or(|wanted| set.queues.iter().any(|queue| queue.id == wanted))
    }
}

/// Names an installed rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FaultId(u64);

/// An installed rule. It ends when this is dropped, unless it was [kept](Self::keep).
#[derive(Debug)]
#[must_use = "the rule ends when this is dropped"]
pub struct FaultGuard {
    id: FaultId,
    shared: Arc<Shared>,
    kept: bool,
}

#[derive(Debug, Default)]
struct Shared {
    removed: AtomicBool,
    hits: AtomicU64,
}

impl FaultGuard {
    /// The rule's name, for [`Faults::remove`].
    pub fn id(&self) -> FaultId {
        self.id
    }

    /// How often the rule has decided.
    pub fn hits(&self) -> u64 {
        self.shared.hits.load(Ordering::Acquire)
    }

    /// Leaves the rule in force until it is removed by name.
    pub fn keep(mut self) -> FaultId {
        self.kept = true;
        self.id
    }
}

impl Drop for FaultGuard {
    fn drop(&mut self) {
        if !self.kept {
            self.shared.removed.store(true, Ordering::Release);
        }
    }
}

/// The rules in force, in the order they were installed.
#[derive(Debug, Default)]
pub struct Faults {
    rules: Vec<Installed>,
    count: u64,
}

#[derive(Debug)]
struct Installed {
    id: FaultId,
    rule: Rule,
    seen: u64,
    shared: Arc<Shared>,
}

impl Faults {
    /// Puts a rule behind those in force.
    pub fn install(&mut self, rule: Rule) -> FaultGuard {
        self.count += 1;
        let (id, shared) = (FaultId(self.count), Arc::<Shared>::default());
        self.rules.push(Installed { id, rule, seen: 0, shared: shared.clone() });
        FaultGuard { id, shared, kept: false }
    }

    /// Ends a rule; false if it has ended before.
    pub fn remove(&mut self, id: FaultId) -> bool {
        let before = self.rules.len();
        self.rules.retain(|installed| installed.id != id);
        self.rules.len() != before
    }

    /// Ends all rules.
    pub fn clear(&mut self) {
        self.rules.clear();
    }

    /// The verdict on a request, [`Verdict::Pass`] if no rule matches.
    pub(crate) fn judge(&mut self, rng: &mut Rng, endpoint: Endpoint, request: &Command) -> Verdict {
        self.rules.retain(|installed| !installed.shared.removed.load(Ordering::Acquire));
        for installed in &mut self.rules {
            let rule = &installed.rule;
            if !rule.matches(endpoint, request) || (rule.per_mille < 1000 && !rng.chance(rule.per_mille)) {
                continue;
            }
            installed.seen += 1;
            let end = rule.times.map(|times| rule.skip.saturating_add(times));
            if installed.seen > rule.skip && end.is_none_or(|end| installed.seen <= end) {
                installed.shared.hits.fetch_add(1, Ordering::AcqRel);
                return rule.verdict.clone();
            }
        }
        Verdict::Pass
    }
}
