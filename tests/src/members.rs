//! Members of a group that are processes of their own: the built `evenkeel` command, read line by line.
//!
//! ```no_run
//! use evenkeel_tests::members::Members;
//! use std::time::Duration;
//!
//! let mut members = Members::new("127.0.0.1:9876", "pay", "orders");
//! let first = members.start(&[]);
//! while let Some((member, line)) = members.next(Duration::from_secs(1)) {
//!     println!("{member}: {line}");
//! }
//! let ended = members.stop(first);
//! assert_eq!(ended.code, Some(0), "{}", ended.stderr);
//! ```

use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Write;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// How long a process may take to end after SIGTERM before the test fails.
const END: Duration = Duration::from_secs(90);

/// The command that was built with the tests' profile: it stands next to the folder of the test's own executable.
///
/// # Panics
///
/// If it is not there: nothing here builds it.
fn program() -> PathBuf {
    let own = std::env::current_exe().expect("the path of this test");
    let folder = own.parent().and_then(|deps| deps.parent()).expect("target/PROFILE/deps/TEST");
    let path = folder.join("evenkeel");
    assert!(
        path.exists(),
        "{} is missing: build it with the profile of the tests first, as `tests/run rocketmq` does \
         (cargo build --profile proof -p evenkeel -p evenkeel-tests --bin evenkeel --test rocketmq)",
        path.display()
    );
    path
}

/// The built command with arguments, and nothing from outside: no settings of the environment, no stdin.
pub fn evenkeel(arguments: &[&str]) -> Command {
    let mut command = Command::new(program());
    command.args(arguments).env_remove("NAMESRV_ADDR").env_remove("RUST_LOG").stdin(Stdio::null());
    command
}

/// How a process ended.
#[derive(Clone, Debug)]
pub struct Ended {
    /// Exit code, none if a signal ended it.
    pub code: Option<i32>,
    /// Everything it wrote to stderr.
    pub stderr: String,
    /// Its last line, of type `shutdown`, if it came to that.
    pub shutdown: Option<Value>,
}

/// Several processes of one group.
#[derive(Debug)]
pub struct Members {
    namesrv: String,
    group: String,
    topic: String,
    members: Vec<Member>,
    tell: Sender<(usize, Option<String>)>,
    told: Receiver<(usize, Option<String>)>,
    waiting: VecDeque<(usize, Value)>,
}

#[derive(Debug)]
struct Member {
    client: String,
    child: Child,
    stderr: Arc<Mutex<String>>,
    /// Reads stderr until its end.
    listener: Option<JoinHandle<()>>,
    /// By topic.
    owned: BTreeMap<String, BTreeSet<String>>,
    shutdown: Option<Value>,
    /// Its stdout is at its end.
    silent: bool,
    running: bool,
}

impl Members {
    /// No member yet.
    pub fn new(namesrv: &str, group: &str, topic: &str) -> Self {
        let (tell, told) = mpsc::channel();
        let (namesrv, group, topic) = (namesrv.to_owned(), group.to_owned(), topic.to_owned());
        Self { namesrv, group, topic, members: Vec::new(), tell, told, waiting: VecDeque::new() }
    }

    /// Starts `evenkeel consume --json --events --from first` with further arguments. Gives the member's number.
    ///
    /// Its client id is `127.0.0.1@rust-NUMBER` unless the arguments say something else.
    pub fn start(&mut self, arguments: &[&str]) -> usize {
        let number = self.members.len();
        let named = arguments.iter().position(|argument| *argument == "--client-id");
        let client = named.and_then(|at| arguments.get(at + 1)).map(|id| (*id).to_owned());
        let client = client.unwrap_or_else(|| format!("127.0.0.1@rust-{number}"));
        let mut command = evenkeel(&[]);
        command.args(["consume", "-n", &self.namesrv, "-g", &self.group, "-t", &self.topic]);
        command.args(["--json", "--events", "--from", "first"]);
        if named.is_none() {
            command.args(["--client-id", &client]);
        }
        let mut child = command
            .args(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", program().display()));
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let tell = self.tell.clone();
        thread::spawn(move || {
            let lines = stdout.map(BufReader::new).into_iter().flat_map(BufRead::lines);
            for line in lines.map_while(Result::ok) {
                if tell.send((number, Some(line))).is_err() {
                    return;
                }
            }
            // An error only says that the test is over.
            let _ = tell.send((number, None));
        });
        let text = Arc::new(Mutex::new(String::new()));
        let written = Arc::clone(&text);
        let listener = thread::spawn(move || {
            for line in stderr.map(BufReader::new).into_iter().flat_map(BufRead::lines).map_while(Result::ok)
            {
                let mut written = written.lock().unwrap_or_else(PoisonError::into_inner);
                written.push_str(&line);
                written.push('\n');
            }
        });
        self.members.push(Member {
            client,
            child,
            stderr: text,
            listener: Some(listener),
            owned: BTreeMap::new(),
            shutdown: None,
            silent: false,
            running: true,
        });
        number
    }

    /// The next line of any member, those that were set aside first; none if nothing came in this time.
    ///
    /// # Panics
    ///
    /// If a member printed something that is no JSON.
    pub fn next(&mut self, timeout: Duration) -> Option<(usize, Value)> {
        if let Some(line) = self.waiting.pop_front() {
            return Some(line);
        }
        let end = Instant::now() + timeout;
        loop {
            let (number, line) =
                self.told.recv_timeout(end.saturating_duration_since(Instant::now())).ok()?;
            if let Some(line) = self.note(number, line) {
                return Some(line);
            }
        }
    }

    /// Waits until the members' queues (all running ones, those with none included) are as the condition wants.
    /// Lines that come meanwhile are set aside. False if the time is over.
    pub fn settle(
        &mut self,
        timeout: Duration,
        wanted: impl Fn(&BTreeMap<usize, BTreeSet<String>>) -> bool,
    ) -> bool {
        let end = Instant::now() + timeout;
        loop {
            if wanted(&self.owners()) {
                return true;
            }
            let Ok((number, line)) = self.told.recv_timeout(end.saturating_duration_since(Instant::now()))
            else {
                return false;
            };
            let line = self.note(number, line);
            self.waiting.extend(line);
        }
    }

    /// The queues (`broker/number` of the topic) that each running member said to own last.
    pub fn owners(&self) -> BTreeMap<usize, BTreeSet<String>> {
        self.owners_of(&self.topic)
    }

    /// As [`Self::owners`], of another topic: a member takes more of them by further arguments `-t TOPIC`.
    pub fn owners_of(&self, topic: &str) -> BTreeMap<usize, BTreeSet<String>> {
        let running = self.members.iter().enumerate().filter(|(_, member)| member.running);
        running
            .map(|(number, member)| (number, member.owned.get(topic).cloned().unwrap_or_default()))
            .collect()
    }

    /// The client id of a member.
    pub fn client(&self, member: usize) -> &str {
        &self.members[member].client
    }

    /// What a member has written to stderr so far.
    pub fn stderr(&self, member: usize) -> String {
        self.members[member].stderr.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// SIGTERM, without waiting for the end.
    pub fn terminate(&self, member: usize) {
        self.signal(member, "TERM");
    }

    /// SIGSTOP: its connections stay open and it answers nothing, as if its machine had lost power.
    pub fn freeze(&self, member: usize) {
        self.signal(member, "STOP");
    }

    /// SIGCONT after [`Self::freeze`].
    pub fn thaw(&self, member: usize) {
        self.signal(member, "CONT");
    }

    fn signal(&self, member: usize, name: &str) {
        let pid = self.members[member].child.id().to_string();
        let sent = Command::new("kill").args(["-s", name, &pid]).status();
        assert!(sent.is_ok_and(|status| status.success()), "member {member} could not be sent SIG{name}");
    }

    /// SIGTERM, and waits for the end. Lines that come meanwhile are set aside.
    pub fn stop(&mut self, member: usize) -> Ended {
        self.terminate(member);
        self.ended(member, END)
    }

    /// SIGKILL: it vanishes without a word. What it had printed is set aside.
    pub fn kill(&mut self, member: usize) -> Ended {
        // Fails only if it ended already.
        let _ = self.members[member].child.kill();
        self.ended(member, END)
    }

    /// Waits for the end of a member by itself.
    ///
    /// # Panics
    ///
    /// If it is still there after this time.
    pub fn ended(&mut self, member: usize, timeout: Duration) -> Ended {
        let end = Instant::now() + timeout;
        while !self.members[member].silent {
            let Ok((number, line)) = self.told.recv_timeout(end.saturating_duration_since(Instant::now()))
            else {
                panic!("member {member} is still there after {timeout:?}; {}", self.tails());
            };
            let line = self.note(number, line);
            self.waiting.extend(line);
        }
        let status = loop {
            match self.members[member].child.try_wait().expect("a child of ours") {
                Some(status) => break status,
                None if Instant::now() >= end => {
                    panic!("member {member} is still there after {timeout:?}; {}", self.tails())
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        self.members[member].running = false;
        self.members[member].owned.clear();
        // The end of the process is not the end of what its pipe still holds.
        if let Some(listener) = self.members[member].listener.take() {
            listener.join().unwrap_or_else(|_| panic!("what member {member} wrote to stderr cannot be read"));
        }
        let stderr = self.stderr(member);
        Ended { code: status.code(), stderr, shutdown: self.members[member].shutdown.clone() }
    }

    /// The last lines that each member wrote to stderr: for the text of a failing test.
    pub fn tails(&self) -> String {
        let mut text = String::new();
        for (number, member) in self.members.iter().enumerate() {
            let stderr = self.stderr(number);
            let lines: Vec<&str> = stderr.lines().collect();
            let last = &lines[lines.len().saturating_sub(12)..];
            // Writing to a string does not fail.
            let _ = write!(text, "\nmember {number} ({}, owns {:?}) wrote\n  ", member.client, member.owned);
            text.push_str(&last.join("\n  "));
        }
        text
    }

    /// Keeps what a line says of its member; the line, if it was one.
    fn note(&mut self, number: usize, line: Option<String>) -> Option<(usize, Value)> {
        let member = &mut self.members[number];
        let Some(line) = line else {
            member.silent = true;
            return None;
        };
        let value: Value = serde_json::from_str(&line)
            .unwrap_or_else(|error| panic!("member {number} printed {line:?}: {error}"));
        match value["type"].as_str() {
            Some("rebalance") => {
                let topic = value["topic"].as_str().unwrap_or_default().to_owned();
                let owned = member.owned.entry(topic).or_default();
                for queue in strings(&value["lost"]) {
                    owned.remove(&queue);
                }
                owned.extend(strings(&value["gained"]));
                assert_eq!(
                    value["assigned"],
                    owned.len(),
                    "member {number} told only of some changes: {value}"
                );
            }
            Some("shutdown") => member.shutdown = Some(value.clone()),
            _ => {}
        }
        Some((number, value))
    }
}

impl Drop for Members {
    fn drop(&mut self) {
        for member in &mut self.members {
            // Fails only if it ended already.
            let _ = member.child.kill();
            let _ = member.child.wait();
        }
    }
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().into_iter().flatten().filter_map(Value::as_str).map(str::to_owned).collect()
}
