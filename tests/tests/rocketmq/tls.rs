//! TLS with the real servers: `tls.server.mode` enforcing, with and without certificates of clients, and disabled.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "../../../native/tests/helpers/certificates.rs"]
mod certificates;

use certificates::{Ca, Folder};
use evenkeel_tests::java::{Cluster, Options, Tls, Version};
use evenkeel_tests::members::evenkeel;
use std::io::Write;
use std::process::{Output, Stdio};

#[test]
fn connections_are_encrypted_on_4_9() {
    scenarios(Version::V4);
}

#[test]
fn connections_are_encrypted_on_5() {
    scenarios(Version::V5);
}

/// The CA of the servers and another one, with a certificate of each for a client.
struct World {
    ca: Ca,
    ca_file: String,
    other_ca_file: String,
    ours: [String; 2],
    others: [String; 2],
    _folder: Folder,
}

impl World {
    fn new() -> Self {
        let (ca, other, folder) = (Ca::new("the CA"), Ca::new("another CA"), Folder::new());
        let pair = |name: &str, of: &Ca| {
            let signed = of.sign(&[name]);
            let certificate = folder.write(&format!("{name}.pem"), &signed.certificate);
            [certificate, folder.write(&format!("{name}.key"), &signed.key)]
        };
        let (ours, others) = (pair("ours", &ca), pair("others", &other));
        let ca_file = folder.write("ca.pem", &ca.pem);
        let other_ca_file = folder.write("other-ca.pem", &other.pem);
        Self { ca, ca_file, other_ca_file, ours, others, _folder: folder }
    }

    fn cluster(&self, version: Version, clients_show_theirs: bool) -> Cluster {
        let signed = self.ca.sign(&["127.0.0.1"]);
        let tls = Tls {
            ca: self.ca.pem.clone(),
            certificate: signed.certificate,
            key: signed.key,
            clients_show_theirs,
        };
        let options = Options { tls: Some(tls), ..Options::default() };
        let cluster = Cluster::start(version, &options);
        cluster.create_topic("orders", 4);
        cluster
    }
}

fn scenarios(version: Version) {
    let world = World::new();
    let trust = ["--tls-ca", world.ca_file.as_str()];

    let cluster = world.cluster(version, false);
    let namesrv = cluster.namesrv();
    passes(version, &namesrv, &trust);
    passes(version, &namesrv, &["--tls-insecure-skip-verify"]);
    // What Java sees of it.
    let progress = cluster.mqadmin(&["consumerProgress", "-g", "readers"]);
    assert!(progress.contains("orders"), "{progress}");
    is_refused(version, &namesrv, &[], "takes nothing but TLS", "say --tls");
    let other = ["--tls-ca", world.other_ca_file.as_str()];
    is_refused(version, &namesrv, &other, "signed by nobody we trust", "--tls-ca");
    let named = [&trust[..], &["--tls-server-name", "mq.example"]].concat();
    is_refused(version, &namesrv, &named, "not for mq.example, but for 127.0.0.1", "--tls-server-name");
    drop(cluster);

    let cluster = world.cluster(version, true);
    let namesrv = cluster.namesrv();
    let [certificate, key] = &world.ours;
    let ours = [&trust[..], &["--tls-cert", certificate, "--tls-key", key]].concat();
    passes(version, &namesrv, &ours);
    is_refused(version, &namesrv, &trust, "wants a certificate of ours", "--tls-cert");
    let [certificate, key] = &world.others;
    let others = [&trust[..], &["--tls-cert", certificate, "--tls-key", key]].concat();
    is_refused(version, &namesrv, &others, "the server refuses us", "trust the CA");
    drop(cluster);

    let cluster = Cluster::start(version, &Options::default());
    is_refused(version, &cluster.namesrv(), &trust, "does it speak TLS?", "leave --tls away");
}

/// Sends, reads what was sent, and looks at route and group.
fn passes(version: Version, namesrv: &str, options: &[&str]) {
    let run = |args: &[&str], input: &str| {
        let output = run(&[args, &["-n", namesrv], options].concat(), input);
        assert_eq!(output.status.code(), Some(0), "{version} {args:?}: {}", told(&output));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    run(&["send", "-t", "orders", "-g", "writers"], "one\ntwo\nthree\n");
    let read = run(&["consume", "-t", "orders", "-g", "readers", "--from", "first", "-e", "-f", "%s\\n"], "");
    let mut lines: Vec<&str> = read.lines().collect();
    lines.sort_unstable();
    assert_eq!(lines, ["one", "three", "two"]);
    assert!(run(&["route", "orders"], "").contains("broker-a"));
    assert!(run(&["group", "readers"], "").contains("readers"));
    println!("{version}: sends, reads and looks with {options:?}");
}

fn is_refused(version: Version, namesrv: &str, options: &[&str], what: &str, advice: &str) {
    for command in [
        ["route", "orders"].as_slice(),
        &["send", "-t", "orders", "-g", "writers"],
        &["consume", "-t", "orders", "-g", "others"],
    ] {
        let output = run(&[command, &["-n", namesrv], options].concat(), "one\n");
        let told = told(&output);
        println!("{version}, {} with {options:?}: {told}", command[0]);
        assert_eq!(output.status.code(), Some(5), "{told}");
        assert!(told.contains(what) && told.contains(namesrv), "{told}");
        assert!(told.contains("hint:") && told.contains(advice), "{told}");
    }
}

fn run(args: &[&str], input: &str) -> Output {
    let mut command = evenkeel(args);
    command.args(["--timeout", "90s"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Whoever is refused may end before it has read all.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    child.wait_with_output().unwrap()
}

fn told(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}
