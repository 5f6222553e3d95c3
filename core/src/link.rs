//! One connection: bytes in, replies and requests out; calls in flight and their deadlines.
//!
//! Owns no socket and no clock. Whoever does the I/O appends what arrives to [`Link::buffer`], calls [`Link::process`],
//! writes what [`Link::take_output`] gives, hands on what [`Link::poll`] gives, and calls [`Link::tick`] at
//! [`Link::next_deadline`]. Every call ends exactly once: with a reply, at its deadline, or when the link closes.

use crate::model::CallId;
use crate::time::Instant;
use crate::wire::acl::Credentials;
use crate::wire::code::{RequestCode, ResponseCode};
use crate::wire::command::{Command, HeaderEncoding};
use crate::wire::error::WireError;
use crate::wire::frame::{DEFAULT_FRAME_LIMIT, EncodeError, Framer};
use crate::wire::peer::{Answer, PeerRequest};
use crate::wire::reply::{CallError, Refusal, Reply};
use crate::wire::request::Request;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, VecDeque};
use alloc::string::{String, ToString};
use bytes::{Bytes, BytesMut};

/// Adds to each request what the server wants to see of who sends it: signatures, name spaces.
pub trait Sign: core::fmt::Debug + Send + Sync {
    /// Adds fields; header and body are complete.
    fn sign(&self, command: &mut Command);
}

impl Sign for Credentials {
    fn sign(&self, command: &mut Command) {
        let added = Self::sign(self, command.fields.iter(), &command.body);
        for (name, value) in added {
            command.fields.set(name, value);
        }
    }
}

/// Names a namespace of the second kind (5.x) in each request, by two fields; groups and topics stay as they are. Whatever
/// signs comes after it, so the signature is over these fields, too. Equal to Java's `NamespaceRpcHook`.
#[derive(Debug)]
pub struct InNamespace {
    /// The namespace.
    pub namespace: String,
    /// What is added after these fields.
    pub then: Option<Box<dyn Sign>>,
}

impl Sign for InNamespace {
    fn sign(&self, command: &mut Command) {
        command.fields.set("nsd", "true");
        command.fields.set("ns", self.namespace.clone());
        if let Some(then) = &self.then {
            then.sign(command);
        }
    }
}

/// What a link refuses, and how it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the longest frame taken, its length field included.
    pub frame: usize,
    /// Most calls in flight; one more is ended at once.
    pub calls: usize,
    /// How headers of requests are written. Answers come in whatever form the server has.
    pub encoding: HeaderEncoding,
}

impl Default for Limits {
    fn default() -> Self {
        Self { frame: DEFAULT_FRAME_LIMIT, calls: 16_384, encoding: HeaderEncoding::Json }
    }
}

/// What comes out of a link.
#[derive(Debug)]
pub enum LinkOutput {
    /// A call made with [`Link::send`] has ended.
    Reply {
        /// Which.
        call: CallId,
        /// How.
        result: Result<Reply, CallError>,
    },
    /// A call made with [`Link::send_command`] has ended; the response may be a refusal.
    Response {
        /// Which.
        call: CallId,
        /// How.
        result: Result<Command, CallError>,
    },
    /// The peer asks something.
    Peer(PeerRequest),
    /// The peer sent a request that cannot be read; it was refused, and the connection goes on.
    Misread {
        /// Code of the request.
        code: RequestCode,
        /// Why it cannot be read.
        error: WireError,
    },
}

/// A connection's state. See the module's description for how to drive it.
#[derive(Debug)]
pub struct Link {
    limits: Limits,
    framer: Framer,
    signer: Option<Box<dyn Sign>>,
    next_opaque: i32,
    in_flight: BTreeMap<i32, InFlight>,
    deadlines: BTreeSet<(Instant, i32)>,
    outputs: VecDeque<LinkOutput>,
    to_write: VecDeque<Bytes>,
    unmatched: u64,
    closed: Option<String>,
}

#[derive(Debug)]
struct InFlight {
    call: CallId,
    sent: Instant,
    deadline: Instant,
    /// What was asked; `None` if the caller wants the command as it came.
    request: Option<Request>,
}

impl Link {
    /// A fresh connection.
    pub fn new(limits: Limits) -> Self {
        Self {
            limits,
            framer: Framer::new(limits.frame),
            signer: None,
            next_opaque: 0,
            in_flight: BTreeMap::new(),
            deadlines: BTreeSet::new(),
            outputs: VecDeque::new(),
            to_write: VecDeque::new(),
            unmatched: 0,
            closed: None,
        }
    }

    /// The same link, signing every request.
    #[must_use]
    pub fn with_signer(self, signer: Box<dyn Sign>) -> Self {
        Self { signer: Some(signer), ..self }
    }

    /// Sends a request. Its end comes as [`LinkOutput::Reply`].
    pub fn send(&mut self, now: Instant, call: CallId, request: &Request, deadline: Instant) {
        let in_flight = InFlight { call, sent: now, deadline, request: Some(request.clone()) };
        self.start(in_flight, request.to_command());
    }

    /// Sends a command of the caller's making. Its end comes as [`LinkOutput::Response`].
    pub fn send_command(&mut self, now: Instant, call: CallId, command: Command, deadline: Instant) {
        self.start(InFlight { call, sent: now, deadline, request: None }, command);
    }

    /// Sends a command that is not answered.
    ///
    /// Errors: it cannot be written. On a closed link it is dropped.
    pub fn send_one_way(&mut self, command: Command) -> Result<(), EncodeError> {
        let opaque = self.free_opaque();
        self.write(Command { opaque: Some(opaque), ..command.one_way() })
    }

    /// Answers a request of the peer. On a closed link the answer is dropped.
    pub fn answer(&mut self, opaque: i32, answer: &Answer) {
        self.respond(answer.to_command(opaque));
    }

    /// Where to append what arrives.
    pub fn buffer(&mut self) -> &mut BytesMut {
        self.framer.buffer()
    }

    /// Takes all whole frames out of the buffer.
    ///
    /// Errors: bytes that are no frames end the connection; calls in flight are ended, and the error is returned once.
    pub fn process(&mut self) -> Result<(), WireError> {
        while self.closed.is_none() {
            let read = match self.framer.next() {
                Ok(None) => return Ok(()),
                Ok(Some(frame)) => Command::decode(frame),
                Err(error) => Err(error),
            };
            match read {
                Ok((command, _)) => self.take(command),
                Err(error) => {
                    self.close(&error.to_string());
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Ends the calls whose deadline has come.
    pub fn tick(&mut self, now: Instant) {
        while let Some(&(_, opaque)) = self.deadlines.first().filter(|(deadline, _)| *deadline <= now) {
            if let Some(in_flight) = self.forget(opaque) {
                let waited = now.since(in_flight.sent);
                let after_ms = u64::try_from(waited.as_millis()).unwrap_or(u64::MAX);
                self.end(in_flight, Err(CallError::Expired { after_ms }));
            }
        }
    }

    /// When [`Link::tick`] has something to do.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.deadlines.first().map(|&(deadline, _)| deadline)
    }

    /// Ends the connection: calls in flight, and all that come, fail with this reason. What was to be written is
    /// dropped. Later calls of this change nothing.
    pub fn close(&mut self, reason: &str) {
        if self.closed.is_some() {
            return;
        }
        self.closed = Some(reason.to_string());
        self.to_write.clear();
        self.deadlines.clear();
        for (_, in_flight) in core::mem::take(&mut self.in_flight) {
            self.end(in_flight, Err(CallError::LinkLost { reason: reason.to_string() }));
        }
    }

    /// Whether the link has closed.
    pub fn is_closed(&self) -> bool {
        self.closed.is_some()
    }

    /// The next thing that happened.
    pub fn poll(&mut self) -> Option<LinkOutput> {
        self.outputs.pop_front()
    }

    /// The next bytes to write: whole frames, in order.
    pub fn take_output(&mut self) -> Option<Bytes> {
        self.to_write.pop_front()
    }

    /// Calls in flight.
    pub fn calls(&self) -> usize {
        self.in_flight.len()
    }

    /// Responses that belonged to no call in flight, mostly because it had expired.
    pub fn unmatched(&self) -> u64 {
        self.unmatched
    }

    fn start(&mut self, in_flight: InFlight, command: Command) {
        if let Some(reason) = self.closed.clone() {
            return self.end(in_flight, Err(CallError::LinkLost { reason }));
        }
        if self.in_flight.len() >= self.limits.calls {
            let reason = "too many calls in flight".to_string();
            return self.end(in_flight, Err(CallError::LinkLost { reason }));
        }
        let opaque = self.free_opaque();
        let request = command.request_code();
        match self.write(Command { opaque: Some(opaque), ..command }) {
            Ok(()) => {
                self.deadlines.insert((in_flight.deadline, opaque));
                self.in_flight.insert(opaque, in_flight);
            }
            // What cannot be written would be refused by the peer: the caller has to send less.
            Err(error) => {
                let code = ResponseCode::MESSAGE_ILLEGAL;
                self.end(in_flight, Err(Refusal { request, code, remark: error.to_string() }.into()));
            }
        }
    }

    /// A number that no call in flight has.
    fn free_opaque(&mut self) -> i32 {
        while self.in_flight.contains_key(&self.next_opaque) {
            self.next_opaque = self.next_opaque.wrapping_add(1);
        }
        let opaque = self.next_opaque;
        self.next_opaque = self.next_opaque.wrapping_add(1);
        opaque
    }

    /// Writes a request.
    fn write(&mut self, mut command: Command) -> Result<(), EncodeError> {
        if self.closed.is_some() {
            return Ok(());
        }
        if let Some(signer) = &self.signer {
            signer.sign(&mut command);
        }
        let frame = command.encode(self.limits.encoding.fitting(command.code))?;
        self.to_write.push_back(frame);
        Ok(())
    }

    /// Writes a response, or that it cannot be written.
    fn respond(&mut self, response: Command) {
        if self.closed.is_some() {
            return;
        }
        let frame = response.encode(self.limits.encoding).or_else(|error| {
            Command::response(ResponseCode::SYSTEM_ERROR, response.opaque)
                .with_remark(error.to_string())
                .encode(self.limits.encoding)
        });
        // The second form is short and its code fits: it can always be written.
        self.to_write.extend(frame.ok());
    }

    fn take(&mut self, command: Command) {
        if !command.is_response() {
            return self.take_request(&command);
        }
        match command.opaque.and_then(|opaque| self.forget(opaque)) {
            Some(in_flight) => self.end(in_flight, Ok(command)),
            None => self.unmatched += 1,
        }
    }

    fn take_request(&mut self, command: &Command) {
        match PeerRequest::parse(command) {
            Ok(request) => self.outputs.push_back(LinkOutput::Peer(request)),
            Err(error) => {
                if !command.is_one_way() {
                    self.respond(
                        Command::response(ResponseCode::SYSTEM_ERROR, command.opaque)
                            .with_remark(error.to_string()),
                    );
                }
                self.outputs.push_back(LinkOutput::Misread { code: command.request_code(), error });
            }
        }
    }

    fn forget(&mut self, opaque: i32) -> Option<InFlight> {
        let in_flight = self.in_flight.remove(&opaque)?;
        self.deadlines.remove(&(in_flight.deadline, opaque));
        Some(in_flight)
    }

    fn end(&mut self, in_flight: InFlight, result: Result<Command, CallError>) {
        let call = in_flight.call;
        self.outputs.push_back(match in_flight.request {
            Some(request) => LinkOutput::Reply {
                call,
                result: result.and_then(|response| Reply::parse(&request, response)),
            },
            None => LinkOutput::Response { call, result },
        });
    }
}
