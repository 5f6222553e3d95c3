//! Health, metrics and assignment over HTTP, for probes and dashboards. It only tells; nothing can be changed here.
//!
//! | path | tells |
//! |---|---|
//! | `/livez` | 200 while the consumer answers, else 503 |
//! | `/readyz` | 200 from the first assignment to the begin of the drain, else 503; names the brokers |
//! | `/metrics` | OpenMetrics text, see [`crate::metrics`] |
//! | `/assignment` | the queues with their offsets, as JSON (`evenkeel.assignment/1`) |
//!
//! It serves 64 connections at a time; further ones wait until one of these ends. One that is older than 30 s ends as soon as
//! it waits for its peer.

mod visits;

use crate::consumer::{Consumer, Control};
use crate::error::{Error, ErrorKind, Result};
use crate::metrics;
use crate::status::Status;
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use serde_json::{Value, json};
use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;
use visits::Visits;

/// How long the consumer may take to answer; it does nothing that takes long, so more means that it hangs.
const PATIENCE: Duration = Duration::from_secs(5);

/// A listener that tells about one consumer until it is dropped.
///
/// ```no_run
/// # use evenkeel::{Ack, Consumer};
/// # async fn run() -> evenkeel::Result<()> {
/// let admin = evenkeel::admin::Admin::listen("127.0.0.1:0", "mq-1:9876").await?;
/// println!("http://{}/readyz", admin.address());
/// let consumer = Consumer::builder("pay-worker")
///     .name_servers("mq-1:9876")
///     .subscribe("orders", "*")
///     .handler(|_message| async { Ok(Ack::Done) })
///     .start()
///     .await?;
/// admin.show(&consumer);
/// consumer.run_until(evenkeel::signal::terminate()).await?.into_result()
/// # }
/// ```
#[derive(Debug)]
pub struct Admin {
    address: SocketAddr,
    shared: Arc<Shared>,
    task: AbortHandle,
}

#[derive(Debug)]
struct Shared {
    brokers: String,
    /// Empty until the consumer has started.
    shown: OnceLock<Control>,
}

impl Admin {
    /// Listens at `HOST:PORT`; `:PORT` means the loopback, and port 0 a free one. `brokers` says in `/readyz` whom the
    /// consumer talks to. Until a consumer is [shown](Admin::show) it is alive but not ready.
    ///
    /// # Errors
    /// The address is none, or cannot be listened at.
    pub async fn listen(address: &str, brokers: &str) -> Result<Self> {
        if address.rsplit_once(':').is_none_or(|(_, port)| port.parse::<u16>().is_err()) {
            return Err(Error::config(format!("{address:?} is no address to listen at"))
                .with_hint("write HOST:PORT, or :PORT for the loopback; port 0 takes a free one"));
        }
        let bound = match address.strip_prefix(':') {
            Some(port) => TcpListener::bind(format!("127.0.0.1:{port}")).await,
            None => TcpListener::bind(address).await,
        };
        let failed = |error| {
            Error::new(ErrorKind::Io, format!("cannot listen at {address}: {error}"))
                .with_source(error)
                .with_hint("port 0 takes a free one")
        };
        let listener = bound.map_err(failed)?;
        let address = listener.local_addr()?;
        let shared = Arc::new(Shared { brokers: brokers.to_owned(), shown: OnceLock::new() });
        let task = tokio::spawn(axum::serve(Visits::new(listener), routes(&shared)).into_future());
        Ok(Self { address, shared, task: task.abort_handle() })
    }

    /// Where it listens.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Tells about this consumer from now on. Only the first one counts.
    pub fn show(&self, consumer: &Consumer) {
        self.shared.shown.get_or_init(|| consumer.control());
    }
}

impl Drop for Admin {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// What is there to tell from.
enum Seen<'a> {
    Starting,
    Running(&'a Control, Box<Status>),
    /// Why there is no status.
    Gone(&'static str),
}

impl Shared {
    async fn look(&self) -> Seen<'_> {
        let Some(control) = self.shown.get() else { return Seen::Starting };
        match tokio::time::timeout(PATIENCE, control.status()).await {
            Ok(Ok(status)) if status.snapshot.stopped => Seen::Gone("stopped"),
            Ok(Ok(status)) => Seen::Running(control, Box::new(status)),
            Ok(Err(_stopped)) => Seen::Gone("stopped"),
            Err(_elapsed) => Seen::Gone("the consumer does not answer"),
        }
    }
}

fn routes(shared: &Arc<Shared>) -> Router {
    let route = |tell: fn(&Shared, Seen<'_>) -> Response| {
        let shared = Arc::clone(shared);
        get(move || {
            let shared = Arc::clone(&shared);
            async move { tell(&shared, shared.look().await) }
        })
    };
    let paths = || async { "/livez\n/readyz\n/metrics\n/assignment\n" };
    Router::new()
        .route("/", get(paths))
        .route("/livez", route(livez))
        .route("/readyz", route(readyz))
        .route("/metrics", route(metrics))
        .route("/assignment", route(assignment))
        .fallback(move || async move { (StatusCode::NOT_FOUND, paths().await) })
}

fn livez(_shared: &Shared, seen: Seen<'_>) -> Response {
    match seen {
        Seen::Starting | Seen::Running(..) => "alive\n".into_response(),
        Seen::Gone(why) => unavailable(why),
    }
}

fn readyz(shared: &Shared, seen: Seen<'_>) -> Response {
    match seen {
        Seen::Starting => unavailable("starting"),
        Seen::Running(_, status) if status.stopping => unavailable("draining"),
        Seen::Running(_, status) => {
            let quiet = if status.quiet { "quiet: nothing is pulled\n" } else { "" };
            format!("ready\nbroker: {}\n{quiet}", shared.brokers).into_response()
        }
        Seen::Gone(why) => unavailable(why),
    }
}

fn metrics(_shared: &Shared, seen: Seen<'_>) -> Response {
    match seen {
        Seen::Starting => unavailable("starting"),
        Seen::Running(control, status) => {
            let text = metrics::text(&control.group, &control.client, &status);
            ([(CONTENT_TYPE, metrics::MEDIA_TYPE)], text).into_response()
        }
        Seen::Gone(why) => unavailable(why),
    }
}

fn assignment(shared: &Shared, seen: Seen<'_>) -> Response {
    match seen {
        Seen::Starting => unavailable("starting"),
        Seen::Running(control, status) => Json(assignment_value(shared, control, &status)).into_response(),
        Seen::Gone(why) => unavailable(why),
    }
}

fn unavailable(why: &str) -> Response {
    (StatusCode::SERVICE_UNAVAILABLE, format!("{why}\n")).into_response()
}

fn assignment_value(shared: &Shared, control: &Control, status: &Status) -> Value {
    let queues: Vec<Value> = status
        .snapshot
        .queues
        .iter()
        .map(|view| {
            // Before the first pull the end is not known, and neither is the lag.
            let lag = view.commit_point.filter(|_| view.max >= view.next).map(|point| view.max - point);
            json!({
                "topic": view.queue.topic.as_str(),
                "broker": view.queue.broker.as_str(),
                "queueId": view.queue.id,
                "owned": status.assignment.contains(&view.queue),
                "phase": view.phase,
                "commitPoint": view.commit_point,
                "committed": view.committed,
                "next": view.next,
                "max": view.max,
                "lag": lag,
                "cached": view.cached,
                "cachedBytes": view.cached_bytes,
                "running": view.running,
            })
        })
        .collect();
    json!({
        "schema": "evenkeel.assignment/1",
        "group": control.group.as_str(),
        "clientId": control.client.as_str(),
        "broker": shared.brokers,
        "generation": status.assignment.generation(),
        "reason": status.assignment.reason().map(|reason| reason.name()),
        "quiet": status.quiet,
        "stopping": status.stopping,
        "queues": queues,
    })
}
