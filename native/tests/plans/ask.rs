//! Running the binary.

use assert_cmd::Command;
use serde_json::{Value, json};
use std::time::Duration;

/// How the binary answered.
pub(crate) struct Answer {
    pub(crate) code: i32,
    pub(crate) out: String,
    pub(crate) said: String,
}

impl Answer {
    /// Its one JSON value.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.said))
    }

    /// Its lines of JSON.
    pub(crate) fn lines(&self) -> Vec<Value> {
        self.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Runs the binary with nothing of this process's settings.
pub(crate) fn ask(args: &[&str]) -> Answer {
    ask_with(args, "")
}

/// The same, with this on stdin.
pub(crate) fn ask_with(args: &[&str], stdin: &str) -> Answer {
    let mut command = Command::cargo_bin("evenkeel").unwrap();
    for variable in ["NAMESRV_ADDR", "ROCKETMQ_NAMESRV_ADDR", "KUBERNETES_SERVICE_HOST", "INVOCATION_ID"] {
        command.env_remove(variable);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").env_remove("EVENKEEL_CONFIG").env_remove("RUST_LOG");
    let output = command.timeout(Duration::from_secs(60)).args(args).write_stdin(stdin).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code().unwrap(), out: text(output.stdout), said: text(output.stderr) }
}

/// A group of the members `c1` … and one topic on `broker-a`.
pub(crate) fn group(queues: u32, members: u32) -> Value {
    json!({
        "schema": "evenkeel.snapshot/1",
        "group": "pay-worker",
        "topics": [{"topic": "orders", "brokers": [{"broker": "broker-a", "readQueues": queues}]}],
        "consumers": (1..=members).map(|number| json!({"id": format!("c{number}")})).collect::<Vec<_>>(),
    })
}

/// Runs the binary with a group on stdin.
pub(crate) fn ask_about(group: &Value, args: &[&str]) -> Answer {
    ask_with(&[args, &["--from", "-"]].concat(), &group.to_string())
}
