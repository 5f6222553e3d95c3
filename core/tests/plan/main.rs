//! Plans: figures that are known beforehand, findings, properties.

mod figures;
mod findings;
mod planning;
mod properties;
