//! Proof across packages.
//!
//! | module | what it is for |
//! |---|---|
//! | [`world`] | whole groups in virtual time, decided by a seed, judged by an oracle |
//! | [`java`] | real Apache RocketMQ servers and Java clients, started and ended by a test |
//! | [`mqadmin`] | reading what the `mqadmin` tool prints |
//! | [`payload`] | message bodies that producer and consumer can both compute |
//! | [`layers`] | the direction of dependencies and the size of files |

pub mod java;
pub mod layers;
pub mod mqadmin;
pub mod payload;
pub mod world;
