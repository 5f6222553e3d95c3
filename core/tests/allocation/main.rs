//! Allocation strategies: vectors of the Java classes, properties, cases.

mod allocate_owners;
mod allocate_properties;
mod allocate_vectors;
mod c02_consistent_hash;
mod c09_sort_order;
mod c13_more_members_than_queues;
mod c14_machine_room;
mod c15_same_client_id;
mod draft_properties;
mod draft_vectors;
mod sharing;
mod work_done;
