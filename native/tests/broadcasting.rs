//! Broadcasting members and the file of their offsets (C16).
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod helpers;

use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel::{Ack, Consumer, ConsumptionModel, ErrorKind, Event, OffsetStore, StartFrom};
use helpers::eventually;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A folder of its own for one test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("evenkeel-offsets-{}-{name}", std::process::id()));
        // Left by an earlier process of this number.
        let _ = std::fs::remove_dir_all(&path);
        Self(path)
    }

    fn file(&self, client: &str, ending: &str) -> PathBuf {
        self.0.join(client).join("caches").join(format!("offsets.json{ending}"))
    }

    fn write(&self, ending: &str, text: &str) {
        let file = self.file("me", ending);
        std::fs::create_dir_all(file.parent().unwrap()).unwrap();
        std::fs::write(file, text).unwrap();
    }

    fn read(&self, ending: &str) -> String {
        std::fs::read_to_string(self.file("me", ending)).unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// One queue with the messages 0 to 9.
async fn broker() -> EmbeddedBroker {
    let broker = EmbeddedBroker::builder().topic("prices", 1, 1).start().await.unwrap();
    for number in 0..10 {
        broker.publish(0, "prices", Draft::new(number.to_string())).await.unwrap().unwrap();
    }
    broker
}

type Seen = Arc<Mutex<Vec<i64>>>;

async fn start(
    broker: &EmbeddedBroker,
    store: OffsetStore,
    client: &str,
) -> evenkeel::Result<(Consumer, Seen)> {
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let builder = Consumer::builder("caches")
        .embedded(broker)
        .client_id(client)
        .consumption_model(ConsumptionModel::Broadcasting)
        .offset_store(store)
        .subscribe("prices", "*")
        .start_from(StartFrom::First)
        .concurrency(1);
    let builder = builder.handler(move |message| {
        noted.lock().unwrap().push(message.offset());
        async { Ok(Ack::Done) }
    });
    Ok((builder.start().await?, seen))
}

async fn first_of(folder: &Folder) -> i64 {
    let broker = broker().await;
    let (consumer, seen) = start(&broker, OffsetStore::Folder(folder.0.clone()), "me").await.unwrap();
    eventually("a message", || !seen.lock().unwrap().is_empty()).await;
    let first = seen.lock().unwrap()[0];
    consumer.shutdown(Duration::from_secs(5)).await;
    first
}

/// As Java's `JSON.toJSONString(…, true)` writes it.
fn java_file(offset: i64) -> String {
    format!(
        "{{\n\t\"offsetTable\":{{{{\n\t\t\t\"brokerName\":\"embedded-a\",\n\t\t\t\"queueId\":0,\n\t\t\t\"topic\":\"prices\"\n\t\t}}:{offset},{{\n\t\t\t\"brokerName\":\"elsewhere\",\n\t\t\t\"queueId\":1,\n\t\t\t\"topic\":\"prices\"\n\t\t}}:20\n\t}}\n}}"
    )
}

#[tokio::test]
async fn every_member_gets_every_message_and_goes_on_after_a_restart() {
    let (broker, folder) = (broker().await, Folder::new("restart"));
    let store = OffsetStore::Folder(folder.0.clone());
    let (one, first) = start(&broker, store.clone(), "me").await.unwrap();
    let (other, second) = start(&broker, store.clone(), "other").await.unwrap();
    eventually("ten each", || [&first, &second].iter().all(|seen| seen.lock().unwrap().len() == 10)).await;
    let report = one.shutdown(Duration::from_secs(5)).await;
    assert_eq!(report.committed.iter().map(|(_, offset)| *offset).collect::<Vec<_>>(), [10]);
    broker.publish(0, "prices", Draft::new("ten")).await.unwrap().unwrap();
    let (one, first) = start(&broker, store, "me").await.unwrap();
    eventually("the new one", || !first.lock().unwrap().is_empty()).await;
    assert_eq!(*first.lock().unwrap(), [10], "and only that");
    one.shutdown(Duration::from_secs(5)).await;
    other.shutdown(Duration::from_secs(5)).await;
}

#[tokio::test]
async fn c16_a_file_of_java_is_read_and_what_it_knows_of_absent_brokers_stays() {
    let folder = Folder::new("java");
    folder.write("", &java_file(7));
    assert_eq!(first_of(&folder).await, 7);
    let (now, before) = (folder.read(""), folder.read(".bak"));
    assert!(now.contains(r#"{"brokerName":"elsewhere","queueId":1,"topic":"prices"}:20"#), "{now}");
    assert!(now.contains(r#"{"brokerName":"embedded-a","queueId":0,"topic":"prices"}:10"#), "{now}");
    assert!(before.contains("prices"), "the file before this one is kept: {before}");
}

#[tokio::test]
async fn c16_a_file_cut_short_is_replaced_by_its_backup() {
    let folder = Folder::new("cut");
    folder.write("", &java_file(7)[..7]);
    folder.write(".bak", &java_file(6));
    assert_eq!(first_of(&folder).await, 6);
    assert_eq!(folder.read(".bad").len(), 7, "put aside, and no backup of anything");
    assert!(folder.read("").contains(":10"));
}

/// A crash between the two renames of a write.
#[tokio::test]
async fn c16_a_missing_file_is_replaced_by_its_backup() {
    let folder = Folder::new("missing");
    folder.write(".bak", &java_file(4));
    assert_eq!(first_of(&folder).await, 4);
}

#[tokio::test]
async fn c16_two_broken_files_are_an_error_and_no_silent_start() {
    let (broker, folder) = (broker().await, Folder::new("broken"));
    for backup in [None, Some("[]")] {
        folder.write("", "{\"offsetTable\":{{");
        if let Some(text) = backup {
            folder.write(".bak", text);
        }
        let error = start(&broker, OffsetStore::Folder(folder.0.clone()), "me").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        let text = error.to_string();
        assert!(text.contains("offsets.json") && text.contains("start_from"), "{text}");
    }
}

#[tokio::test]
async fn a_name_that_leads_elsewhere_is_refused() {
    let (broker, folder) = (broker().await, Folder::new("names"));
    for client in ["../../etc", "..", "a\\b"] {
        let error = start(&broker, OffsetStore::Folder(folder.0.clone()), client).await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Config, "{error}");
    }
}

#[tokio::test]
async fn a_failing_message_is_dropped_and_told_and_the_next_ones_go_on() {
    let broker = broker().await;
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let builder = Consumer::builder("caches")
        .embedded(&broker)
        .consumption_model(ConsumptionModel::Broadcasting)
        .subscribe("prices", "*")
        .start_from(StartFrom::First)
        .handler(move |message| {
            let noted = Arc::clone(&noted);
            async move {
                noted.lock().unwrap().push(message.offset());
                if message.offset() == 3 { Err("no".into()) } else { Ok(Ack::Done) }
            }
        });
    let consumer = builder.start().await.unwrap();
    assert!(consumer.client_id().as_str().ends_with("@DEFAULT"), "the same after a restart");
    let mut events = consumer.events();
    let dropped = loop {
        match events.next().await {
            Some(Event::Dropped { offset, .. }) => break offset,
            Some(_) => {}
            None => panic!("the consumer has ended"),
        }
    };
    assert_eq!(dropped, 3);
    eventually("all of them", || seen.lock().unwrap().len() == 10).await;
    let report = consumer.shutdown(Duration::from_secs(5)).await;
    assert_eq!(report.committed.iter().map(|(_, offset)| *offset).collect::<Vec<_>>(), [10]);
}
