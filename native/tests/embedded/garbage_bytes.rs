use evenkeel::embedded::faults::{Rule, Verdict};
use evenkeel::embedded::{Draft, EmbeddedBroker};
use evenkeel_core::wire::code::{RequestCode, ResponseCode};
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use std::net::SocketAddr;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

async fn ask(socket: &mut TcpStream, request: Command) -> Command {
    let frame = Command { opaque: Some(5), ..request }.encode(HeaderEncoding::Binary).expect("encodes");
    socket.write_all(&frame).await.expect("writes");
    let mut frame = vec![0; 4];
    socket.read_exact(&mut frame).await.expect("a length");
    let length = u32::from_be_bytes([frame[0], frame[1], frame[2], frame[3]]) as usize;
    frame.resize(4 + length, 0);
    socket.read_exact(&mut frame[4..]).await.expect("a frame");
    Command::decode(frame.into()).expect("decodes").0
}

async fn ends(socket: &mut TcpStream) -> bool {
    let mut rest = Vec::new();
    let read = timeout(Duration::from_secs(5), socket.read_to_end(&mut rest)).await;
    // A reset is an end, too: bytes were left unread on the other side.
    read.is_ok() && rest.is_empty()
}

fn route() -> Command {
    Command::request(RequestCode::GET_ROUTEINFO_BY_TOPIC).with_field("topic", "t")
}

#[tokio::test]
async fn garbage_and_oversized_frames_close_only_their_own_connection() {
    let broker = EmbeddedBroker::builder().topic("t", 2, 4).start().await.expect("starts");
    let address = broker.name_server();
    let mut healthy = TcpStream::connect(address).await.expect("connects");
    assert_eq!(ask(&mut healthy, route()).await.response_code(), ResponseCode::SUCCESS);
    let garbage: [&[u8]; 5] = [
        b"GET / HTTP/1.1\r\n\r\n",
        &[0xFF; 64],
        &[0x7F, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0],
        &[0, 0, 0, 4, 9, 0, 0, 0],
        &[0, 0, 0, 8, 0, 0, 0, 4, b'{', b'{', b'{', b'{'],
    ];
    for bytes in garbage {
        let mut socket = TcpStream::connect(address).await.expect("connects");
        socket.write_all(bytes).await.expect("writes");
        assert!(ends(&mut socket).await, "{bytes:?}");
        assert_eq!(ask(&mut healthy, route()).await.response_code(), ResponseCode::SUCCESS);
    }
    broker.shutdown().await;
    assert!(ends(&mut healthy).await, "a shutdown closes what is open");
    assert!(TcpStream::connect(address).await.is_err(), "and listens no longer");
}

#[tokio::test]
async fn a_broker_in_the_process_serves_publishes_and_misbehaves() {
    let broker = EmbeddedBroker::builder().topic("t", 2, 4).connections(2).start().await.expect("starts");
    let published = broker.publish(1, "t", Draft::new("hello").queue(3).tag("A")).await.expect("runs");
    let published = published.expect("stored");
    assert_eq!((published.queue.broker.as_str(), published.queue.id, published.offset), ("embedded-b", 3, 0));
    let snapshot = broker.snapshot().await.expect("runs");
    assert_eq!(snapshot.max_offset(&published.queue), 1);

    let second: SocketAddr = broker.broker_addresses()[1];
    let mut socket = TcpStream::connect(second).await.expect("connects");
    let max = Command::request(RequestCode::GET_MAX_OFFSET).with_field("topic", "t").with_field("queueId", 3);
    assert_eq!(ask(&mut socket, max.clone()).await.fields.get("offset"), Some("1"));

    let verdict = Verdict::Fail { code: ResponseCode::SYSTEM_BUSY, remark: "on purpose".into() };
    let fault = broker.install(Rule::any(verdict)).await.expect("runs");
    assert_eq!(ask(&mut socket, max.clone()).await.response_code(), ResponseCode::SYSTEM_BUSY);
    drop(fault);
    assert_eq!(ask(&mut socket, max.clone()).await.response_code(), ResponseCode::SUCCESS);

    let _two = TcpStream::connect(second).await.expect("connects");
    let mut three = TcpStream::connect(second).await.expect("connects");
    assert!(ends(&mut three).await, "one connection too many");

    broker.stop_broker(1).await.expect("runs");
    assert!(ends(&mut socket).await);
    assert!(TcpStream::connect(second).await.is_err());
    broker.start_broker(1).await.expect("listens again");
    let mut socket = TcpStream::connect(second).await.expect("connects");
    assert_eq!(ask(&mut socket, max).await.fields.get("offset"), Some("1"), "what was stored is still there");
    broker.shutdown().await;
}

#[tokio::test]
async fn dropping_the_broker_ends_it() {
    let broker = EmbeddedBroker::builder().start().await.expect("starts");
    let address = broker.name_server();
    let mut socket = TcpStream::connect(address).await.expect("connects");
    assert_eq!(ask(&mut socket, route()).await.response_code(), ResponseCode::TOPIC_NOT_EXIST);
    drop(broker);
    assert!(ends(&mut socket).await);
}
