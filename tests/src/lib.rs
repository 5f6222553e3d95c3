//! Proof across packages.

pub mod layers;
pub mod world;
