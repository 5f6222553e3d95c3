//! The RocketMQ remoting protocol: bytes to values and back.

pub mod acl;
pub mod batch;
pub mod client_id;
pub mod code;
pub mod command;
pub mod delivery;
pub mod error;
pub mod fields;
pub mod frame;
pub mod header;
pub mod headers;
pub mod ids;
pub mod inflate;
pub mod json;
pub mod lz4_frame;
pub mod message;
pub mod names;
pub mod peer;
pub mod properties;
pub mod reader;
pub mod reply;
pub mod request;
pub mod stored;
pub mod subscription;
pub mod sys_flag;
pub mod timestamp;
