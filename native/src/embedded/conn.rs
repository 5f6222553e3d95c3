//! One connection: bytes to commands for the driver, commands of the driver to bytes.

use super::driver::Event;
use super::output::{ConnId, Endpoint};
use bytes::Bytes;
use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::frame::Framer;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::mpsc;
use tokio::time::timeout;

/// Commands that may wait to be written on one connection.
const QUEUE: usize = 4096;
/// Bytes of bodies that may wait to be written on one connection.
const QUEUED_BYTES: usize = 64 << 20;
/// How long one write may take before the peer counts as gone.
const PATIENCE: Duration = Duration::from_secs(10);
/// Room for a read.
const READ: usize = 16 * 1024;

/// The driver's end of a connection. Dropping it closes the connection, after what is queued is written.
#[derive(Debug)]
pub(crate) struct Outlet {
    commands: mpsc::Sender<Command>,
    queued: Arc<AtomicUsize>,
}

/// The connection's end of an [`Outlet`].
struct Inlet {
    commands: mpsc::Receiver<Command>,
    queued: Arc<AtomicUsize>,
}

impl Outlet {
    /// Queues a command. False if the peer reads so slowly that there is no room.
    pub(crate) fn send(&self, command: Command) -> bool {
        let bytes = command.body.len();
        if self.queued.fetch_add(bytes, Ordering::AcqRel) + bytes > QUEUED_BYTES {
            return false;
        }
        self.commands.try_send(command).is_ok()
    }
}

/// Serves a connection until either side ends it.
pub(crate) async fn serve(
    conn: ConnId,
    to: Endpoint,
    socket: TcpStream,
    events: mpsc::Sender<Event>,
    frame_limit: usize,
    idle: Duration,
) {
    let Ok(remote) = socket.peer_addr() else { return };
    // Without it small answers wait for each other; nothing is lost where it is not to be had.
    let _ = socket.set_nodelay(true);
    let (sender, receiver) = mpsc::channel(QUEUE);
    let queued = Arc::<AtomicUsize>::default();
    let outlet = Outlet { commands: sender, queued: queued.clone() };
    if events.send(Event::Connected { conn, to, remote, outlet }).await.is_err() {
        return;
    }
    let inlet = Inlet { commands: receiver, queued };
    if let Err(reason) = exchange(conn, socket, &events, inlet, frame_limit, idle).await {
        tracing::debug!(conn = conn.0, %remote, %reason, "connection closed");
    }
    // The driver may be gone already, and the connection with it.
    let _ = events.send(Event::Disconnected { conn }).await;
}

async fn exchange(
    conn: ConnId,
    mut socket: TcpStream,
    events: &mpsc::Sender<Event>,
    mut inlet: Inlet,
    frame_limit: usize,
    idle: Duration,
) -> Result<(), String> {
    let mut framer = Framer::new(frame_limit);
    loop {
        framer.buffer().reserve(READ);
        tokio::select! {
            command = inlet.commands.recv() => match command {
                Some(command) => write(&mut socket, &mut inlet, command).await?,
                None => return Ok(()),
            },
            read = timeout(idle, socket.read_buf(framer.buffer())) => {
                match read {
                    Err(_) => return Err("idle".to_owned()),
                    Ok(Err(error)) => return Err(error.to_string()),
                    Ok(Ok(0)) => return Ok(()),
                    Ok(Ok(_)) => {}
                }
                while let Some(frame) = framer.next().map_err(|error| error.to_string())? {
                    let (command, _) = Command::decode(frame).map_err(|error| error.to_string())?;
                    let event = Event::Command { conn, command };
                    events.send(event).await.map_err(|_| "the broker has stopped".to_owned())?;
                }
            }
        }
    }
}

/// Writes a command and what else is queued by now.
async fn write(socket: &mut TcpStream, inlet: &mut Inlet, first: Command) -> Result<(), String> {
    let mut next = Some(first);
    while let Some(command) = next {
        inlet.queued.fetch_sub(command.body.len(), Ordering::AcqRel);
        let frame = encode(&command)?;
        match timeout(PATIENCE, socket.write_all(&frame)).await {
            Err(_) => return Err("the peer does not read".to_owned()),
            Ok(Err(error)) => return Err(error.to_string()),
            Ok(Ok(())) => {}
        }
        next = inlet.commands.try_recv().ok();
    }
    Ok(())
}

/// Brokers answer in their own header encoding whatever the request's was.
fn encode(command: &Command) -> Result<Bytes, String> {
    command.encode(HeaderEncoding::Json).map_err(|error| error.to_string())
}
