//! Against real Apache RocketMQ, 4.9.7 and 5.5.0. One file for each behaviour, all in one program: linking is most of what
//! building them takes, and two tests at a time are always at work.

mod acl;
mod allocations;
mod broadcasting;
mod broker_gone;
mod consume_directly;
mod control;
mod failures_come_back;
mod foreign_members;
mod groups;
mod handover;
mod hundred_thousand;
mod java_on_embedded;
mod listed_twice;
mod member_figures;
mod mixed_group;
mod mqadmin_sees_us;
mod namespaces;
mod options;
mod orderly;
mod paste_fixtures;
mod plans;
mod pop;
mod pop_on_embedded;
mod pop_refusals;
mod refusals;
mod reset;
mod restart_resumes;
mod servers;
mod slave;
mod tls;
