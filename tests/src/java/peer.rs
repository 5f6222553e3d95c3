//! The Java program of `tests/java/Peer.java`.

use super::jvm::{Home, Version, java, on_pipes};
use serde_json::{Value, json};
use std::collections::{BTreeMap, VecDeque};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// A Java process that produces, consumes and administers as it is told by JSON lines.
///
/// | `cmd` | fields (optional ones in brackets) | answer, beside `type` and `id` |
/// |---|---|---|
/// | `produce` | `namesrv topic count [namespace seed kind queues first batch rate]` | `sent retried elapsedMs queues` |
/// | `consume` | `namesrv group topic [namespace topics expression sql instance clientIp threads batch orderly broadcast clientRebalance strategy maxReconsumeTimes seed kind failEvery delayMs bodies]` | `clientId`, then lines of its own |
/// | `stop` | `consumer` (the id of its `consume`) | `stopped` |
/// | `createTopic` | `namesrv topic queues [perm]` | |
/// | `createGroup` | `namesrv group [retryMaxTimes consumeEnable]` | |
/// | `topicStats` | `namesrv topic` | `queues`: `topic broker queue min max` |
/// | `consumeStats` | `namesrv topic group` | `queues`: `topic broker queue brokerOffset consumerOffset` |
/// | `connections` | `namesrv group` | `connections` |
/// | `runningInfo` | `namesrv group clientId` | `text`, as `mqadmin consumerStatus` prints it |
/// | `resetOffset` | `namesrv topic group timestamp` | |
/// | `options` | | `options`: what a consumer can be set to, with its default as text |
/// | `payload` | `seed kind seq` | `body` in base64 |
/// | `ping`, `shutdown` | | |
///
/// Queues are counted in the order of `MessageQueue` over all brokers, message `seq` goes to queue `seq % queues`, and
/// each queue holds its messages in the order of `seq`. A client learns the route of its group's new retry topic only
/// after half a minute: create `%RETRY%GROUP` before it, and retries come back at once.
///
/// A consumer with `topics`, a list, subscribes to all of them and to `topic`, which may be left out then.
///
/// A consumer prints `{"type":"message","id":…,"seq":…,"ok":…,"sha256":…,"topic","broker","queue","offset","msgId",
/// "reconsumeTimes","tags","keys","props","fails"}` for each message (`ok`, whether the body is the expected one, only if
/// it was given a `seed`), and `{"type":"assigned","id":…,"queues":[…]}` when its queues change.
#[derive(Debug)]
pub struct Peer {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Lines that came while an answer was awaited.
    waiting: VecDeque<Value>,
    /// Answers that nobody has asked for yet, by their command.
    answers: BTreeMap<i64, Value>,
    next_id: i64,
    _home: Home,
}

impl Peer {
    /// Starts the program with the Java client of `version`.
    ///
    /// # Panics
    ///
    /// If Java or the jars are missing, or the program does not answer.
    pub fn start(version: Version) -> Self {
        Self::start_with(version, &[])
    }

    /// As [`Self::start`], with further JVM options, such as `-Drocketmq.client.rebalance.waitInterval=1000`.
    pub fn start_with(version: Version, options: &[&str]) -> Self {
        let home = Home::new("peer");
        let mut child = on_pipes(java(version, home.path(), "512m").args(options).arg("Peer"), &home);
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a piped stdout");
        let (sender, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        let mut peer = Self {
            child,
            stdin,
            lines,
            waiting: VecDeque::new(),
            answers: BTreeMap::new(),
            next_id: 0,
            _home: home,
        };
        peer.call(json!({"cmd": "ping"}), Duration::from_secs(30));
        peer
    }

    /// Sends a command and returns its id, which was added unless it was there.
    pub fn send(&mut self, mut command: Value) -> i64 {
        let id = command["id"].as_i64().unwrap_or_else(|| {
            self.next_id += 1;
            self.next_id
        });
        command["id"] = id.into();
        let stdin = self.stdin.as_mut().expect("a peer that was not stopped");
        writeln!(stdin, "{command}").unwrap_or_else(|error| panic!("the Java peer is gone: {error}"));
        id
    }

    /// The next line that it printed and that answers no command; none if the time is over or the process ended.
    pub fn read_line(&mut self, timeout: Duration) -> Option<Value> {
        let end = Instant::now() + timeout;
        while self.waiting.is_empty() {
            self.receive(end).ok()?;
        }
        self.waiting.pop_front()
    }

    /// Sends a command and waits for its answer; other lines that come meanwhile are kept for [`Self::read_line`].
    ///
    /// # Panics
    ///
    /// If the answer is an error or does not come in time.
    pub fn call(&mut self, command: Value, timeout: Duration) -> Value {
        let text = command.to_string();
        let id = self.send(command);
        self.answer(id, timeout).unwrap_or_else(|error| panic!("Java peer: {error}, after {text}"))
    }

    /// Waits for the answer to a command sent before; other lines are kept.
    pub fn answer(&mut self, id: i64, timeout: Duration) -> Result<Value, String> {
        let end = Instant::now() + timeout;
        let line = loop {
            if let Some(line) = self.answers.remove(&id) {
                break line;
            }
            self.receive(end).map_err(|error| match error {
                RecvTimeoutError::Timeout => format!("no answer in {timeout:?}"),
                RecvTimeoutError::Disconnected => "the process ended".to_owned(),
            })?;
        };
        match line["error"].as_str() {
            Some(error) => Err(error.to_owned()),
            None => Ok(line),
        }
    }

    /// Reads lines until one says that a consumer has this many queues of a topic.
    ///
    /// # Panics
    ///
    /// If none does in time.
    pub fn settle(&mut self, topic: &str, queues: usize, timeout: Duration) {
        let end = Instant::now() + timeout;
        loop {
            let line = self.read_line(end.saturating_duration_since(Instant::now()));
            let line = line.unwrap_or_else(|| panic!("the Java member does not get {queues} queues"));
            let own = line["queues"].as_array().into_iter().flatten().filter(|queue| queue["topic"] == topic);
            if line["type"] == "assigned" && own.count() == queues {
                return;
            }
        }
    }

    /// SIGSTOP: its clients' connections stay open and nothing answers.
    pub fn freeze(&self) {
        self.signal("STOP");
    }

    /// SIGCONT after [`Self::freeze`].
    pub fn thaw(&self) {
        self.signal("CONT");
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()), "the Java peer could not be sent SIG{name}");
    }

    /// SIGKILL: its clients vanish without a word.
    pub fn kill(mut self) {
        self.end();
    }

    /// Stops its clients in order and waits for its end.
    pub fn shutdown(mut self) {
        self.call(json!({"cmd": "shutdown"}), Duration::from_secs(60));
    }

    /// Takes in one line: an answer for whoever asked, however late that is, or one for [`Self::read_line`].
    fn receive(&mut self, end: Instant) -> Result<(), RecvTimeoutError> {
        let line = self.lines.recv_timeout(end.saturating_duration_since(Instant::now()))?;
        let line: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("the Java peer printed {line:?}: {error}"));
        match line["id"].as_i64().filter(|_| line["type"] == "done" || line["type"] == "error") {
            Some(id) => drop(self.answers.insert(id, line)),
            None => self.waiting.push_back(line),
        }
        Ok(())
    }

    fn end(&mut self) {
        // Fails only if it ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.stdin = None;
        self.end();
    }
}
