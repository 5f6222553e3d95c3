//! Stands between clients and an embedded broker, and keeps the requests that pass.

use bytes::BytesMut;
use evenkeel::Address;
use evenkeel::embedded::EmbeddedBroker;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::frame::{DEFAULT_FRAME_LIMIT, Framer};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Where clients connect to, and what they asked.
pub(crate) struct Recorder {
    pub(crate) name_server: String,
    requests: Arc<Mutex<Vec<Command>>>,
    _doors: JoinSet<()>,
}

impl Recorder {
    /// Before the name server and the first broker, whose routes lead here from now on.
    pub(crate) async fn before(broker: &EmbeddedBroker) -> Self {
        let (requests, mut doors) = (Arc::default(), JoinSet::new());
        let name_server = open(&mut doors, broker.name_server(), &requests).await;
        let address = open(&mut doors, broker.broker_addresses()[0], &requests).await;
        broker.visit(move |state, _, _| state.move_broker(0, Address::from(address))).await.unwrap();
        Self { name_server, requests, _doors: doors }
    }

    /// What clients have asked so far, answers to the broker's own questions left out.
    pub(crate) fn requests(&self) -> Vec<Command> {
        let all = self.requests.lock().unwrap();
        all.iter().filter(|command| !command.is_response()).cloned().collect()
    }
}

async fn open(doors: &mut JoinSet<()>, inside: SocketAddr, requests: &Arc<Mutex<Vec<Command>>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let requests = requests.clone();
    doors.spawn(async move {
        let mut guests = JoinSet::new();
        while let Ok((outer, _)) = listener.accept().await {
            guests.spawn(pass_on(outer, inside, requests.clone()));
        }
    });
    address
}

async fn pass_on(outer: TcpStream, inside: SocketAddr, requests: Arc<Mutex<Vec<Command>>>) {
    let Ok(inner) = TcpStream::connect(inside).await else { return };
    let (mut asked, mut told) = outer.into_split();
    let (mut answers, mut questions) = inner.into_split();
    let back = tokio::spawn(async move {
        // Ends with either side.
        let _ = tokio::io::copy(&mut answers, &mut told).await;
    });
    let (mut framer, mut read) = (Framer::new(DEFAULT_FRAME_LIMIT), BytesMut::new());
    while matches!(asked.read_buf(&mut read).await, Ok(1..)) {
        framer.push(&read);
        while let Some(frame) = framer.next().unwrap() {
            requests.lock().unwrap().push(Command::decode(frame).unwrap().0);
        }
        if questions.write_all_buf(&mut read).await.is_err() {
            break;
        }
    }
    drop(questions);
    let _ = back.await;
}
