//! JSON as RocketMQ's servers write it, which is not always JSON.
//!
//! The Java side prints maps with the keys they have: numbers (`{0:"10.0.0.1:10911"}`) and whole objects
//! (`{{"brokerName":"b","queueId":0,"topic":"T"}:5}`); it abbreviates an object that occurs twice to
//! `{"$ref":"$.path"}`; offsets go beyond 2^53. What it reads is looser still: keys without quotes, single quotes,
//! commas at the end, comments (measured; see `tests/golden/bodies.json` and `frames.json`).
//!
//! [`parse`] reads all of this into a [`Value`], whose numbers keep their text and whose keys are values themselves.
//! Writing is strict: what [`Value::to_text`] makes is JSON, unless a key is a number or an object, which are then
//! written as Java writes them.

mod number;
mod read;
mod reference;
#[cfg(feature = "serde")]
mod typed;
mod value;
mod write;

pub use number::Number;
pub use read::{MAX_DEPTH, MAX_VALUES, parse, parse_own, parse_with_references_kept};
#[cfg(feature = "serde")]
pub use typed::{ShapeError, read};
pub use value::{Value, object};
