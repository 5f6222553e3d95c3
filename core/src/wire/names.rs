//! Names of topics and groups. (Stub.)

use alloc::string::String;

/// Whether a group's name is allowed.
///
/// # Errors
/// Why not.
pub fn validate_group(_name: &str) -> Result<(), String> {
    Ok(())
}

/// Whether a topic's name is allowed.
///
/// # Errors
/// Why not.
pub fn validate_topic(_name: &str) -> Result<(), String> {
    Ok(())
}
