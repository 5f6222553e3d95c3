//! The wire: vectors of the Java classes, cases, and bytes that nobody should send.

mod bodies;
mod bodies_written;
mod c01_json_that_is_not_json;
mod c15_client_ids;
mod c17_ipv6;
mod c22_signature;
mod c23_properties_and_expressions;
mod frame_splitting;
mod frames;
mod frames_captured;
mod golden;
mod ids;
mod link;
mod messages;
mod messages_any_bytes;
mod operator;
mod pop;
