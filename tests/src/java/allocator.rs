//! The Java program of `tests/java/Allocate.java`.

use super::jvm::{Home, Version, java, on_pipes};
use serde_json::Value;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout};

/// A Java process that answers with what the client's own strategy classes give.
///
/// A case is `{"strategy": …, "queues": [[topic, broker, id], …], "members": […], "ask": […]}`; both lists may have any
/// order, the program sorts them as the rebalance does. `strategy` is a `name` (that of `getName`) and, by the name:
///
/// | `name` | fields |
/// |---|---|
/// | `AVG`, `AVG_BY_CIRCLE` | |
/// | `CONSISTENT_HASH` | `virtualNodes` |
/// | `MACHINE_ROOM` | `rooms`, or none to never set them |
/// | `MACHINE_ROOM_NEARBY` | `inner`, and `separator` or `brokerRooms` with `memberRooms` as `[[name, room], …]` |
/// | `CONFIG` | `queues`, or none to never set them |
///
/// The answer is `{"name": …, "shares": […]}` with a share for each of `ask`, in the strategy's own order: numbers of the
/// queues as they were given, from 0; for queues of a CONFIG list -1, -2, … by that list. In place of a share, or of the
/// whole answer, stands `{"error": {"class": …, "message": …}}`.
#[derive(Debug)]
pub struct Allocator {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    _home: Home,
}

impl Allocator {
    /// Starts the program with the Java client of `version`, in a small heap.
    ///
    /// # Panics
    ///
    /// If Java or the jars are missing.
    pub fn start(version: Version) -> Self {
        let home = Home::new("allocate");
        let mut child = on_pipes(java(version, home.path(), "256m").arg("Allocate"), &home);
        let stdin = child.stdin.take();
        let stdout = BufReader::new(child.stdout.take().expect("a piped stdout"));
        Self { child, stdin, stdout, _home: home }
    }

    /// What Java answers to a case.
    ///
    /// # Panics
    ///
    /// If the program ended; its folder with `stderr.log` is then kept.
    pub fn ask(&mut self, case: &Value) -> Value {
        let stdin = self.stdin.as_mut().expect("stdin is open until the end");
        writeln!(stdin, "{case}").unwrap_or_else(|error| panic!("the Java program is gone: {error}"));
        let mut line = String::new();
        let read = self.stdout.read_line(&mut line).expect("a readable answer");
        assert!(read > 0, "the Java program ended at {case}");
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("Java printed {line:?}: {error}"))
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        self.stdin = None;
        // Fails only if it ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
