//! Proof across packages.

pub mod layers;
