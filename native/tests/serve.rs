//! `evenkeel serve`: the page and the groups of a cluster, for this machine only.
#![cfg(all(unix, feature = "admin"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

#[path = "helpers/process.rs"]
mod process;

use process::{Running, get, get_as};
use serde_json::Value;
use std::path::PathBuf;

/// A folder like that of the built page; gone with the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str, files: &[(&str, &str)]) -> Self {
        let folder = std::env::temp_dir().join(format!("evenkeel-serve-{}-{name}", std::process::id()));
        for (name, text) in files {
            let file = folder.join(name);
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, text).unwrap();
        }
        Self(folder)
    }

    fn page(name: &str) -> Self {
        let html = "<!doctype html><head><title>t</title></head><body></body>";
        Self::new(name, &[("index.html", html), ("assets/a.js", "1"), ("assets/b.wasm", "\0asm")])
    }

    fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// A server of this page; its address is free until it is chosen.
fn serve(page: &Folder, more: &[&str]) -> (Running, String) {
    let served = Running::start(&[&["serve", "--page", page.path()][..], more].concat());
    let url = served.printed("http://");
    let address = url.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_owned();
    (served, address)
}

fn json(answer: (u16, String, String)) -> (u16, Value) {
    (answer.0, serde_json::from_str(&answer.2).unwrap_or_else(|error| panic!("{error}: {answer:?}")))
}

#[test]
fn the_files_of_the_page() {
    let page = Folder::page("files");
    let (mut served, address) = serve(&page, &[]);
    assert!(address.starts_with("127.0.0.1:"), "{address}");
    let (status, head, body) = get(&address, "/");
    assert_eq!(status, 200);
    assert!(head.contains("text/html; charset=utf-8") && head.contains("nosniff"), "{head}");
    assert!(body.contains("<meta name=\"evenkeel-live\" content=\"api/\"></head>"), "{body}");
    assert_eq!(get(&address, "/index.html").2, body);
    assert!(get(&address, "/assets/a.js").1.contains("text/javascript"));
    assert!(get(&address, "/assets/b.wasm").1.contains("application/wasm"));
    for elsewhere in ["/assets", "/nothing", "/../Cargo.toml", "/%2e%2e/Cargo.toml", "//etc/passwd"] {
        assert_eq!(get(&address, elsewhere).0, 404, "{elsewhere}");
    }
    served.signal("TERM");
    assert_eq!(served.end(), 0);
}

#[test]
fn live_groups_and_what_cannot_be_told_of_them() {
    let broker = Running::start(&["broker", "--listen", "127.0.0.1:0", "--topic", "orders:1x4"]);
    let line = broker.printed("NAMESRV_ADDR=");
    let servers = line.trim().strip_prefix("NAMESRV_ADDR=").unwrap();
    let member = Running::start(&[
        "consume",
        "-t",
        "orders",
        "-g",
        "%pay|worker",
        "-n",
        servers,
        "--client-id",
        "c1",
        "--events",
        "--json",
    ]);
    member.printed("rebalance");
    let page = Folder::page("live");
    let (_served, address) = serve(&page, &["-n", servers, "--read-only"]);

    let (status, groups) = json(get(&address, "/api/groups"));
    assert_eq!((status, &groups["schema"]), (200, &"evenkeel.groups/1".into()));
    assert_eq!(groups["groups"][0]["group"], "%pay|worker");
    let (status, live) = json(get(&address, "/api/groups/%25pay%7Cworker"));
    assert_eq!((status, &live["schema"]), (200, &"evenkeel.live/1".into()));
    assert_eq!(live["snapshot"]["schema"], "evenkeel.snapshot/1");
    assert_eq!(live["snapshot"]["consumers"][0]["id"], "c1");
    assert_eq!(live["silent"], Value::Array(Vec::new()));

    let (status, missing) = json(get(&address, "/api/groups/nobody"));
    assert_eq!(status, 404);
    assert!(missing["error"]["text"].as_str().unwrap().contains("nobody"), "{missing}");
    assert!(get(&address, "/api/groups").1.contains("no-store"));
    drop(broker);
    assert_eq!(json(get(&address, "/api/groups")).0, 502, "the servers are gone");
}

#[test]
fn without_a_name_server_the_page_is_served_and_live_groups_are_not() {
    let page = Folder::page("alone");
    let (served, address) = serve(&page, &[]);
    served.said("without a name server");
    let (status, error) = json(get(&address, "/api/groups"));
    assert_eq!(status, 503);
    assert!(error["error"]["hint"].as_str().unwrap().contains("NAMESRV_ADDR"), "{error}");
}

/// A page of another site that makes its own name lead to this machine must not read what is here.
#[test]
fn only_names_of_this_machine_are_answered_to() {
    let page = Folder::page("names");
    let (_served, address) = serve(&page, &[]);
    let port = address.rsplit(':').next().unwrap();
    for host in ["localhost", &format!("LOCALHOST:{port}"), "127.0.0.1", &format!("[::1]:{port}")] {
        assert_eq!(get_as(&address, host, "/").0, 200, "{host}");
    }
    for host in
        ["evil.example", "evil.example:80", "127.0.0.1.evil.example", "10.0.0.1", "", "@", "localhost@x"]
    {
        assert_ne!(get_as(&address, host, "/").0, 200, "{host}");
    }
}

#[test]
fn what_cannot_be_served_is_refused() {
    let refused = |args: &[&str], text: &str| {
        let mut process = Running::start(&[&["serve"][..], args].concat());
        assert_eq!(process.end(), 2, "{args:?}");
        process.said(text);
        assert_eq!(process.output(), "");
    };
    let page = Folder::page("refused");
    refused(&["--listen", "0.0.0.0:0", "--page", page.path()], "not an address of the loopback");
    refused(&["--page", "/no/such/folder"], "cannot read the page in /no/such/folder");
    let empty = Folder::new("empty", &[("other.html", "")]);
    refused(&["--page", empty.path()], "it is not the built page");
}
