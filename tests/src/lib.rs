//! Proof across packages.
//!
//! | module | what it is for |
//! |---|---|
//! | [`java`] | real Apache RocketMQ servers and Java clients, started and ended by a test |
//! | [`mqadmin`] | reading what the `mqadmin` tool prints |
//! | [`payload`] | message bodies that producer and consumer can both compute |

pub mod java;
pub mod mqadmin;
pub mod payload;
