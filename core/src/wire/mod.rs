//! The RocketMQ remoting protocol: bytes to values and back.

pub mod bodies;
pub mod code;
pub mod command;
mod decode;
mod encode;
pub mod error;
pub mod fields;
pub mod frame;
pub mod header;
pub mod headers;
pub mod json;
pub mod message;
pub mod peer;
pub mod reply;
pub mod request;
pub mod route;
pub mod subscription;
