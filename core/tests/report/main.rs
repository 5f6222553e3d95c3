//! Plans as JSON: shapes, answers and errors.

mod c15_same_client_id;
mod changes;
mod errors;
mod groups;
mod hostile;
mod languages;
mod link;
mod plan_figures;
mod redact;
mod round_trips;
mod sharing;
mod strategies;
mod transcripts;
#[path = "../translations/mod.rs"]
mod translations;
mod verify;
