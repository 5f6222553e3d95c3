//! Access control of the real brokers: 4.9's `aclEnable` (ACL 1.0), and the authentication of 5.x, which takes the same
//! signature. ACL 1.0 itself has left 5.x: 5.5.0 comes without the module `rocketmq-acl`.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use evenkeel_tests::java::{Cluster, Options, Version};
use evenkeel_tests::members::evenkeel;
use std::io::Write;
use std::process::{Output, Stdio};

const ACCESS: &str = "evenkeel-user";
const SECRET: &str = "rosebud-4711";

/// `conf/plain_acl.yml` of 4.9: one user that may do all, so that what is refused is refused for its key.
const PLAIN_ACL: &str = "accounts:
- accessKey: evenkeel-user
  secretKey: rosebud-4711
  admin: true
";

#[test]
fn keys_decide_on_4_9() {
    let options = Options {
        broker_settings: vec![("aclEnable".to_owned(), "true".to_owned())],
        files: vec![("conf/plain_acl.yml".to_owned(), PLAIN_ACL.to_owned())],
        topics: vec![("orders".to_owned(), 4)],
        ..Options::default()
    };
    scenarios(Version::V4, &options);
}

#[test]
fn keys_decide_on_5() {
    let user = format!("{{\"username\":\"{ACCESS}\",\"password\":\"{SECRET}\"}}");
    let inner = format!("{{\"accessKey\":\"{ACCESS}\",\"secretKey\":\"{SECRET}\"}}");
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let options = Options {
        broker_settings: vec![
            setting("authenticationEnabled", "true"),
            setting(
                "authenticationProvider",
                "org.apache.rocketmq.auth.authentication.provider.DefaultAuthenticationProvider",
            ),
            setting(
                "authenticationMetadataProvider",
                "org.apache.rocketmq.auth.authentication.provider.LocalAuthenticationMetadataProvider",
            ),
            setting("initAuthenticationUser", &user),
            setting("innerClientAuthenticationCredentials", &inner),
        ],
        topics: vec![("orders".to_owned(), 4)],
        ..Options::default()
    };
    scenarios(Version::V5, &options);
}

fn scenarios(version: Version, options: &Options) {
    let cluster = Cluster::start(version, options);
    let namesrv = cluster.namesrv();
    let right = [("ROCKETMQ_ACCESS_KEY", ACCESS), ("ROCKETMQ_SECRET_KEY", SECRET)];

    let send = ["send", "-n", &namesrv, "-t", "orders", "-g", "writers"];
    let sent = run(&send, &right, "one\ntwo\nthree\n");
    assert_eq!(sent.status.code(), Some(0), "{}", told(&sent));
    let consume =
        ["consume", "-n", &namesrv, "-t", "orders", "-g", "readers", "--from", "first", "-e", "-f", "%s\\n"];
    let read = run(&consume, &right, "");
    assert_eq!(read.status.code(), Some(0), "{}", told(&read));
    let mut lines: Vec<String> = String::from_utf8_lossy(&read.stdout).lines().map(str::to_owned).collect();
    lines.sort();
    assert_eq!(lines, ["one", "three", "two"]);
    println!("{version}: the right key sends and reads");

    let wrong_secret = [("ROCKETMQ_ACCESS_KEY", ACCESS), ("ROCKETMQ_SECRET_KEY", "rosebud-4711-wrong")];
    let unknown = [("ROCKETMQ_ACCESS_KEY", "nobody"), ("ROCKETMQ_SECRET_KEY", SECRET)];
    for (what, environment) in
        [("a wrong secret key", wrong_secret.as_slice()), ("an unknown key", &unknown), ("no key", &[])]
    {
        for args in [send.as_slice(), &consume] {
            let output = run(args, environment, "one\n");
            println!("{version}, {} with {what}: {}", args[0], told(&output));
            assert_eq!(output.status.code(), Some(5), "{what}: {}", told(&output));
            assert!(told(&output).contains("hint: check"), "{what}: {}", told(&output));
        }
    }
}

fn run(args: &[&str], environment: &[(&str, &str)], input: &str) -> Output {
    let mut command = evenkeel(args);
    command.args(["--timeout", "90s"]).envs(environment.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Whoever is refused may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    let output = child.wait_with_output().unwrap();
    for text in [&output.stdout, &output.stderr] {
        assert!(!String::from_utf8_lossy(text).contains(SECRET), "{args:?} told the secret");
    }
    output
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
