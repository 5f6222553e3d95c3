//! Names of protocol versions: the number in every command stands for a release of the Java library.

use alloc::format;
use alloc::string::String;

/// Releases that each of the lines 3.3 to 3.9 has: they start at `.1`.
const SHORT_LINE: i32 = 9;
/// Releases that any other line has.
const LINE: i32 = 10;

/// The release that a version number stands for, such as `5.3.1`, or `5.3.1-SNAPSHOT` for what came before it. `None`
/// beyond 5.9.9, where no release has a number yet, and for the betas before 3.0.1.
///
/// The numbers are places in a list that Java keeps (rocketmq:common/src/main/java/org/apache/rocketmq/common/MQVersion.java):
/// each release stands behind its snapshot, and the lines follow each other with as many places as they were thought to
/// need.
///
/// ```
/// use evenkeel_core::wire::version::release;
///
/// assert_eq!(release(475).as_deref(), Some("5.3.1"));
/// assert_eq!(release(406).as_deref(), Some("4.9.7-SNAPSHOT"));
/// ```
pub fn release(version: i32) -> Option<String> {
    let (major, minor, patch) = match (version >> 1, version) {
        (place, 16..=45) => (3, 0, place - 8 + 1),
        (place, 46..=85) => lines(3, 1, place - 23, LINE, 0),
        (place, 86..=211) => lines(3, 3, place - 43, SHORT_LINE, 1),
        (place, 212..=411) => lines(4, 0, place - 106, LINE, 0),
        (place, 412..=611) => lines(5, 0, place - 206, LINE, 0),
        _ => return None,
    };
    let snapshot = if version % 2 == 0 { "-SNAPSHOT" } else { "" };
    Some(format!("{major}.{minor}.{patch}{snapshot}"))
}

/// The release at a place behind the first of the line `major.minor`.
const fn lines(major: i32, minor: i32, place: i32, each: i32, first: i32) -> (i32, i32, i32) {
    (major, minor + place / each, first + place % each)
}
