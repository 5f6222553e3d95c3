//! `evenkeel consume`: a real push consumer.

mod end;
mod exec;
mod feed;
mod format;
mod lines;
mod listen;
mod sink;

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use super::output::{self, Format};
use super::signals::Signals;
use super::strategy::strategy;
pub(super) use feed::stdin_lines;

use clap::{Args, ValueEnum};
use evenkeel::settings::values::{duration, start_from};
use evenkeel::settings::{Settings, Subscribe};
use evenkeel::{
    Consumer, ConsumerBuilder, ConsumptionModel, NoHandler, OffsetStore, ShutdownReport, WithHandler,
};
use format::Template;
use listen::Listening;
use sink::{Sink, Stop};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// Options of `consume`.
#[derive(Args, Debug)]
pub(crate) struct Options {
    /// Topics
    #[arg(short, long, value_name = "TOPIC")]
    topic: Vec<String>,
    /// Consumer group
    #[arg(short, long)]
    group: Option<String>,
    /// Tags, as in 'paid || refunded'
    #[arg(long, value_name = "EXPR", conflicts_with = "sql")]
    tag: Option<String>,
    /// SQL-92 condition on properties, if the broker evaluates them
    #[arg(long, value_name = "EXPR")]
    sql: Option<String>,
    /// The messages of a queue one after the other, under its lock; all members of the group must say so
    #[arg(long)]
    orderly: bool,
    /// Queues change hands under their locks, so that nothing is delivered twice; all members must say so
    #[arg(long)]
    exclusive_handover: bool,
    /// Every member gets every message, and keeps its own offsets
    #[arg(long)]
    broadcast: bool,
    /// Where a broadcasting member keeps its offsets [default: ~/.rocketmq_offsets]
    #[arg(long, value_name = "DIR")]
    offset_dir: Option<String>,
    /// Where queues without a committed offset start: last, first, or a time
    #[arg(long, value_name = "last|first|TIME")]
    from: Option<String>,
    /// How queues are shared out: avg, circle, hash[:N], rooms:FILE, config:FILE (TOML, see the README)
    #[arg(long)]
    strategy: Option<String>,
    /// This member's id; must be unique in the group
    #[arg(long, value_name = "ID")]
    client_id: Option<String>,
    /// Messages worked on at the same time
    #[arg(long, value_name = "N")]
    concurrency: Option<String>,
    /// Messages taken at once
    #[arg(long, value_name = "N")]
    batch: Option<String>,
    /// Stop after so many messages
    #[arg(long, value_name = "N")]
    count: Option<u64>,
    /// Stop when the queues of this member are read to their present end
    #[arg(short, long)]
    exit_at_end: bool,
    /// How a message is printed: %t topic %b broker %q queue %o offset %i id %k keys %g tag %T store time %r retries
    /// %s body %S body length %h properties, \n \t
    #[arg(short, long, value_name = "FORMAT")]
    format: Option<String>,
    /// Tell of rebalances, failures and the end as well
    #[arg(long)]
    events: bool,
    /// Run this for each message: the body on stdin, the rest in RMQ_… variables; 0 done, 75 again later, else failed
    #[arg(long, value_name = "CMD")]
    exec: Option<String>,
    /// What a failed message means
    #[arg(long, value_name = "WHAT", default_value = "retry")]
    on_error: OnError,
    /// How long running handlers may take at the end
    #[arg(long, value_name = "TIME", value_parser = duration)]
    drain_timeout: Option<Duration>,
    /// Serve /livez, /readyz, /metrics and /assignment there; :PORT is the loopback, port 0 a free port
    #[arg(long, value_name = "[HOST]:PORT")]
    listen: Option<String>,
    /// Make each line of stdin a message first (embedded broker only)
    #[arg(long)]
    send_stdin: bool,
}

/// What becomes of a message whose handler failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum OnError {
    /// It comes again later
    Retry,
    /// It counts as done
    Skip,
    /// The consumer stops (exit code 8); the message stays undone
    Stop,
}

/// Runs the command.
pub(crate) async fn run(global: &Global, options: Options) -> Result<Code, Failure> {
    let settings = settings(global, &options)?;
    let group = settings.text("consumer.group").ok_or_else(|| {
        Failure::usage("no consumer group")
            .with_hint("say -g GROUP, or set consumer.group in the config file")
    })?;
    let subscriptions = options.subscriptions(&settings)?;
    let template =
        Template::parse(options.format.as_deref().unwrap_or(format::DEFAULT)).map_err(Failure::usage)?;
    let mut signals = Signals::listen();
    let topics: Vec<String> =
        subscriptions.iter().map(|subscribe| settings.outside(&subscribe.topic)).collect();
    let cluster = Cluster::choose(global, &settings, &topics).await?;
    if options.send_stdin && cluster.embedded().is_none() {
        return Err(
            Failure::usage("--send-stdin is for the embedded broker only").with_hint("use `evenkeel send`")
        );
    }
    let listening = Listening::open(global, options.listen.as_deref(), &cluster.name()).await?;
    if global.format().is_json() {
        output::json(&lines::start(&cluster.name(), group, &topics, listening.address()))?;
    } else if global.format() == Format::Csv {
        output::line(lines::CSV_HEAD)?;
    }

    let (stop, mut stops) = mpsc::unbounded_channel();
    let sink = Arc::new(Sink::new(global, &options, template, stop));
    let builder = with_settings(Consumer::builder(group), &settings, &cluster)?.orderly(options.orderly);
    let builder = subscriptions.iter().fold(builder, |builder, subscribe| match subscribe {
        Subscribe { topic, sql: Some(sql), .. } => builder.subscribe_sql(topic.as_str(), sql),
        Subscribe { topic, tag, .. } => builder.subscribe(topic.as_str(), tag.as_deref().unwrap_or("*")),
    });
    let starting = with_sink(builder, &sink, options.batch.is_some()).start();
    let consumer = tokio::select! {
        started = starting => started?,
        (_, code) = signals.next() => return Ok(code),
    };
    listening.show(&consumer);
    let mut told = consumer.events();
    let events = (options.events, global.format());
    let telling = tokio::spawn(async move {
        while let Some(event) = told.next().await {
            if events.0 && lines::event(&event, events.1).is_err() {
                return;
            }
        }
    });

    let queues = consumer.assignment().len();
    let cause = tokio::select! {
        (name, _) = signals.next() => Stop::Signal(name),
        Some(stop) = stops.recv() => stop,
        stop = end::wait(&consumer, &cluster, &topics, &options) => stop?,
        () = toggle_quiet(&consumer) => Stop::Broken,
        () = tokio::time::sleep(global.timeout.unwrap_or_default()), if global.timeout.is_some() => Stop::TimedOut,
    };
    let drain = options.drain_timeout.unwrap_or_else(|| drain_timeout(&settings));
    let report = tokio::select! {
        report = consumer.shutdown(drain) => report,
        (_, code) = signals.next() => return Ok(code),
    };
    // The consumer was the last to hold the events, so this ends.
    let _ = telling.await;
    cluster.close().await;
    close(global, &options, &sink, queues.max(report.committed.len().min(queues)), &cause, &report)
}

/// The last words and the exit code.
fn close(
    global: &Global,
    options: &Options,
    sink: &Sink,
    queues: usize,
    cause: &Stop,
    report: &ShutdownReport,
) -> Result<Code, Failure> {
    if options.events && global.format().is_json() {
        output::json(&lines::shutdown(cause.name(), report))?;
    }
    let millis = report.elapsed.as_millis();
    global.say(&format!("evenkeel: {} messages, {queues} queues, drained in {millis} ms", sink.count()));
    if report.abandoned > 0 {
        eprintln!(
            "evenkeel: {} handlers still ran at the drain deadline; {} messages were handed back",
            report.abandoned, report.handed_back
        );
        return Ok(Code::DrainDeadline);
    }
    match cause {
        Stop::HandlerFailed(text) => {
            Err(Failure::new(Code::HandlerFailed, format!("a handler failed: {text}"))
                .with_hint("--on-error retry goes on and lets the message come again"))
        }
        Stop::TimedOut => Err(Failure::new(Code::TimedOut, "--timeout passed")),
        Stop::Broken => Err(Failure::other("the consumer stopped by itself")),
        _ => Ok(Code::Done),
    }
}

impl Options {
    fn subscriptions(&self, settings: &Settings) -> Result<Vec<Subscribe>, Failure> {
        let (tag, sql) = (self.tag.clone(), self.sql.clone());
        let named = self.topic.iter().flat_map(|topics| topics.split(','));
        let named: Vec<Subscribe> = named
            .map(|topic| Subscribe { topic: topic.trim().to_owned(), tag: tag.clone(), sql: sql.clone() })
            .collect();
        let all = if named.is_empty() { settings.subscriptions().to_vec() } else { named };
        if all.is_empty() {
            return Err(Failure::usage("no topic")
                .with_hint("say -t TOPIC, or set [[consumer.subscribe]] in the config file"));
        }
        Ok(all)
    }
}

fn settings(global: &Global, options: &Options) -> Result<Settings, Failure> {
    global.settings(&[
        ("consumer.group", options.group.as_deref(), "--group"),
        ("consumer.strategy", options.strategy.as_deref(), "--strategy"),
        ("consumer.start_from", options.from.as_deref(), "--from"),
        ("consumer.model", options.broadcast.then_some("broadcasting"), "--broadcast"),
        ("exclusive_handover", options.exclusive_handover.then_some("true"), "--exclusive-handover"),
        ("consumer.offset_dir", options.offset_dir.as_deref(), "--offset-dir"),
        ("consumer.client_id", options.client_id.as_deref(), "--client-id"),
        ("concurrency", options.concurrency.as_deref(), "--concurrency"),
        ("batch_max", options.batch.as_deref(), "--batch"),
    ])
}

/// A builder with everything that settings can say.
pub(super) fn with_settings(
    mut builder: ConsumerBuilder<NoHandler>,
    settings: &Settings,
    cluster: &Cluster,
) -> Result<ConsumerBuilder<NoHandler>, Failure> {
    let (servers, origin) = cluster.servers();
    builder = builder
        .namespace(settings.namespace())
        .namespace_v2(settings.namespace_v2())
        .name_servers_of(&servers, &origin)
        .security(cluster.security());
    for (name, value) in settings.options() {
        builder = builder.option(name, &value.text);
    }
    let set = |name| settings.text(name);
    if let Some(text) = set("consumer.strategy") {
        builder = builder.strategy(strategy(text)?);
    }
    if let Some(text) = set("consumer.model") {
        builder = builder.consumption_model(model(text)?);
    }
    if let Some(folder) = set("consumer.offset_dir") {
        builder = builder.offset_store(OffsetStore::Folder(folder.into()));
    } else if cluster.embedded().is_some() {
        // Its queues begin anew with each run.
        builder = builder.offset_store(OffsetStore::Memory);
    }
    if let Some(text) = set("consumer.client_id") {
        builder = builder.client_id(text);
    }
    if let Some(text) = set("consumer.client_ip") {
        builder = builder.client_ip(text);
    }
    if let Some(text) = set("consumer.instance") {
        builder = builder.stable_instance(text);
    }
    if let Some(text) = set("consumer.unit") {
        builder = builder.unit(text);
    }
    if let Some(text) = settings.text("consumer.handler_timeout") {
        let time = duration(text)
            .map_err(|why| Failure::usage(format!("handler_timeout is {text:?}, but must be {why}")))?;
        builder = builder.handler_timeout(time);
    }
    // A young embedded topic has nothing old to skip: what was sent before the start is meant to be seen.
    let from = settings.text("consumer.start_from").or(cluster.embedded().map(|_| "first"));
    Ok(match from {
        Some(text) => builder.start_from(start_from(text)?),
        None => builder,
    })
}

fn model(text: &str) -> Result<ConsumptionModel, Failure> {
    [ConsumptionModel::Clustering, ConsumptionModel::Broadcasting]
        .into_iter()
        .find(|model| model.name().eq_ignore_ascii_case(text))
        .ok_or_else(|| Failure::usage(format!("model is {text:?}, but must be clustering or broadcasting")))
}

fn with_sink(
    builder: ConsumerBuilder<NoHandler>,
    sink: &Arc<Sink>,
    batches: bool,
) -> ConsumerBuilder<WithHandler> {
    let sink = Arc::clone(sink);
    if batches {
        builder.batch_handler(move |batch| {
            let sink = Arc::clone(&sink);
            async move { sink.batch(batch).await }
        })
    } else {
        builder.handler(move |message| {
            let sink = Arc::clone(&sink);
            async move { sink.message(message).await }
        })
    }
}

fn drain_timeout(settings: &Settings) -> Duration {
    let set = settings
        .text("drain_timeout")
        .and_then(|text| text.parse().map(Duration::from_millis).ok().or_else(|| duration(text).ok()));
    set.unwrap_or(Duration::from_secs(30))
}

/// Goes quiet at SIGUSR1, and back at the next. Ends with the consumer.
async fn toggle_quiet(consumer: &Consumer) {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        let Ok(mut signals) = signal(SignalKind::user_defined1()) else {
            return std::future::pending().await;
        };
        let mut quiet = false;
        while signals.recv().await.is_some() {
            quiet = !quiet;
            tracing::warn!(event = "quiet", on = quiet, "SIGUSR1");
            if consumer.quiet(quiet).await.is_err() {
                return;
            }
        }
    }
    let _ = consumer;
    std::future::pending().await
}
