//! The push consumer as one sans-IO machine. (Under construction: its doors are fixed, see [`io`].)

pub mod io;
pub mod timers;

use crate::config::{ConfigError, ConsumerConfig};
use crate::time::Instant;
use io::{Input, Output};

/// The machine. (Stub.)
#[derive(Debug)]
pub struct Consumer(());

impl Consumer {
    /// Stub.
    ///
    /// # Errors
    /// None.
    pub fn new(_config: ConsumerConfig, _seed: u64, _now: Instant) -> Result<Self, ConfigError> {
        Ok(Self(()))
    }
    /// Stub.
    pub fn handle(&mut self, _now: Instant, _input: Input) {}
    /// Stub.
    pub fn poll(&mut self) -> Output {
        Output::Idle { wake: None }
    }
}
