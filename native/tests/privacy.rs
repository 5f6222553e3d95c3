//! No body of a message, key or property value may reach a log line, however much is logged.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::{Ack, BatchAck, Consumer, Outgoing, Producer, StartFrom};
use evenkeel_core::wire::code::RequestCode;
use helpers::eventually;
use std::fmt::{Debug, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Metadata, Subscriber};

/// Stands in bodies, keys and properties, and nowhere else.
const SECRET: &str = "rosebud-4711";

static LOG: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Notes every span and event of every level as text.
struct Noting;

struct Text(String);

impl Visit for Text {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

fn note(metadata: &Metadata<'_>, fill: impl FnOnce(&mut Text)) {
    let mut text = Text(format!("{} {}", metadata.level(), metadata.target()));
    fill(&mut text);
    LOG.lock().unwrap_or_else(PoisonError::into_inner).push(text.0);
}

impl Subscriber for Noting {
    fn enabled(&self, _metadata: &Metadata<'_>) -> bool {
        true
    }
    fn new_span(&self, span: &Attributes<'_>) -> Id {
        note(span.metadata(), |text| span.record(text));
        Id::from_u64(1)
    }
    fn record(&self, _span: &Id, values: &Record<'_>) {
        let mut text = Text(String::new());
        values.record(&mut text);
        LOG.lock().unwrap_or_else(PoisonError::into_inner).push(text.0);
    }
    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}
    fn event(&self, event: &Event<'_>) {
        note(event.metadata(), |text| event.record(text));
    }
    fn enter(&self, _span: &Id) {}
    fn exit(&self, _span: &Id) {}
}

/// Log lines that have the secret, as text or as the bytes that `Debug` of a buffer shows.
fn leaks() -> Vec<String> {
    let as_numbers = SECRET.bytes().map(|byte| byte.to_string()).collect::<Vec<_>>().join(", ");
    let hex: String = SECRET.bytes().map(|byte| format!("{byte:02x}")).collect();
    let log = LOG.lock().unwrap_or_else(PoisonError::into_inner);
    let leaks = |line: &&String| line.contains(SECRET) || line.contains(&as_numbers) || line.contains(&hex);
    log.iter().filter(leaks).cloned().collect()
}

fn secret(number: usize) -> Outgoing {
    let body = format!("{number} {SECRET}").repeat(if number.is_multiple_of(2) { 1 } else { 500 });
    Outgoing::new("orders", body).tag("t").key(SECRET).property("who", SECRET)
}

#[tokio::test]
async fn no_body_key_or_property_is_logged() {
    tracing::subscriber::set_global_default(Noting).unwrap();
    let broker = EmbeddedBroker::builder()
        .topic("orders", 1, 2)
        .configure(|config| config.delay_levels = vec![Duration::from_millis(20); 18])
        .start()
        .await
        .unwrap();
    let servers = broker.name_server().to_string();
    // Calls that fail, answers that are nonsense and lost replies are the places where dumping bytes would tempt.
    let on = |code, verdict| Rule::on(code, verdict).times(2);
    let faults = [
        on(RequestCode::PULL_MESSAGE, Verdict::Garble(format!("{SECRET}{SECRET}").into())),
        on(RequestCode::GET_CONSUMER_LIST_BY_GROUP, Verdict::Garble(SECRET.into())),
        on(RequestCode::SEND_MESSAGE_V2, Verdict::CloseConnection),
        on(RequestCode::CONSUMER_SEND_MSG_BACK, Verdict::CloseConnection),
        on(RequestCode::UPDATE_CONSUMER_OFFSET, Verdict::CloseConnection),
    ];
    for rule in faults {
        broker.install(rule).await.unwrap().keep();
    }
    let producer = Producer::builder("p").name_servers(&servers).start().unwrap();
    for number in 0..6 {
        // The faults cost tries, which is what they are for.
        let _ = producer.send(secret(number)).await;
        producer.send_one_way(secret(number)).await.unwrap();
    }

    let done = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&done);
    let builder = |group: &str| {
        Consumer::builder(group)
            .name_servers(&servers)
            .subscribe("orders", "*")
            .start_from(StartFrom::First)
            .option("commit_interval", "20ms")
    };
    let one = builder("one").handler(move |message| {
        let counted = Arc::clone(&counted);
        async move {
            match message.offset() % 3 {
                0 if message.retries() == 0 => Err("no".into()),
                1 if message.retries() == 0 => panic!("never"),
                _ => {
                    counted.fetch_add(1, Ordering::Relaxed);
                    Ok(Ack::Done)
                }
            }
        }
    });
    let one = one.start().await.unwrap();
    let batches = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&batches);
    let many = builder("many").batch_max(4).batch_handler(move |batch| {
        let counted = Arc::clone(&counted);
        async move {
            counted.fetch_add(batch.len(), Ordering::Relaxed);
            Ok(BatchAck::First(1))
        }
    });
    let many = many.start().await.unwrap();
    eventually("both groups to consume", || {
        done.load(Ordering::Relaxed) >= 6 && batches.load(Ordering::Relaxed) >= 6
    })
    .await;
    one.shutdown(Duration::from_secs(1)).await;
    many.shutdown(Duration::from_secs(1)).await;
    broker.shutdown().await;

    assert_eq!(leaks(), Vec::<String>::new());
    // Controls: there was a log, it had the faults in it, and a leak would have been seen.
    let log = LOG.lock().unwrap().join("\n");
    assert!(
        log.contains("rebalanced") && log.contains("handler-failed") && log.contains("call-failed"),
        "{log}"
    );
    tracing::trace!(body = ?SECRET.as_bytes(), "planted");
    assert_eq!(leaks().len(), 1);
    tracing::trace!("planted {SECRET}");
    assert_eq!(leaks().len(), 2);
}
