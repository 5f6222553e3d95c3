//! What a call says when the other end is not what it should be.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use evenkeel::client::Client;
use evenkeel::{Address, Blame};
use evenkeel_core::wire::reply::CallError;
use evenkeel_core::wire::request::Request;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

const TIMEOUT: Duration = Duration::from_secs(2);

async fn ask(address: &str) -> CallError {
    ask_for(address, TIMEOUT).await
}

async fn ask_for(address: &str, timeout: Duration) -> CallError {
    let client = Client::start();
    client.call(&Address::from(address), Request::TopicList, timeout).await.unwrap_err()
}

/// A server that does the same to every connection. Its address.
async fn server<F, R>(serve: F) -> String
where
    F: Fn(TcpStream) -> R + Send + 'static,
    R: Future<Output = ()> + Send,
{
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            serve(stream).await;
        }
    });
    address
}

async fn nobody() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    listener.local_addr().unwrap().to_string()
}

#[tokio::test]
async fn a_refused_connection_names_address_and_reason() {
    let address = nobody().await;
    let error = ask(&address).await;
    assert_eq!(error, CallError::LinkLost { reason: format!("{address}: connection refused") });
    assert_eq!(error.blame(), Blame::Network);
}

#[tokio::test]
async fn a_server_that_hangs_up_ends_the_call_at_once() {
    let address = server(|stream| async move { drop(stream) }).await;
    let CallError::LinkLost { reason } = ask(&address).await else { panic!("the link was lost") };
    // Depending on who was faster it is a closed or a reset connection.
    assert!(reason.starts_with(&address), "{reason}");
}

#[tokio::test]
async fn bytes_of_another_protocol_close_the_connection() {
    let address = server(|mut stream| async move {
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
        let mut rest = Vec::new();
        // Ends when the client has closed.
        let _ =
            tokio::time::timeout(TIMEOUT, stream.read_to_end(&mut rest)).await.expect("closed by the client");
    })
    .await;
    let CallError::LinkLost { reason } = ask(&address).await else { panic!("the link was lost") };
    assert!(reason.starts_with(&address) && reason.contains("at byte"), "{reason}");
}

#[tokio::test]
async fn an_oversized_frame_is_refused_before_it_is_read() {
    let address = server(|mut stream| async move {
        stream.write_all(&0x7FFF_FFFF_u32.to_be_bytes()).await.unwrap();
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let CallError::LinkLost { reason } = ask(&address).await else { panic!("the link was lost") };
    assert!(reason.contains("too-large") || reason.contains("bad-length"), "{reason}");
}

#[tokio::test]
async fn a_silent_server_costs_the_deadline_and_no_more() {
    let address = server(|mut stream| async move {
        let _ = stream.read_to_end(&mut Vec::new()).await;
    })
    .await;
    let began = Instant::now();
    let error = ask_for(&address, Duration::from_millis(300)).await;
    assert!(matches!(error, CallError::Expired { .. }), "{error:?}");
    // Without a deadline it would be the two minutes after which a silent connection is closed.
    let took = began.elapsed();
    assert!(took >= Duration::from_millis(300) && took < Duration::from_secs(60), "{took:?}");
}

#[tokio::test]
async fn calls_without_a_connection_wait_for_the_pause_or_fail_with_its_reason() {
    let address = Address::from(nobody().await);
    let client = Client::start();
    let mut reasons = Vec::new();
    for _ in 0..6 {
        let call = client.call(&address, Request::TopicList, Duration::from_millis(300));
        reasons.push(call.await.unwrap_err().to_string());
    }
    assert!(reasons.iter().all(|reason| reason.contains("connection refused")), "{reasons:?}");
    assert!(reasons.last().unwrap().contains("next try in"), "{reasons:?}");
}

#[tokio::test]
async fn a_server_that_comes_back_is_found_again() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = Address::from(listener.local_addr().unwrap().to_string());
    drop(listener);
    let client = Client::start();
    assert!(client.call(&address, Request::ClusterInfo, TIMEOUT).await.is_err());
    let broker =
        evenkeel::embedded::EmbeddedBroker::builder().listen(address.as_str()).start().await.unwrap();
    assert!(client.call(&address, Request::ClusterInfo, TIMEOUT).await.is_ok());
    broker.shutdown().await;
}
