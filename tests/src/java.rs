//! Real Apache RocketMQ: servers of a [`Version`], and Java clients driven by JSON lines.
//!
//! Everything here panics with a message that says what was missing or what the server's log ended with: without Java
//! and Maven a test that needs them fails, it is not skipped. Processes end with the test, also when it is killed:
//! each of them watches its standard input.
//!
//! ```no_run
//! use evenkeel_tests::java::{Cluster, Options, Peer, Version};
//! use serde_json::json;
//! use std::time::Duration;
//!
//! let mut cluster = Cluster::start(Version::V5, &Options::default());
//! cluster.create_topic("orders", 4);
//! let mut peer = Peer::start(Version::V5);
//! let done = peer.call(
//!     json!({"cmd": "produce", "namesrv": cluster.namesrv(), "topic": "orders", "count": 1000, "kind": "mixed", "seed": 7}),
//!     Duration::from_secs(60),
//! );
//! assert_eq!(done["sent"], 1000);
//! println!("{}", cluster.mqadmin(&["topicStatus", "-t", "orders"]));
//! ```

mod allocator;
mod cluster;
mod jvm;
mod peer;
mod remoting;
mod tls;
mod tool;

pub use allocator::Allocator;
pub use cluster::{Cluster, Options};
pub use jvm::Version;
pub use peer::Peer;
pub use tls::Tls;
pub use tool::mqadmin;
