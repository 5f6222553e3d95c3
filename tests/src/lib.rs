//! Proof across packages.
