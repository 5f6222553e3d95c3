//! A small producer: enough to feed consumers in tests, tools and simple programs.

mod build;
mod outgoing;
mod routes;

pub use build::ProducerBuilder;
pub use outgoing::Outgoing;

use crate::client::{Client, NameServers};
use crate::clock;
use crate::error::{Error, Result};
use crate::identity::MessageIds;
use evenkeel_core::model::{BrokerName, Group, MessageQueue, Topic};
use evenkeel_core::wire::batch::encode_items;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::reply::{CallError, Reply};
use evenkeel_core::wire::request::{Request, Send};
use routes::{Route, Routes};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Brokers that are tried for one message.
const TRIES: usize = 3;

/// Sends messages. Cheap to clone; clones share connections and routes.
///
/// ```no_run
/// use evenkeel::{Outgoing, Producer};
///
/// # async fn run() -> evenkeel::Result<()> {
/// let producer = Producer::builder("order-service").name_servers_from_env().start()?;
/// let receipt = producer.send(Outgoing::new("orders", "hello").tag("paid").key("o-77")).await?;
/// println!("{} is in {} at {}", receipt.msg_id, receipt.queue, receipt.offset);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Producer {
    group: Group,
    namespace: String,
    timeout: Duration,
    client: Client,
    routes: Arc<Routes>,
    turn: Arc<AtomicUsize>,
    ids: Arc<MessageIds>,
}

/// A message that a broker has stored.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Receipt {
    /// The producer's id of the (first) message.
    pub msg_id: String,
    /// The broker's id, which says where it is stored; for a batch several with commas between.
    pub offset_id: String,
    /// The queue.
    pub queue: MessageQueue,
    /// Offset of the (first) message in it.
    pub offset: i64,
    /// Whether it is on disk and on the slave, as far as the broker was to wait for that.
    pub safe: bool,
}

impl Producer {
    /// Begins a producer of this group.
    pub fn builder(group: impl Into<Group>) -> ProducerBuilder {
        ProducerBuilder::new(group.into())
    }

    pub(crate) fn new(
        group: Group,
        namespace: String,
        timeout: Duration,
        servers: NameServers,
        client: Client,
        ids: MessageIds,
    ) -> Self {
        let routes = Arc::new(Routes::new(servers, timeout));
        let turn = Arc::new(AtomicUsize::new(clock::seed() as usize));
        Self { group, namespace, timeout, client, routes, turn, ids: Arc::new(ids) }
    }

    /// Sends one message and waits until a broker has stored it. If a broker fails, another one is tried, twice at most,
    /// so a message whose first answer was lost can be stored twice.
    ///
    /// # Errors
    /// No route, no broker, or the brokers refuse.
    pub async fn send(&self, message: Outgoing) -> Result<Receipt> {
        let message = message.within(&self.namespace);
        let (topic, wanted) = (message.topic.clone(), message.queue.clone());
        let (id, item) = message.into_item(&self.ids)?;
        let send = self.request(item.flag, item.properties.as_bytes(), item.body, false);
        self.store(&topic, wanted, id, send).await
    }

    /// Sends several messages of one topic as one: all are stored in one queue, or none.
    ///
    /// # Errors
    /// As [`Producer::send`]; or there is no message, or they are of several topics.
    pub async fn send_batch(&self, messages: Vec<Outgoing>) -> Result<Receipt> {
        let messages: Vec<_> = messages.into_iter().map(|message| message.within(&self.namespace)).collect();
        let Some(first) = messages.first() else {
            return Err(Error::config("a batch needs at least one message"));
        };
        let (topic, wanted) = (first.topic.clone(), first.queue.clone());
        if messages.iter().any(|message| message.topic != topic) {
            return Err(Error::config("all messages of a batch must be of one topic"));
        }
        let made: Vec<_> =
            messages.into_iter().map(|message| message.into_item(&self.ids)).collect::<Result<_>>()?;
        let id = made.first().map(|(id, _)| id.clone()).unwrap_or_default();
        let body = encode_items(made.iter().map(|(_, item)| item))
            .map_err(|error| Error::config(format!("batch: {error}")).with_source(error))?;
        self.store(&topic, wanted, id, self.request(0, &[], body.into(), true)).await
    }

    /// Sends one message and does not wait: it may be lost without a word.
    ///
    /// # Errors
    /// There is no route.
    pub async fn send_one_way(&self, message: Outgoing) -> Result<()> {
        let message = message.within(&self.namespace);
        let (topic, wanted) = (message.topic.clone(), message.queue.clone());
        let (_, item) = message.into_item(&self.ids)?;
        let send = self.request(item.flag, item.properties.as_bytes(), item.body, false);
        let route = self.routes.route(&topic).await?;
        let queue = self.choose(&topic, &route, wanted.as_ref(), None)?;
        let to = route.master(&queue.broker)?;
        let fired = self.client.fire(to, Request::Send(Send { queue, ..send })).await;
        fired.map_err(|error| Error::call("send", to.as_str(), error))
    }

    /// Writes what is queued and closes the connections, for this and all clones.
    pub async fn close(self) {
        self.client.close().await;
    }

    async fn store(
        &self,
        topic: &Topic,
        wanted: Option<Wanted>,
        msg_id: String,
        send: Send,
    ) -> Result<Receipt> {
        let mut failed: Option<(BrokerName, Error)> = None;
        for _ in 0..TRIES {
            let route = self.routes.route(topic).await?;
            let avoid = failed.as_ref().map(|(broker, _)| broker);
            let queue = self.choose(topic, &route, wanted.as_ref(), avoid)?;
            let to = route.master(&queue.broker)?;
            let request = Request::Send(Send { queue: queue.clone(), ..send.clone() });
            let error = match self.client.call(to, request, self.timeout).await {
                Ok(Reply::Sent(sent)) => {
                    let queue = MessageQueue { id: sent.queue_id, ..queue };
                    let (offset, safe) = (sent.queue_offset, sent.code == ResponseCode::SUCCESS);
                    return Ok(Receipt { msg_id, offset_id: sent.msg_id, queue, offset, safe });
                }
                Ok(other) => CallError::LinkLost { reason: format!("not an answer to a send: {other:?}") },
                Err(error) => error,
            };
            let again = worth_another_try(&error);
            let error = Error::call(&format!("send to {topic}"), to.as_str(), error);
            if !again {
                return Err(error);
            }
            self.routes.forget(topic);
            failed = Some((queue.broker, error));
        }
        Err(failed.map_or_else(|| Error::closed("the producer"), |(_, error)| error))
    }

    fn request(&self, flag: i32, properties: &[u8], body: bytes::Bytes, batch: bool) -> Send {
        Send {
            group: self.group.clone(),
            queue: MessageQueue::new("", "", 0),
            sys_flag: 0,
            born: clock::wall(),
            flag,
            properties: String::from_utf8_lossy(properties).into_owned(),
            reconsume_times: 0,
            max_reconsume_times: None,
            batch,
            body,
        }
    }

    /// The next queue in turn, of another broker than `avoid` if there is one.
    fn choose(
        &self,
        topic: &Topic,
        route: &Route,
        wanted: Option<&Wanted>,
        avoid: Option<&BrokerName>,
    ) -> Result<MessageQueue> {
        let fits = |queue: &&MessageQueue| match wanted {
            None => true,
            Some(Wanted { broker, id }) => {
                *id == queue.id && broker.as_ref().is_none_or(|name| *name == queue.broker)
            }
        };
        let mut open: Vec<&MessageQueue> = route.queues.iter().filter(fits).collect();
        if open.is_empty() {
            return Err(Error::config(match wanted {
                Some(wanted) => format!("topic {topic} has no writable queue {wanted}"),
                None => format!("topic {topic} has no writable queue"),
            })
            .with_hint("`evenkeel route TOPIC` shows the queues"));
        }
        let others: Vec<&MessageQueue> =
            open.iter().copied().filter(|queue| Some(&queue.broker) != avoid).collect();
        if !others.is_empty() {
            open = others;
        }
        let turn = self.turn.fetch_add(1, Ordering::Relaxed);
        Ok(open[turn % open.len()].clone())
    }
}

/// A queue that the user chose: on any broker, or on one.
#[derive(Clone, Debug)]
pub(crate) struct Wanted {
    broker: Option<BrokerName>,
    id: i32,
}

impl std::fmt::Display for Wanted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.broker {
            Some(broker) => write!(f, "{broker}/{}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

/// Whether another broker may succeed where this one failed.
fn worth_another_try(error: &CallError) -> bool {
    match error {
        // The broker is away, slow or broken, or has a certificate of its own.
        CallError::Expired { .. }
        | CallError::LinkLost { .. }
        | CallError::LinkRefused { .. }
        | CallError::Garbled(_) => true,
        // Busy, shutting down, or its view of the topic differs from the route we have.
        // The keys are the same everywhere.
        CallError::Refused(refusal)
            if refusal.code == ResponseCode::SYSTEM_ERROR && refusal.denies_access() =>
        {
            false
        }
        CallError::Refused(refusal) => matches!(
            refusal.code,
            ResponseCode::SYSTEM_ERROR
                | ResponseCode::SYSTEM_BUSY
                | ResponseCode::SERVICE_NOT_AVAILABLE
                | ResponseCode::TOPIC_NOT_EXIST
                | ResponseCode::NO_PERMISSION
        ),
        _ => false,
    }
}
