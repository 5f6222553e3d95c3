//! Proof across packages.
//!
//! | module | what it is for |
//! |---|---|
//! | [`world`] | whole groups in virtual time, decided by a seed, judged by an oracle |
//! | [`java`] | real Apache RocketMQ servers and Java clients, started and ended by a test |
//! | [`members`] | members of a group that are processes: the built command |
//! | [`mqadmin`] | reading what the `mqadmin` tool prints |
//! | [`payload`] | message bodies that producer and consumer can both compute |
//! | [`raw`] | a connection that sends what a test wants sent |
//! | [`tally`] | which of those messages have arrived |
//! | [`trio`] | three members in two languages that share eight queues |
//! | [`layers`] | the direction of dependencies and the size of files |

pub mod java;
pub mod layers;
pub mod members;
pub mod mqadmin;
pub mod payload;
pub mod raw;
pub mod tally;
pub mod trio;
pub mod world;
