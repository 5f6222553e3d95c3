//! The binary as a process that a test talks to.
#![allow(dead_code, reason = "each test uses its part")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;

/// How long anything may take; far more than it does.
const PATIENCE: Duration = Duration::from_secs(30);

/// The binary with these arguments and nothing of this process's settings.
pub(crate) fn evenkeel(args: &[&str]) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("evenkeel"));
    for variable in ["NAMESRV_ADDR", "ROCKETMQ_NAMESRV_ADDR", "KUBERNETES_SERVICE_HOST", "INVOCATION_ID"] {
        command.env_remove(variable);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent");
    for variable in ["ROCKETMQ_ACCESS_KEY", "ROCKETMQ_SECRET_KEY", "ROCKETMQ_SECURITY_TOKEN"] {
        command.env_remove(variable);
    }
    for variable in ["EVENKEEL_CONFIG", "EVENKEEL_LOG", "RUST_LOG"] {
        command.env_remove(variable);
    }
    command.args(args);
    command
}

/// A running process; it is killed with the test.
pub(crate) struct Running {
    child: Child,
    stdin: Option<ChildStdin>,
    out: Lines,
    err: Lines,
}

impl Running {
    pub(crate) fn start(args: &[&str]) -> Self {
        Self::spawn(evenkeel(args))
    }

    pub(crate) fn spawn(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let out = Lines::of(child.stdout.take().unwrap());
        let err = Lines::of(child.stderr.take().unwrap());
        Self { stdin: child.stdin.take(), child, out, err }
    }

    /// The first line of stdout with this in it, once it is there.
    pub(crate) fn printed(&self, what: &str) -> String {
        self.out.wait_for(what)
    }

    /// The first line of stderr with this in it, once it is there.
    pub(crate) fn said(&self, what: &str) -> String {
        self.err.wait_for(what)
    }

    /// All of stdout so far.
    pub(crate) fn output(&self) -> String {
        self.out.all()
    }

    /// All of stderr so far.
    pub(crate) fn talk(&self) -> String {
        self.err.all()
    }

    pub(crate) fn write(&mut self, text: &str) {
        self.stdin.as_mut().unwrap().write_all(text.as_bytes()).unwrap();
    }

    pub(crate) fn signal(&self, name: &str) {
        let sent = Command::new("kill").args([format!("-{name}"), self.child.id().to_string()]).status();
        assert!(sent.unwrap().success(), "cannot send {name}");
    }

    /// Its exit code, once it has ended.
    pub(crate) fn end(&mut self) -> i32 {
        let mut code = None;
        until("the end of the process", || {
            code = self.child.try_wait().unwrap();
            code.is_some()
        });
        code.unwrap().code().expect("it was not killed")
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Lines that a thread reads.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<String>>>);

impl Lines {
    fn of(stream: impl Read + Send + 'static) -> Self {
        let lines = Self::default();
        let read = lines.clone();
        std::thread::spawn(move || {
            for line in BufReader::new(stream).lines().map_while(Result::ok) {
                read.0.lock().unwrap().push(line);
            }
        });
        lines
    }

    fn wait_for(&self, what: &str) -> String {
        let began = Instant::now();
        loop {
            if let Some(line) = self.0.lock().unwrap().iter().find(|line| line.contains(what)) {
                return line.clone();
            }
            assert!(began.elapsed() < PATIENCE, "still waiting for {what:?}, there is only:\n{}", self.all());
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn all(&self) -> String {
        self.0.lock().unwrap().join("\n")
    }
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < PATIENCE, "still waiting for {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Status, head and body of a page.
pub(crate) fn get(address: &str, path: &str) -> (u16, String, String) {
    get_as(address, address, path)
}

/// The same, asked under another name.
pub(crate) fn get_as(address: &str, host: &str, path: &str) -> (u16, String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    (status, head.to_owned(), body.to_owned())
}
