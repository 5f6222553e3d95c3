//! The command line: outputs, errors and exit codes.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on fails")]

use assert_cmd::Command;
use assert_cmd::assert::Assert;
use serde_json::Value;
use std::time::Duration;

fn evenkeel(args: &[&str]) -> Command {
    let mut command = Command::cargo_bin("evenkeel").unwrap();
    for variable in ["NAMESRV_ADDR", "ROCKETMQ_NAMESRV_ADDR", "KUBERNETES_SERVICE_HOST", "INVOCATION_ID"] {
        command.env_remove(variable);
    }
    command.env("XDG_CONFIG_HOME", "/nonexistent").env_remove("EVENKEEL_CONFIG").env_remove("RUST_LOG");
    command.timeout(Duration::from_secs(60)).args(args);
    command
}

fn stdout(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stdout.clone()).unwrap()
}

fn stderr(assert: &Assert) -> String {
    String::from_utf8(assert.get_output().stderr.clone()).unwrap()
}

fn lines(assert: &Assert) -> Vec<Value> {
    stdout(assert).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// An address where nobody listens.
fn nobody() -> String {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().to_string()
}

#[test]
fn the_first_minute() {
    let run = evenkeel(&["consume", "-t", "demo", "-g", "first", "--send-stdin", "-e"])
        .write_stdin("hello\nworld\n")
        .assert();
    let run = run.code(0);
    let mut printed: Vec<String> = stdout(&run).lines().map(str::to_owned).collect();
    printed.sort();
    assert_eq!(printed, ["demo embedded-a/0@0 hello", "demo embedded-a/1@0 world"]);
    let said = stderr(&run);
    assert!(
        said.starts_with("evenkeel: no name server given (NAMESRV_ADDR is unset): using the embedded"),
        "{said}"
    );
    assert!(said.contains("evenkeel: 2 messages, 4 queues, drained in "), "{said}");
}

#[test]
fn json_lines_start_with_where_messages_come_from() {
    let args = ["consume", "-t", "demo", "-g", "first", "--send-stdin", "-e", "--json", "--events", "-q"];
    let run = evenkeel(&args).write_stdin("{\"id\":77}\n").assert().code(0);
    let lines = lines(&run);
    assert_eq!((&lines[0]["type"], &lines[0]["broker"]), (&"start".into(), &"embedded".into()));
    let message = lines.iter().find(|line| line["type"] == "message").unwrap();
    assert_eq!((&message["body"], &message["bodyEncoding"]), (&"{\"id\":77}".into(), &"utf8".into()));
    let last = lines.last().unwrap();
    assert_eq!(
        (&last["type"], &last["cause"], &last["handedBack"]),
        (&"shutdown".into(), &"end".into(), &0.into())
    );
    assert_eq!(stderr(&run), "");
}

/// Nothing is kept of an embedded broker's offsets: the next run's broker begins anew.
#[test]
fn broadcasting_needs_no_file_on_the_embedded_broker() {
    let args = ["consume", "-t", "demo", "-g", "g", "--broadcast", "--send-stdin", "-e", "-q", "-f", "%s\\n"];
    for _ in 0..2 {
        let run = evenkeel(&args).env("HOME", "/nowhere").write_stdin("abc\n").assert().code(0);
        assert_eq!(stdout(&run), "abc\n");
    }
}

#[test]
fn a_format_of_ones_own() {
    let args = ["consume", "-t", "demo", "-g", "g", "--send-stdin", "-e", "-q", "-f", "%S:%s|%r\\n"];
    let run = evenkeel(&args).write_stdin("abc\n").assert().code(0);
    assert_eq!(stdout(&run), "3:abc|0\n");
    let run = evenkeel(&["consume", "-t", "demo", "-g", "g", "-f", "%x"]).assert().code(2);
    assert!(stderr(&run).contains("there is no %x"));
}

#[test]
fn count_stops_after_so_many_and_leaves_the_rest() {
    let args =
        ["consume", "-t", "demo", "-g", "g", "--send-stdin", "--count", "2", "-q", "--concurrency", "1"];
    let run = evenkeel(&args).write_stdin("a\nb\nc\nd\ne\n").assert().code(0);
    assert_eq!(stdout(&run).lines().count(), 2);
}

#[test]
fn programs_decide_by_their_exit_code() {
    let script = "test \"$(cat)\" = bad && exit 3; echo \"$RMQ_TOPIC $RMQ_QUEUE $RMQ_OFFSET\"";
    let args = ["consume", "-t", "demo", "-g", "g", "--send-stdin", "-e", "-q", "--exec", script];
    let run = evenkeel(&args).write_stdin("good\n").assert().code(0);
    assert_eq!(stdout(&run), "demo 0 0\n");
    let stop = [&args[..], &["--on-error", "stop"]].concat();
    let run = evenkeel(&stop).write_stdin("bad\n").assert().code(8);
    assert!(stderr(&run).contains("ended with 3"), "{}", stderr(&run));
    let skip = [&args[..], &["--on-error", "skip"]].concat();
    evenkeel(&skip).write_stdin("bad\n").assert().code(0);
}

#[test]
fn a_name_server_that_is_not_there_is_code_3() {
    let address = nobody();
    let run = evenkeel(&["consume", "-t", "orders", "-g", "pay", "-n", &address]).assert().code(3);
    let said = stderr(&run);
    assert!(said.starts_with("evenkeel: cannot reach a name server\n"), "{said}");
    assert!(
        said.contains(&format!("tried {address} (flag --namesrv): connection refused after 3 tries")),
        "{said}"
    );
    assert!(said.contains("hint: 9876 is the usual port"), "{said}");
    let run = evenkeel(&["route", "orders"]).env("NAMESRV_ADDR", &address).assert().code(3);
    assert!(stderr(&run).contains("(environment NAMESRV_ADDR): connection refused"), "{}", stderr(&run));
    evenkeel(&["send", "-t", "orders", "hi", "-n", &address]).assert().code(3);
}

#[test]
fn services_do_not_fall_back_to_the_embedded_broker() {
    for variable in ["KUBERNETES_SERVICE_HOST", "INVOCATION_ID"] {
        let args = ["consume", "-t", "demo", "-g", "g", "--send-stdin", "-e"];
        let run = evenkeel(&args).env(variable, "x").assert().code(2);
        assert!(stderr(&run).contains(variable), "{}", stderr(&run));
        let said = [&args[..], &["--embedded"]].concat();
        evenkeel(&said).env(variable, "x").write_stdin("").assert().code(0);
    }
    evenkeel(&["consume", "-t", "demo", "-g", "g", "--no-embedded"]).assert().code(2);
}

#[test]
fn wrong_usage_is_code_2_and_says_what_is_right() {
    for (args, said) in [
        (&["consume", "-t", "demo"][..], "no consumer group"),
        (&["consume", "-g", "g"], "no topic"),
        (&["consume", "-t", "demo", "-g", "g", "-X", "messageModel=all"], "clustering or broadcasting"),
        (&["consume", "-t", "demo", "-g", "g", "--strategy", "averge"], "circle"),
        (&["consume", "-t", "demo", "-g", "g", "-X", "pullBatchSiz=3"], "did you mean pullBatchSize"),
        (&["consume", "-t", "demo", "-g", "g", "-X", "pull_batch=5000"], "1..=1024"),
        (&["consume", "-t", "demo", "-g", "g", "--from", "yesterday"], "no place to start"),
        (&["consume", "-t", "demo", "-g", "g", "-c", "no.toml"], "does not exist"),
        (&["consume", "-t", "demo", "-g", "g", "-n", "mq"], "port is missing"),
        (&["consume", "-t", "demo", "-g", "g", "-n", "a:1", "--send-stdin"], "embedded broker only"),
        (&["route", "orders"], "no name server given"),
        (&["demo", "-n", "a:1"], "embedded broker only"),
        (&["send", "-t", "demo", "--queue", "x", "hi"], "not a queue number"),
        (&["broker", "--fail", "x=1"], "there are send"),
        (&["decode", "frames"], "none of frame"),
        (&["nonsense"], "unrecognized subcommand"),
    ] {
        let run = evenkeel(args).assert().code(2);
        assert!(stderr(&run).contains(said), "{args:?}: {}", stderr(&run));
        assert_eq!(stdout(&run), "", "{args:?}");
    }
}

#[test]
fn all_settings_are_listed() {
    let run = evenkeel(&["-X", "list"]).assert().code(0);
    assert!(stdout(&run).contains("consumer.pull_batch") && stdout(&run).contains("pullBatchSize"));
    let run = evenkeel(&["-X", "list", "--json"]).assert().code(0);
    assert_eq!(lines(&run)[0]["schema"], "evenkeel.settings/1");
    let run = evenkeel(&["--version", "--json"]).assert().code(0);
    let version = &lines(&run)[0];
    assert_eq!(version["version"], env!("CARGO_PKG_VERSION"));
    for name in ["schema", "core", "git", "rust", "protocol"] {
        assert!(version.get(name).is_some(), "{name}: {version}");
    }
}

#[test]
fn names_of_mqadmin_are_known() {
    let run = evenkeel(&["resetOffsetByTime", "-g", "pay"]).assert().code(2);
    assert!(stderr(&run).contains("mqadmin's resetOffsetByTime has no counterpart"), "{}", stderr(&run));
    let run = evenkeel(&["topicRoute", "-t", "orders", "-n", &nobody()]).assert().code(3);
    assert!(
        stderr(&run).starts_with("evenkeel: mqadmin's topicRoute is `evenkeel route TOPIC`"),
        "{}",
        stderr(&run)
    );
    let run = evenkeel(&["rout", "orders"]).assert().code(2);
    assert!(stderr(&run).contains("'route'"), "{}", stderr(&run));
}

#[test]
fn flags_win_over_the_environment_and_that_over_the_file() {
    let config = std::env::temp_dir().join(format!("evenkeel-layers-{}.toml", std::process::id()));
    std::fs::write(&config, "[cluster]\nname_servers = [\"127.0.0.1:3\"]\n").unwrap();
    let file = config.to_str().unwrap();
    let (flag, variable) = (&["route", "t", "-c", file, "-n", "127.0.0.1:1"][..], "NAMESRV_ADDR");
    let run = evenkeel(flag).env(variable, "127.0.0.1:2").assert().code(3);
    assert!(stderr(&run).contains("tried 127.0.0.1:1 (flag --namesrv)"), "{}", stderr(&run));
    let run = evenkeel(&flag[..4]).env(variable, "127.0.0.1:2").assert().code(3);
    assert!(stderr(&run).contains("tried 127.0.0.1:2 (environment NAMESRV_ADDR)"), "{}", stderr(&run));
    let run = evenkeel(&flag[..4]).assert().code(3);
    assert!(stderr(&run).contains("tried 127.0.0.1:3 (file "), "{}", stderr(&run));
    std::fs::remove_file(&config).unwrap();
}

#[test]
fn cases_and_bytes_are_answered_line_by_line() {
    let case = r#"{"id":"x","strategy":"AllocateMessageQueueAveragely","currentCID":"a","queues":[{"topic":"t","brokerName":"b","queueId":0}],"consumers":["a"]}"#;
    let run = evenkeel(&["allocate"]).write_stdin(format!("{case}\n")).assert().code(0);
    assert_eq!(lines(&run)[0]["id"], "x");
    let run = evenkeel(&["decode", "properties"]).write_stdin("54414753015461674102\nzz\n").assert().code(0);
    let lines = lines(&run);
    assert_eq!(lines[0]["properties"]["TAGS"], "TagA");
    assert!(lines[1]["error"]["kind"].is_string());
}

#[test]
fn the_demo_proves_that_nothing_is_lost() {
    let run =
        evenkeel(&["demo", "--for", "3s", "--rate", "200", "--queues", "8", "--json", "-q"]).assert().code(0);
    let report = &lines(&run)[0];
    assert_eq!(
        (&report["schema"], &report["missing"], &report["ok"]),
        (&"evenkeel.demo/1".into(), &0.into(), &true.into())
    );
    assert_eq!(report["sent"], report["distinct"]);
    let what: Vec<&Value> =
        report["changes"].as_array().unwrap().iter().map(|change| &change["what"]).collect();
    assert_eq!(what, ["join", "leave", "kill"]);
    let owned: usize =
        report["owners"].as_object().unwrap().values().map(|queues| queues.as_array().unwrap().len()).sum();
    assert_eq!(owned, 8);
}

#[cfg(unix)]
#[test]
fn a_broker_a_sender_and_a_consumer_as_processes() {
    use std::io::{BufRead, BufReader};
    use std::process::{Child, Command as Process, Stdio};

    struct Running(Child);
    impl Drop for Running {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }
    let spawn = |args: &[&str]| {
        let mut process = Process::new(assert_cmd::cargo::cargo_bin("evenkeel"));
        process.args(args).stdout(Stdio::piped()).stderr(Stdio::null());
        Running(process.spawn().unwrap())
    };
    let terminate =
        |child: &Child| Process::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();

    let mut broker = spawn(&["broker", "--listen", "127.0.0.1:0", "--topic", "orders:2x2"]);
    let mut said = String::new();
    BufReader::new(broker.0.stdout.take().unwrap()).read_line(&mut said).unwrap();
    let address = said.trim().strip_prefix("NAMESRV_ADDR=").unwrap();

    let run =
        evenkeel(&["send", "-t", "orders", "--tag", "paid", "--key", "k1", "-n", address, "-q", "--json"]);
    let run = { run }.write_stdin("one\ntwo\nthree\n").assert().code(0);
    assert!(lines(&run).iter().all(|line| line["type"] == "sent" && line["safe"] == true));
    assert_eq!(lines(&run).len(), 3);
    let run = evenkeel(&["topicRoute", "-t", "orders", "-n", address, "--json"]).assert().code(0);
    assert_eq!(lines(&run)[0]["queues"].as_array().unwrap().len(), 2);
    let run = evenkeel(&["route", "orders", "-n", address, "-o", "csv"]).assert().code(0);
    assert!(
        stdout(&run).starts_with("broker,cluster,readQueues,writeQueues,perm,master,slaves\nembedded-a,")
    );
    let run = evenkeel(&["route", "orders", "-n", address, "-o", "ndjson"]).assert().code(0);
    assert_eq!(lines(&run)[1]["broker"], "embedded-b");
    let run = evenkeel(&["route", "orders", "-n", address, "-o", "wide"]).assert().code(0);
    assert!(stdout(&run).contains("4 queues to read"));
    evenkeel(&["route", "nowhere", "-n", address]).assert().code(4);
    evenkeel(&["consume", "-t", "nowhere", "-g", "g", "-n", address]).assert().code(4);

    let mut consumer =
        spawn(&["consume", "-t", "orders", "-g", "g", "--from", "first", "-n", address, "-f", "%g %s\\n"]);
    let mut out = BufReader::new(consumer.0.stdout.take().unwrap());
    let mut printed: Vec<String> = (0..3)
        .map(|_| {
            let mut line = String::new();
            out.read_line(&mut line).unwrap();
            line
        })
        .collect();
    printed.sort();
    assert_eq!(printed, ["paid one\n", "paid three\n", "paid two\n"]);
    terminate(&consumer.0);
    assert_eq!(consumer.0.wait().unwrap().code(), Some(0));
    terminate(&broker.0);
    assert_eq!(broker.0.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_second_signal_leaves_at_once() {
    use std::process::{Command as Process, Stdio};
    let mut process = Process::new(assert_cmd::cargo::cargo_bin("evenkeel"));
    let args =
        ["consume", "-t", "t", "-g", "g", "--embedded", "--send-stdin", "--exec", "echo begun; sleep 30"];
    let mut child = process
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), b"x\n").unwrap();
    let mut begun = [0; 5];
    std::io::Read::read_exact(child.stdout.as_mut().unwrap(), &mut begun).unwrap();
    let began = tokio::time::Instant::now();
    for _ in 0..2 {
        Process::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        std::thread::sleep(Duration::from_millis(200));
    }
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert!(began.elapsed() < Duration::from_secs(20), "the handler alone takes 30 s");
}
