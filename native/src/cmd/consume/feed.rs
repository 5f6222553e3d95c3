//! `--send-stdin`: lines of stdin become messages of the embedded broker.

use crate::cmd::exit::Failure;
use evenkeel::embedded::{Draft, EmbeddedBroker};
use std::io::BufRead;
use tokio::sync::mpsc;

/// Lines of stdin, read on a thread of their own, which may block for ever.
pub(in crate::cmd) fn stdin_lines() -> mpsc::Receiver<std::io::Result<Vec<u8>>> {
    let (tell, told) = mpsc::channel(256);
    std::thread::spawn(move || {
        let mut input = std::io::stdin().lock();
        loop {
            let mut line = Vec::new();
            let read = input.read_until(b'\n', &mut line);
            while matches!(line.last(), Some(b'\n' | b'\r')) {
                line.pop();
            }
            match read {
                Ok(0) => return,
                Ok(_) if tell.blocking_send(Ok(line)).is_ok() => {}
                Ok(_) => return,
                Err(error) => {
                    // Nobody listens any more, or the reader ends with this.
                    let _ = tell.blocking_send(Err(error));
                    return;
                }
            }
        }
    });
    told
}

/// Publishes all lines to the topic, queue by queue in turn.
pub(super) async fn publish_stdin(broker: &EmbeddedBroker, topic: &str, queues: i32) -> Result<(), Failure> {
    let mut lines = stdin_lines();
    let mut turn = (0..queues).cycle();
    while let Some(line) = lines.recv().await {
        let draft = Draft::new(line?);
        let draft = match turn.next() {
            Some(queue) => draft.queue(queue),
            None => draft,
        };
        let published = broker.publish(0, topic, draft).await;
        published
            .map_err(|error| Failure::other(error.to_string()))?
            .map_err(|error| Failure::other(error.to_string()))?;
    }
    Ok(())
}
