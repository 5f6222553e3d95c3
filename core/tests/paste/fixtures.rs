//! What `mqadmin` and a Java client really printed. `tests/tests/rocketmq/paste_fixtures.rs` made the files.

/// Both versions.
pub(crate) const VERSIONS: [&str; 2] = ["4.9.7", "5.5.0"];

/// A topic whose name is longer than tables show.
pub(crate) const LONG: &str = "audit-of-everything-that-was-ever-ordered-paid-refunded-or-returned-eu";

/// The group's members, in their order.
pub(crate) const IDS: [&str; 3] = ["10.0.3.11@7#812", "10.0.3.12@7#944", "10.0.3.13@7#377"];

macro_rules! fixtures {
    ($($name:literal),*) => {
        /// Names and texts of a version's fixtures.
        pub(crate) fn all(version: &str) -> Vec<(&'static str, &'static str)> {
            match version {
                "4.9.7" => vec![$(($name, include_str!(concat!("fixtures/4.9.7/", $name, ".txt")))),*],
                _ => vec![$(($name, include_str!(concat!("fixtures/5.5.0/", $name, ".txt")))),*],
            }
        }
    };
}

fixtures!(
    "allocateMQ",
    "client-log",
    "consumerConnection",
    "consumerProgress",
    "consumerProgress-all",
    "consumerProgress-clients",
    "consumerStatus",
    "topicRoute",
    "topicRoute-list",
    "topicStatus"
);

/// One of them, with the command that made it.
pub(crate) fn text(version: &str, name: &str) -> &'static str {
    let found = all(version).into_iter().find(|(known, _)| *known == name);
    found.unwrap_or_else(|| panic!("no fixture {name}")).1
}

/// The output alone.
pub(crate) fn output(version: &str, name: &str) -> &'static str {
    text(version, name).split_once('\n').unwrap_or_default().1
}
