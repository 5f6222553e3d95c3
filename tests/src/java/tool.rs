//! `mqadmin` for servers that are not Java's.

use super::jvm::{Home, Version, java};
use std::process::Stdio;

/// Runs `mqadmin ARGUMENTS -n NAMESRV` and gives all that it printed.
///
/// # Panics
///
/// If Java or the jars are missing.
pub fn mqadmin(version: Version, namesrv: &str, arguments: &[&str]) -> String {
    let home = Home::new("mqadmin");
    let output = java(version, home.path(), "128m")
        .arg("-XX:TieredStopAtLevel=1")
        .arg("org.apache.rocketmq.tools.command.MQAdminStartup")
        .args(arguments)
        .args(["-n", namesrv])
        .stdin(Stdio::null())
        .output()
        .unwrap_or_else(|error| panic!("cannot start java: {error}"));
    [output.stdout, output.stderr].iter().map(|said| String::from_utf8_lossy(said)).collect()
}
