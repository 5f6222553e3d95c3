//! A group of a unit: its heartbeats say so, and the broker marks the retry topic that it makes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;
#[path = "helpers/recorder.rs"]
mod recorder;

use evenkeel::embedded::EmbeddedBroker;
use evenkeel::{Ack, Consumer};
use evenkeel_core::wire::code::RequestCode;
use process::evenkeel;
use recorder::Recorder;
use std::time::Duration;

/// What each heartbeat so far says.
fn said(recorder: &Recorder) -> Vec<bool> {
    let requests = recorder.requests();
    let beats = requests.iter().filter(|request| request.code == RequestCode::HEART_BEAT.0);
    let said = beats.map(|beat| {
        let beat: serde_json::Value = serde_json::from_slice(&beat.body).unwrap();
        beat["consumerDataSet"][0]["unitMode"].as_bool().unwrap()
    });
    said.collect()
}

#[tokio::test]
async fn heartbeats_say_whether_the_group_is_one_of_a_unit() {
    for on in [false, true] {
        let broker = EmbeddedBroker::builder().topic("orders", 1, 2).start().await.unwrap();
        let recorder = Recorder::before(&broker).await;
        let builder = Consumer::builder("pay").name_servers(&recorder.name_server).subscribe("orders", "*");
        let builder = if on { builder.unit_mode(true) } else { builder };
        let consumer = builder.handler(async |_| Ok(Ack::Done)).start().await.unwrap();
        consumer.shutdown(Duration::from_secs(5)).await;
        let said = said(&recorder);
        assert!(!said.is_empty() && said.iter().all(|said| *said == on), "{said:?}");
    }
}

#[tokio::test]
async fn the_command_line_has_it_by_both_names() {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 2).start().await.unwrap();
    let recorder = Recorder::before(&broker).await;
    let server = recorder.name_server.clone();
    for setting in ["unitMode=true", "consumer.unit_mode=true"] {
        let args = ["consume", "-t", "orders", "-g", "pay", "-e", "-n", &server, "-X", setting];
        let mut command = evenkeel(&args);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap()).await.unwrap();
        assert!(output.status.success(), "{output:?}");
    }
    let said = said(&recorder);
    assert!(said.len() >= 2 && said.iter().all(|said| *said), "{said:?}");
}
