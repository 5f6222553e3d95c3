//! Three members of one group in two languages, with eight queues to share: ours, Java's, ours.

use crate::java::{Cluster, Peer};
use crate::members::Members;
use serde_json::json;
use std::time::Duration;

const MINUTE: Duration = Duration::from_secs(60);

/// Their client ids, in the order in which AVG serves them.
pub const CLIENTS: [&str; 3] = ["127.0.0.1@a-rust", "127.0.0.1@b-java", "127.0.0.1@c-rust"];

/// Starts them on `orders`, which has to have eight queues, and waits until they have three, three and two. Gives our
/// two, and the number of the Java consumer in its peer.
///
/// # Panics
///
/// If they do not come to that within a minute.
pub fn start(cluster: &Cluster, peer: &mut Peer, group: &str) -> (Members, i64) {
    let java = peer.send(json!({
        "cmd": "consume", "namesrv": cluster.namesrv(), "group": group, "topic": "orders", "instance": "b-java",
    }));
    peer.answer(java, MINUTE).expect("a started Java consumer");
    let mut members = Members::new(&cluster.namesrv(), group, "orders");
    for client in [CLIENTS[0], CLIENTS[2]] {
        members.start(&["--client-id", client]);
    }
    let settled = members
        .settle(MINUTE, |owners| owners.values().map(|queues| queues.len()).collect::<Vec<_>>() == [3, 2]);
    assert!(settled, "{}", members.tails());
    peer.settle("orders", 3, MINUTE);
    (members, java)
}
