//! The deciding half of Evenkeel.
//!
//! This crate never opens a socket, reads a clock, spawns a thread or draws a random number of its own: time, bytes
//! and seeds are arguments, decisions are return values. The same inputs give the same outputs on every machine,
//! which is what makes a group's rebalance possible to preview and to prove.
//!
//! | layer | may use | what it knows |
//! |---|---|---|
//! | [`model`], [`time`], [`rng`], [`error`] | nothing | names, queues, instants, who is at fault |
//! | [`wire`] | model, error | bytes to commands, requests, replies and messages, and back |
//! | [`allocate`] | model | which member of a group gets which queue |
//! | [`plan`] | allocate, model | what a change does to a group, what is wrong with one |
//! | `report` (feature `serde`) | plan, allocate, model | the same as JSON, for every program that shows it |
//! | `paste` (feature `serde`) | report, plan, wire, model | what people paste, as a snapshot |
//! | [`link`] | wire, time | one connection: framing, replies to calls, deadlines |
//! | [`consumer`] | all of the above, as values | the push consumer's state machine |
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod allocate;
pub mod config;
pub mod consumer;
pub mod error;
pub mod link;
pub mod manual;
pub mod model;
mod order;
#[cfg(feature = "serde")]
pub mod paste;
pub mod plan;
#[cfg(feature = "serde")]
pub mod report;
pub mod rng;
pub mod time;
pub mod wire;
