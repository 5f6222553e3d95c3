//! A RocketMQ push consumer for tokio whose rebalance you can trust, preview and prove.

pub mod embedded;
