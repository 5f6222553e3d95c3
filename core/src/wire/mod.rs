//! The RocketMQ remoting protocol: bytes to values and back.

pub mod code;
pub mod command;
pub mod error;
pub mod message;
pub mod names;
pub mod peer;
pub mod reply;
pub mod request;
pub mod subscription;
