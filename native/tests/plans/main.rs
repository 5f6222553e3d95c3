//! The commands that look at groups without touching them: `plan`, `verify`, `snapshot`, `explain`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod ask;
mod changes;
mod explain;
mod from;
mod limits;
mod live;
mod plan;
mod redact;
mod url;
mod verify;
