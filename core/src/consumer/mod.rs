//! The push consumer as one sans-IO machine. (Under construction: its doors are fixed, see [`io`].)

pub mod io;
pub mod timers;
