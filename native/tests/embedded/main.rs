//! The embedded name server and broker, one file for each behaviour. All but the last use the machine without sockets,
//! in virtual time.

mod popping;
mod world;

mod admin;
mod assignment;
mod batch_send;
mod bounded_memory;
mod dead_letters;
mod delayed_messages;
mod faults;
mod garbage_bytes;
mod hostile_requests;
mod locks;
mod long_poll;
mod membership;
mod offset_reset;
mod offsets;
mod popped;
mod pops;
mod registration;
mod relayed_questions;
mod retention;
mod routes;
mod same_seed;
mod subscriptions;
mod tag_filter;
mod topic_creation;
