//! `--exec`: a program for each message.

use evenkeel::Message;
use std::io::Write;
use std::process::{Command, Stdio};

/// How a program ended.
pub(super) enum Ended {
    /// 0
    Done,
    /// 75, the temporary failure of `sysexits`
    Later,
    /// Anything else, in words
    Failed(String),
}

/// Runs a shell command with the body on stdin and the rest in the environment.
pub(super) async fn run(command: &str, message: &Message) -> Ended {
    let (command, message) = (command.to_owned(), message.clone());
    let ran = tokio::task::spawn_blocking(move || blocking(&command, &message)).await;
    ran.unwrap_or_else(|error| Ended::Failed(error.to_string()))
}

fn blocking(command: &str, message: &Message) -> Ended {
    let queue = message.queue();
    let spawned = Command::new("sh")
        .args(["-c", command])
        .env("RMQ_TOPIC", message.topic())
        .env("RMQ_BROKER", queue.broker.as_str())
        .env("RMQ_QUEUE", queue.id.to_string())
        .env("RMQ_OFFSET", message.offset().to_string())
        .env("RMQ_MSG_ID", message.msg_id())
        .env("RMQ_KEYS", message.keys().collect::<Vec<_>>().join(" "))
        .env("RMQ_TAG", message.tag().unwrap_or_default())
        .env("RMQ_RETRIES", message.retries().to_string())
        .stdin(Stdio::piped())
        .spawn();
    let mut child = match spawned {
        Ok(child) => child,
        Err(error) => return Ended::Failed(format!("cannot run `{command}`: {error}")),
    };
    if let Some(mut stdin) = child.stdin.take() {
        // A program may end without having read everything; its exit code counts.
        let _ = stdin.write_all(message.body());
    }
    match child.wait() {
        Ok(status) => match status.code() {
            Some(0) => Ended::Done,
            Some(75) => Ended::Later,
            Some(code) => Ended::Failed(format!("`{command}` ended with {code}")),
            None => Ended::Failed(format!("`{command}` was killed by a signal")),
        },
        Err(error) => Ended::Failed(format!("`{command}`: {error}")),
    }
}
