//! The consumer machine in virtual time, one file for each behaviour.

mod c03_reset_in_flight;
mod c04_suspend;
mod c05_no_answer_is_not_no_offset;
mod c06_low_water_mark;
mod c10_the_lock_is_the_licence;
mod c11_long_poll;
mod c12_shutdown_order;
mod c18_nothing_blocks;
mod c19_topic_changes;
mod c21_name_servers;
mod c24_seen_from_outside;
mod config;
mod consumed_directly;
mod determinism;
mod filters;
mod first_commits;
mod flow_control;
mod foreign_members;
mod offsets_deleted;
mod orderly;
mod rebalance;
mod reconnect;
mod retry;
mod support;
mod window;
