//! Servers that refuse, break or talk nonsense: what the command says, and how it ends.
#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;

use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Draft, EmbeddedBroker, Endpoint};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use process::Running;
use std::io::{Read, Write};
use std::net::TcpListener;
use std::time::Duration;

async fn broker() -> (EmbeddedBroker, String) {
    let broker = EmbeddedBroker::builder().topic("orders", 1, 1).start().await.unwrap();
    let address = broker.name_server().to_string();
    (broker, address)
}

/// Runs a command to its end: exit code and stderr.
fn run(args: &[&str]) -> (i32, String) {
    let mut running = Running::start(args);
    let code = running.end();
    running.said("evenkeel: ");
    // The last lines may still be on their way.
    std::thread::sleep(Duration::from_millis(50));
    (code, running.talk())
}

/// A server that answers whatever comes with these bytes.
fn server(answer: &'static [u8]) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            std::thread::spawn(move || {
                // The client hangs up as soon as it sees what this is.
                let _ = stream.read(&mut [0; 4096]);
                let _ = stream.write_all(answer);
                let _ = stream.read(&mut [0; 4096]);
            });
        }
    });
    address
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_permission_is_code_5_and_keeps_the_brokers_words() {
    let (broker, address) = broker().await;
    let no =
        |code| Rule::on(code, Verdict::Fail { code: ResponseCode::NO_PERMISSION, remark: "not you".into() });
    let consuming = broker.install(no(RequestCode::HEART_BEAT)).await.unwrap();
    let sending = broker.install(no(RequestCode::SEND_MESSAGE_V2)).await.unwrap();
    let routing = broker.install(no(RequestCode::GET_ROUTEINFO_BY_TOPIC).topic("secret")).await.unwrap();
    for args in [
        &["consume", "-t", "orders", "-g", "g", "-n", &address][..],
        &["send", "-t", "orders", "hi", "-n", &address],
        &["route", "secret", "-n", &address],
    ] {
        let (code, said) = run(args);
        assert_eq!(code, 5, "{args:?}: {said}");
        assert!(said.contains("not you") && said.contains("hint: check the permission"), "{said}");
        assert!(said.contains("127.0.0.1:"), "{said}");
    }
    drop((consuming, sending, routing));
    broker.shutdown().await;
}

#[test]
fn frames_that_are_too_large_and_bytes_that_are_no_frame_are_code_3() {
    for (answer, reason) in [
        (&[0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0][..], "too-large"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "at byte"),
    ] {
        let address = server(answer);
        for args in [
            &["consume", "-t", "orders", "-g", "g", "-n", &address][..],
            &["send", "-t", "orders", "hi", "-n", &address],
            &["route", "orders", "-n", &address],
        ] {
            let (code, said) = run(args);
            assert_eq!(code, 3, "{args:?}: {said}");
            assert!(said.contains(&format!("tried {address} (flag --namesrv)")), "{said}");
            assert!(
                said.contains("not RocketMQ's remoting protocol") && said.contains(reason),
                "{args:?}: {said}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_is_gone_when_we_start_is_code_3_and_named() {
    let (broker, address) = broker().await;
    let gone = Rule::any(Verdict::CloseConnection).at(Endpoint::Broker(0));
    let fault = broker.install(gone).await.unwrap();
    let (code, said) = run(&["consume", "-t", "orders", "-g", "g", "-n", &address, "-q"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("a name server answered, but there was no first assignment"), "{said}");
    assert!(said.contains(&format!("broker {}: ", broker.broker_addresses()[0])), "{said}");
    drop(fault);
    broker.shutdown().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broker_that_goes_meanwhile_is_tried_again_and_told_of() {
    let (broker, address) = broker().await;
    let mut consumer =
        Running::start(&["consume", "-t", "orders", "-g", "g", "--from", "first", "-n", &address]);
    broker.publish(0, "orders", Draft::new("before")).await.unwrap().unwrap();
    consumer.printed("before");
    broker.stop_broker(0).await.unwrap();
    let said = consumer.said("call-failed");
    assert!(said.contains(&broker.broker_addresses()[0].to_string()), "{said}");
    broker.start_broker(0).await.unwrap();
    broker.publish(0, "orders", Draft::new("after")).await.unwrap().unwrap();
    consumer.printed("after");
    consumer.signal("TERM");
    assert_eq!(consumer.end(), 0);
    broker.shutdown().await;
}
