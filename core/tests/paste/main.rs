//! What people paste, and what becomes of it.

mod bounds;
mod c01_json_that_is_not_json;
mod c09_sort_order;
mod c24_owners_from_outside;
mod dashboard;
mod fixtures;
mod hostile;
mod languages;
mod lists;
mod logs;
mod merging;
mod mqadmin;
mod snapshots;
#[path = "../translations/mod.rs"]
mod translations;
