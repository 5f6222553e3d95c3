//! A connection that sends what a test wants sent, right or wrong.

use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::frame::{DEFAULT_FRAME_LIMIT, Framer};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// Closed when it is dropped.
pub struct Raw(TcpStream);

impl Raw {
    /// Connects to `host:port`. A server that is silent for 10 s fails the test.
    ///
    /// # Panics
    ///
    /// If nobody listens there.
    pub fn connect(address: &str) -> Self {
        let stream = TcpStream::connect(address).expect("a connection");
        stream.set_read_timeout(Some(Duration::from_secs(10))).expect("a time-out");
        Self(stream)
    }

    /// Sends a request and waits for the answer. What the server asks meanwhile is passed over.
    ///
    /// # Panics
    ///
    /// If there is none.
    pub fn ask(&mut self, request: &Command) -> Command {
        let request = Command { opaque: Some(1), ..request.clone() };
        let frame = request.encode(HeaderEncoding::Json).expect("a frame");
        self.0.write_all(&frame).expect("sent");
        let (mut framer, mut buffer) = (Framer::new(DEFAULT_FRAME_LIMIT), [0; 4096]);
        loop {
            if let Some(frame) = framer.next().expect("a frame") {
                let command = Command::decode(frame).expect("a command").0;
                if command.is_response() {
                    return command;
                }
                continue;
            }
            let count = self.0.read(&mut buffer).expect("an answer in time");
            assert!(count > 0, "the connection was closed");
            framer.push(&buffer[..count]);
        }
    }
}
