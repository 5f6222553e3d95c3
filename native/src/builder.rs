//! Builds consumers. What a consumer cannot do without is either in the type (a handler) or an error that names the
//! setting (a topic, a name server).

use crate::addresses;
use crate::assignment::Assignment;
use crate::claim::Claim;
use crate::clock::{self, Clock};
use crate::conn::Connections;
use crate::consumer::{Consumer, Control};
use crate::driver::Driver;
use crate::embedded::EmbeddedBroker;
use crate::error::{Error, Result};
use crate::filter;
use crate::handler::{
    Ack, Batch, BatchHandler, BatchResult, Context, Handler, HandlerResult, InOrder, OneByOne,
    OrderedHandler, OrderedResult, Whole, Work,
};
use crate::identity;
use crate::message::Message;
use crate::offset_file::OffsetStore;
use crate::opening::Opening;
use crate::security::Security;
use crate::settings::values::option_value;
#[cfg(feature = "tls")]
use crate::tls::Tls;
use crate::workers::Workers;
use evenkeel_core::allocate::{Allocate, Average, named};
use evenkeel_core::config::{ConsumerConfig, Limits, OPTIONS, OptionRow, RebalanceBy};
use evenkeel_core::consumer::{Consumer as Machine, Input};
use evenkeel_core::model::{Address, ClientId, Group, Topic};
use evenkeel_core::wire::acl::Credentials;
use evenkeel_core::wire::request::{ConsumeFrom, MessageModel as ConsumptionModel};
use evenkeel_core::wire::subscription::Subscription;
use std::fmt;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::{broadcast, mpsc, oneshot, watch};

/// Commands and arrivals that may wait for the driver.
const QUEUE: usize = 1024;
/// Events that a slow listener may be behind.
const EVENTS: usize = 4096;
/// As Java's `consumeTimeout`.
const HANDLER_TIMEOUT: Duration = Duration::from_secs(15 * 60);

/// A builder without a handler: it cannot start yet.
#[derive(Clone, Copy, Debug)]
pub struct NoHandler;

/// A builder with a handler.
#[derive(Clone)]
pub struct WithHandler {
    work: Arc<dyn Work>,
    batches: bool,
}

impl fmt::Debug for WithHandler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WithHandler").field("batches", &self.batches).finish_non_exhaustive()
    }
}

/// Collects the settings of a [`Consumer`]. The first wrong one is remembered and reported by `start`.
#[derive(Debug)]
#[must_use = "a builder does nothing before it is started"]
pub struct ConsumerBuilder<H> {
    group: Group,
    namespace: String,
    namespace_v2: Option<String>,
    name_servers: Vec<Address>,
    origin: String,
    subscriptions: Vec<Subscription>,
    client: Option<ClientId>,
    client_ip: Option<String>,
    instance: Option<String>,
    unit: Option<String>,
    strategy: Arc<dyn Allocate>,
    model: ConsumptionModel,
    offset_store: Option<OffsetStore>,
    orderly: bool,
    start_from: ConsumeFrom,
    limits: Limits,
    handler_timeout: Duration,
    security: Security,
    wrong: Option<Error>,
    handler: H,
}

impl ConsumerBuilder<NoHandler> {
    pub(crate) fn new(group: Group) -> Self {
        Self {
            group,
            namespace: String::new(),
            namespace_v2: None,
            name_servers: Vec::new(),
            origin: "builder".to_owned(),
            subscriptions: Vec::new(),
            client: None,
            client_ip: None,
            instance: None,
            unit: None,
            strategy: Arc::new(Average),
            model: ConsumptionModel::Clustering,
            offset_store: None,
            orderly: false,
            start_from: ConsumeFrom::default(),
            limits: Limits::default(),
            handler_timeout: HANDLER_TIMEOUT,
            security: Security::default(),
            wrong: None,
            handler: NoHandler,
        }
    }

    /// Consumes with this async closure, one message at a time.
    pub fn handler<F, R>(self, handler: F) -> ConsumerBuilder<WithHandler>
    where
        F: Fn(Message) -> R + Send + Sync + 'static,
        R: Future<Output = HandlerResult> + Send + 'static,
    {
        self.handler_with(move |message: Message, _context: Context| handler(message))
    }

    /// Consumes with this [`Handler`]: a closure of message and [`Context`], or a type of yours.
    pub fn handler_with(self, handler: impl Handler) -> ConsumerBuilder<WithHandler> {
        self.with(Arc::new(OneByOne(handler)), false)
    }

    /// Consumes with this blocking closure, one message at a time, on tokio's threads for blocking work.
    pub fn blocking_handler<F>(self, handler: F) -> ConsumerBuilder<WithHandler>
    where
        F: Fn(Message) -> HandlerResult + Send + Sync + 'static,
    {
        let handler = Arc::new(handler);
        self.handler(move |message| {
            let handler = Arc::clone(&handler);
            async move {
                match tokio::task::spawn_blocking(move || handler(message)).await {
                    Ok(result) => result,
                    Err(error) => match error.try_into_panic() {
                        Ok(panic) => std::panic::resume_unwind(panic),
                        Err(_cancelled) => Ok(Ack::RetryLater),
                    },
                }
            }
        })
    }

    /// Consumes with this async closure, up to `batch_max` messages of one queue at a time.
    pub fn batch_handler<F, R>(self, handler: F) -> ConsumerBuilder<WithHandler>
    where
        F: Fn(Batch) -> R + Send + Sync + 'static,
        R: Future<Output = BatchResult> + Send + 'static,
    {
        self.batch_handler_with(move |batch: Batch, _context: Context| handler(batch))
    }

    /// Consumes with this [`BatchHandler`]: a closure of batch and [`Context`], or a type of yours.
    pub fn batch_handler_with(self, handler: impl BatchHandler) -> ConsumerBuilder<WithHandler> {
        self.with(Arc::new(Whole(handler)), true)
    }

    /// Consumes in order with this async closure: one batch of a queue at a time, up to `batch_max` messages, under the
    /// broker's lock of the queue. All members of the group must be orderly.
    pub fn ordered_handler<F, R>(self, handler: F) -> ConsumerBuilder<WithHandler>
    where
        F: Fn(Batch) -> R + Send + Sync + 'static,
        R: Future<Output = OrderedResult> + Send + 'static,
    {
        self.ordered_handler_with(move |batch: Batch, _context: Context| handler(batch))
    }

    /// Consumes in order with this [`OrderedHandler`]: a closure of batch and [`Context`], or a type of yours.
    pub fn ordered_handler_with(self, handler: impl OrderedHandler) -> ConsumerBuilder<WithHandler> {
        self.orderly(true).with(Arc::new(InOrder(handler)), true)
    }

    fn with(self, work: Arc<dyn Work>, batches: bool) -> ConsumerBuilder<WithHandler> {
        ConsumerBuilder {
            group: self.group,
            namespace: self.namespace,
            namespace_v2: self.namespace_v2,
            name_servers: self.name_servers,
            origin: self.origin,
            subscriptions: self.subscriptions,
            client: self.client,
            client_ip: self.client_ip,
            instance: self.instance,
            unit: self.unit,
            strategy: self.strategy,
            model: self.model,
            offset_store: self.offset_store,
            orderly: self.orderly,
            start_from: self.start_from,
            limits: self.limits,
            handler_timeout: self.handler_timeout,
            security: self.security,
            wrong: self.wrong,
            handler: WithHandler { work, batches },
        }
    }
}

impl<H> ConsumerBuilder<H> {
    /// Name servers as `host:port`, several with `;` or `,` between.
    pub fn name_servers(self, list: &str) -> Self {
        self.name_servers_of(list, "builder")
    }

    /// The name server of an embedded broker. Unless [`ConsumerBuilder::offset_store`] says something else, a broadcasting
    /// consumer then keeps no offset file: the broker's queues begin anew with the broker.
    pub fn embedded(mut self, broker: &EmbeddedBroker) -> Self {
        self.offset_store.get_or_insert(OffsetStore::Memory);
        self.name_servers_of(&broker.name_server().to_string(), "embedded")
    }

    /// As [`ConsumerBuilder::name_servers`]; `origin` says in errors where the list was written.
    pub fn name_servers_of(mut self, list: &str, origin: &str) -> Self {
        origin.clone_into(&mut self.origin);
        match addresses::parse(list, origin) {
            Ok(list) => self.name_servers = list,
            Err(error) => self.wrong(error),
        }
        self
    }

    /// Name servers from `NAMESRV_ADDR`, or else `ROCKETMQ_NAMESRV_ADDR`.
    pub fn name_servers_from_env(mut self) -> Self {
        match addresses::from_env() {
            Ok(Some((list, variable))) => {
                self.name_servers = list;
                self.origin = format!("environment {variable}");
            }
            Ok(None) => self.wrong(
                Error::config("no name server: NAMESRV_ADDR is not set")
                    .with_hint("set it to host:port, several with ; between, such as mq-1:9876;mq-2:9876"),
            ),
            Err(error) => self.wrong(error),
        }
        self
    }

    /// Consumes a topic, all of it (`*`) or some tags of it (`paid || refunded`).
    pub fn subscribe(mut self, topic: impl Into<Topic>, expression: &str) -> Self {
        let made = filter::tags(&topic.into(), expression);
        self.add(made);
        self
    }

    /// A namespace: group and topics carry it as a prefix on the way to the servers (`ns%orders`), and handlers see topics
    /// without it. None unless set. Java: `setNamespace`.
    pub fn namespace(mut self, namespace: impl Into<String>) -> Self {
        self.namespace = namespace.into();
        self
    }

    /// A namespace of the second kind (5.x): every request names it in fields of its own, and group and topics stay as they
    /// are. Can be used together with [`namespace`](Self::namespace), which changes names. None unless set. Java:
    /// `setNamespaceV2`.
    pub fn namespace_v2(mut self, namespace: impl Into<String>) -> Self {
        self.namespace_v2 = Some(namespace.into());
        self
    }

    /// Consumes what of a topic meets an SQL-92 condition on its properties. The broker evaluates it, if it is told to
    /// (`enablePropertyFilter=true`).
    pub fn subscribe_sql(mut self, topic: impl Into<Topic>, condition: &str) -> Self {
        let made = filter::sql(&topic.into(), condition);
        self.add(made);
        self
    }

    /// The whole id of this member; it must be unique in the group.
    pub fn client_id(mut self, id: impl Into<ClientId>) -> Self {
        self.client = Some(id.into());
        self
    }

    /// The first part of the id, instead of the local address.
    pub fn client_ip(mut self, ip: impl Into<String>) -> Self {
        self.client_ip = Some(ip.into());
        self
    }

    /// The second part of the id, instead of process number and time. A name that a restarted pod keeps saves a
    /// rebalance that moves queues to and fro; it must be unique in the group.
    pub fn stable_instance(mut self, name: impl Into<String>) -> Self {
        self.instance = Some(name.into());
        self
    }

    /// The third part of the id.
    pub fn unit(mut self, name: impl Into<String>) -> Self {
        self.unit = Some(name.into());
        self
    }

    /// Whether heartbeats say that the group is one of a unit: a broker that makes its retry topic marks it so. Off unless
    /// set. Java: `setUnitMode`.
    pub fn unit_mode(self, on: bool) -> Self {
        self.set("unit_mode", i64::from(on))
    }

    /// How queues are shared out. All members of the group must use the same.
    pub fn strategy(mut self, strategy: impl Allocate + 'static) -> Self {
        self.strategy = Arc::new(strategy);
        self
    }

    /// As [`ConsumerBuilder::strategy`], by name: `avg`, `circle`, `hash`, `hash:N`, `draft`, or Java's names.
    pub fn strategy_named(mut self, name: &str) -> Self {
        match named(name) {
            Ok(strategy) => self.strategy = strategy,
            Err(error) => self.wrong(Error::config(error.to_string()).with_source(error)),
        }
        self
    }

    /// Whether the members of the group share the messages (the default), or each gets all of them.
    ///
    /// Broadcasting members keep their offsets in a file of their own ([`ConsumerBuilder::offset_store`]). Whatever a
    /// handler makes of a message, it does not come back to another member, nor later: one that fails is dropped, with
    /// [`Event::Dropped`](crate::Event::Dropped). (If the consumer is orderly it is tried again here, `max_retries` times.)
    ///
    /// The default client id is `ip@DEFAULT` then, as in Java, since the file's folder has its name. Several processes of
    /// one group on one machine need [`ConsumerBuilder::stable_instance`] names of their own.
    ///
    /// ```
    /// # #[tokio::main(flavor = "current_thread")]
    /// # async fn main() -> evenkeel::Result<()> {
    /// use evenkeel::{Ack, Consumer, ConsumptionModel, StartFrom};
    /// # let broker = evenkeel::embedded::EmbeddedBroker::builder().topic("prices", 1, 2).start().await?;
    ///
    /// let consumer = Consumer::builder("price-cache")
    ///     .embedded(&broker)
    ///     .consumption_model(ConsumptionModel::Broadcasting)
    ///     .subscribe("prices", "*")
    ///     .start_from(StartFrom::First)
    ///     .handler(|message| async move {
    ///         println!("{} bytes", message.body().len());
    ///         Ok(Ack::Done)
    ///     })
    ///     .start()
    ///     .await?;
    /// assert_eq!(consumer.assignment().len(), 2, "all queues, however many members there are");
    /// # Ok(())
    /// # }
    /// ```
    pub fn consumption_model(mut self, model: ConsumptionModel) -> Self {
        self.model = model;
        self
    }

    /// Where a broadcasting consumer keeps its offsets; in `~/.rocketmq_offsets` unless set. Others ignore it.
    pub fn offset_store(mut self, store: OffsetStore) -> Self {
        self.offset_store = Some(store);
        self
    }

    /// Where queues start that have no committed offset.
    pub fn start_from(mut self, from: ConsumeFrom) -> Self {
        self.start_from = from;
        self
    }

    /// Whether a queue's messages are handled one after the other, under the broker's lock of the queue. A handler that
    /// wants a message again then holds its queue up: the same message comes again after `orderly_pause`, before those
    /// behind it, and after `max_retries` tries (never, unless set) it goes to the dead-letter topic. All members of the
    /// group must agree. [`ConsumerBuilder::ordered_handler`] sets it.
    pub fn orderly(mut self, on: bool) -> Self {
        self.orderly = on;
        self
    }

    /// Whether a queue goes to its next owner under the broker's queue lock: off unless set. Then a member that joins,
    /// leaves or is replaced makes no message come twice, and a kill makes those come again that the dead member had not
    /// committed; its queues wait up to 60 s for its locks to lapse. A handler may hold up a queue that moves for
    /// `unlock_delay` (20 s); beyond that its message comes twice.
    ///
    /// All members of the group must run Evenkeel and have it on: where others are in the member list the start is
    /// refused (see the option `foreign_members`). Orderly consumers do it anyway; with broadcasting it is an error.
    pub fn exclusive_handover(self, on: bool) -> Self {
        self.set("exclusive_handover", i64::from(on))
    }

    /// Who shares the queues out: the members unless set. With the broker (5.x) the group follows an operator's
    /// `mqadmin setConsumeMode` to pop and back, while it runs; where a broker cannot, the members share as ever.
    pub fn rebalance_by(mut self, who: RebalanceBy) -> Self {
        self.limits.rebalance = who;
        self
    }

    /// Handlers that run at the same time, over all queues.
    pub fn concurrency(self, handlers: u32) -> Self {
        self.set("concurrency", i64::from(handlers))
    }

    /// Most messages in one call of a batch handler.
    pub fn batch_max(self, messages: u32) -> Self {
        self.set("batch_max", i64::from(messages))
    }

    /// Tries after the first one before a message goes to the dead-letter topic.
    pub fn max_retries(self, tries: u32) -> Self {
        self.set("max_retries", i64::from(tries))
    }

    /// How long [`Consumer::run_until`] and [`Control::stop`] wait for running handlers.
    pub fn drain_timeout(self, time: Duration) -> Self {
        self.set("drain_timeout", i64::try_from(time.as_millis()).unwrap_or(i64::MAX))
    }

    /// How long a handler may take before it is broken off and its messages come again; 15 minutes unless set.
    pub fn handler_timeout(mut self, time: Duration) -> Self {
        self.handler_timeout = time;
        self
    }

    /// Signs every request with this key, for servers with access control.
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.security = self.security.credentials(credentials);
        self
    }

    /// Encrypts every connection like this; plain unless set.
    #[cfg(feature = "tls")]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.security = self.security.tls(tls);
        self
    }

    /// How connections are secured, all of it at once.
    pub fn security(mut self, security: Security) -> Self {
        self.security = security;
        self
    }

    /// Any option of [`OPTIONS`] by its own or Java's name, with a value as users write it: `32`, `30s`, `100MiB`.
    pub fn option(mut self, name: &str, value: &str) -> Self {
        let set = option_value(name, value).and_then(|(row, value)| Ok(row.set(&mut self.limits, value)?));
        if let Err(error) = set {
            self.wrong(error);
        }
        self
    }

    /// All numeric options at once.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    fn set(mut self, name: &str, value: i64) -> Self {
        debug_assert!(OPTIONS.iter().any(|row| row.name == name), "typed setters name options of the table");
        if let Some(Err(error)) = OptionRow::find(name).map(|row| row.set(&mut self.limits, value)) {
            self.wrong(error.into());
        }
        self
    }

    fn add(&mut self, made: Result<Subscription>) {
        match made {
            Ok(subscription) => {
                self.subscriptions.retain(|other| other.topic != subscription.topic);
                self.subscriptions.push(subscription);
            }
            Err(error) => self.wrong(error),
        }
    }

    fn wrong(&mut self, error: Error) {
        self.wrong.get_or_insert(error);
    }
}

impl ConsumerBuilder<WithHandler> {
    /// Starts the consumer. Returns after the first assignment was tried.
    ///
    /// # Errors
    /// A setting is wrong; no name server can be reached; a topic is not known; the broker refuses. The text says what
    /// was tried and what to do.
    pub async fn start(self) -> Result<Consumer> {
        if let Some(error) = self.wrong {
            return Err(error);
        }
        if !self.handler.batches && self.limits.batch_max > 1 {
            return Err(Error::config("batch_max is above 1, but the handler takes one message at a time")
                .with_hint("use batch_handler, or leave batch_max at 1"));
        }
        let ip = self.client_ip.unwrap_or_else(|| identity::local_ip(&self.name_servers).to_string());
        let broadcasting = self.model == ConsumptionModel::Broadcasting;
        let make_id = || match broadcasting {
            true => identity::stable_client_id(&ip, self.instance.as_deref(), self.unit.as_deref()),
            false => identity::client_id(&ip, self.instance.as_deref(), self.unit.as_deref()),
        };
        let config = ConsumerConfig {
            group: self.group,
            namespace: self.namespace,
            client: self.client.unwrap_or_else(make_id),
            name_servers: self.name_servers,
            subscriptions: self.subscriptions,
            strategy: self.strategy,
            model: self.model,
            orderly: self.orderly,
            start_from: self.start_from,
            limits: self.limits,
        }
        .within_namespace();
        let clock = Clock::start();
        let opening = Opening::new(clock.now(), &config.name_servers, self.origin);
        let (client, drain) = (config.client.clone(), config.limits.drain_timeout);
        let group = config.group.clone();
        let concurrency = config.limits.concurrency as usize;
        config.validate()?;
        let claim = Claim::take(&config.name_servers, &config.group, &config.client)?;
        let store = self.offset_store.unwrap_or_default();
        let local = if broadcasting { store.open(&config.client, &config.group)? } else { None };
        let mut machine = Machine::new(config, clock::seed(), clock.now())?;
        let offset_file = local.map(|(file, offsets)| {
            machine.handle(clock.now(), Input::LocalOffsets(offsets));
            file
        });

        let security = match &self.namespace_v2 {
            Some(namespace) => self.security.namespace_v2(namespace),
            None => self.security,
        };
        let (commands, command_queue) = mpsc::channel(QUEUE);
        let (arrive, arrivals) = mpsc::channel(QUEUE);
        let (events, first_events) = broadcast::channel(EVENTS);
        let (assign, assignment) = watch::channel(Assignment::default());
        let (opened, open) = oneshot::channel();
        let control = Control { group: group.clone(), client, drain, commands };
        let driver = Driver {
            machine,
            claim,
            group,
            clock,
            commands: command_queue,
            arrivals,
            connections: Connections::new(clock, security, arrive),
            offset_file,
            workers: Workers::new(self.handler.work, concurrency, self.handler_timeout),
            control: control.clone(),
            events: events.clone(),
            assignment: assign,
            opening: Some((opening, opened)),
        };
        let task = tokio::spawn(driver.run());
        // Whoever stops waiting here drops the handle, and with it the consumer.
        let consumer = Consumer::new(control, (events, first_events), assignment, task.abort_handle());
        match open.await.unwrap_or_else(|_gone| Err(Error::closed("the consumer"))) {
            Ok(()) => Ok(consumer),
            Err(error) => {
                // The member is out of its group when the caller hears of it, and can be started again.
                consumer.shutdown(Duration::ZERO).await;
                Err(error)
            }
        }
    }
}
