//! One name server and its brokers.

use super::jvm::{Home, Server, Version, java, without_noise};
use super::remoting::{self, Reply};
use super::tls::Tls;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::atomic::{AtomicU16, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// How long servers may take until the route is visible, and a topic until it is in the route.
const READY: Duration = Duration::from_secs(60);
/// Attempts with other ports, if another process takes one between the look and the start.
const ATTEMPTS: u32 = 3;

const GET_MAX_OFFSET: i32 = 30;
const QUERY_CONSUMER_OFFSET: i32 = 14;
const UPDATE_AND_CREATE_TOPIC: i32 = 17;
const GET_BROKER_RUNTIME_INFO: i32 = 28;
const ROUTE_OF_TOPIC: i32 = 105;
const CLUSTER_INFO: i32 = 106;
const INVOKE_BROKER_TO_GET_CONSUMER_STATUS: i32 = 223;
const QUERY_NOT_FOUND: i64 = 22;

/// How a cluster differs from the usual one.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of brokers, all masters: `broker-a`, `broker-b`, …
    pub brokers: usize,
    /// `messageDelayLevel`: the waits of retries. Java's own table begins with 10 s at level 3, where retries start.
    pub delay_levels: Option<String>,
    /// Further lines of the brokers' configuration, which win over those of the harness.
    pub broker_settings: Vec<(String, String)>,
    /// Further JVM options of all servers, which win over those of the harness: `-Dtls.server.mode=enforcing`, …
    pub jvm: Vec<String>,
    /// Further files below the servers' common home: path and text.
    pub files: Vec<(String, String)>,
    /// Topics that exist from the start, with the number of their queues on each broker. The only way to make one where
    /// brokers refuse what the harness asks them: they find it in their store.
    pub topics: Vec<(String, u32)>,
    /// Whether servers take nothing but TLS, and how. Without it they take none.
    pub tls: Option<Tls>,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            brokers: 1,
            delay_levels: None,
            broker_settings: Vec::new(),
            jvm: Vec::new(),
            files: Vec::new(),
            topics: Vec::new(),
            tls: None,
        }
    }
}

impl Options {
    fn all_files(&self) -> Vec<(String, String)> {
        self.tls.iter().flat_map(Tls::files).chain(self.files.iter().cloned()).collect()
    }

    /// JVM options of servers.
    fn jvm_options(&self, home: &Home) -> Vec<String> {
        self.tls.iter().flat_map(|tls| tls.jvm(home.path())).chain(self.jvm.iter().cloned()).collect()
    }
}

/// A name server and brokers of one version, which live as long as this value.
#[derive(Debug)]
pub struct Cluster {
    version: Version,
    options: Options,
    namesrv_port: u16,
    // Before `home`: processes end before their files go.
    brokers: Vec<Broker>,
    namesrv: Server,
    home: Home,
}

#[derive(Debug)]
struct Broker {
    name: String,
    /// 0 for a master.
    id: u32,
    port: u16,
    server: Option<Server>,
}

impl Cluster {
    /// Starts the servers and waits until the name server knows all brokers, for at most a minute.
    ///
    /// # Panics
    ///
    /// If Java or the jars are missing, or the servers do not come up: with the end of the server's log.
    pub fn start(version: Version, options: &Options) -> Self {
        assert!((1..=26).contains(&options.brokers), "a cluster has 1 to 26 brokers");
        version.class_path();
        let mut failure = String::new();
        for _ in 0..ATTEMPTS {
            match Self::attempt(version, options) {
                Ok(cluster) => return cluster,
                Err(text) if text.contains("in use") || text.contains("BindException") => failure = text,
                Err(text) => panic!("{text}"),
            }
        }
        panic!("no free ports after {ATTEMPTS} attempts: {failure}");
    }

    fn attempt(version: Version, options: &Options) -> Result<Self, String> {
        let home = Home::new("rocketmq");
        let ports = free_ports(options.brokers + 1);
        let (namesrv_port, broker_ports) = ports.split_first().expect("one port more than brokers");
        write_log_settings(&home);
        for (path, text) in options.all_files() {
            let path = home.path().join(path);
            path.parent().map_or(Ok(()), fs::create_dir_all).expect("the folder of a file");
            fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
        }
        let namesrv = start_namesrv(version, options, &home, *namesrv_port);
        let mut cluster = Self {
            version,
            options: options.clone(),
            namesrv_port: *namesrv_port,
            brokers: Vec::new(),
            namesrv,
            home,
        };
        cluster.wait_for_namesrv()?;
        for (letter, port) in ('a'..='z').zip(broker_ports) {
            cluster.brokers.push(Broker {
                name: format!("broker-{letter}"),
                id: 0,
                port: *port,
                server: None,
            });
        }
        for index in 0..cluster.brokers.len() {
            cluster.launch(index);
        }
        cluster.wait_for_brokers()?;
        Ok(cluster)
    }

    /// The release that runs.
    pub fn version(&self) -> Version {
        self.version
    }

    /// `host:port` of the name server.
    pub fn namesrv(&self) -> String {
        format!("127.0.0.1:{}", self.namesrv_port)
    }

    /// `host:port` of a broker, by its number from 0.
    pub fn broker(&self, index: usize) -> String {
        format!("127.0.0.1:{}", self.brokers[index].port)
    }

    /// Starts a slave of a master, which serves pulls, and waits until the name server knows it. Gives its number, by which it
    /// is asked, killed and started as any broker.
    ///
    /// It copies messages at once. A 4.9 slave asks its master for topics and offsets every 10 s, a 5.x one every minute, so
    /// give [`Options::topics`]; and one of 5.5.0 cannot read the offsets that its master answers with
    /// (<https://github.com/apache/rocketmq/issues/10284>): it knows only what members commit to it.
    pub fn add_slave(&mut self, master: usize) -> usize {
        let name = self.brokers[master].name.clone();
        let [port] = free_ports(1)[..] else { panic!("one port was asked for") };
        self.brokers.push(Broker { name, id: 1, port, server: None });
        let slave = self.brokers.len() - 1;
        self.start_broker(slave);
        slave
    }

    /// The names of the brokers, in the order of their numbers.
    pub fn broker_names(&self) -> Vec<String> {
        self.brokers.iter().map(|broker| broker.name.clone()).collect()
    }

    /// Creates a topic with `queues` queues on every running master and waits until the route has it.
    pub fn create_topic(&self, name: &str, queues: u32) {
        self.create_topic_with(name, queues, 6);
    }

    /// As [`Self::create_topic`], with permissions: 4 read, 2 write.
    pub fn create_topic_with(&self, name: &str, queues: u32, permission: u32) {
        self.create(name, self.masters().map(|broker| (broker, queues)), permission);
    }

    /// As [`Self::create_topic`], with a number of queues for each broker, in the order of their numbers.
    pub fn create_topic_spread(&self, name: &str, queues: &[u32]) {
        assert_eq!(queues.len(), self.masters().count(), "a number of queues for each broker");
        self.create(name, self.masters().zip(queues.iter().copied()), 6);
    }

    fn create<'a>(&self, name: &str, on: impl Iterator<Item = (&'a Broker, u32)>, permission: u32) {
        for (broker, queues) in on {
            let fields = json!({
                "topic": name, "defaultTopic": "TBW102", "readQueueNums": queues.to_string(),
                "writeQueueNums": queues.to_string(), "perm": permission.to_string(),
                "topicFilterType": "SINGLE_TAG", "topicSysFlag": "0", "order": "false",
            });
            let reply = self.ask(broker, UPDATE_AND_CREATE_TOPIC, &fields);
            assert_eq!(reply.code, 0, "{} did not create {name}: {}", broker.name, reply.remark);
        }
        let end = Instant::now() + READY;
        while !self.has_route(name) {
            assert!(Instant::now() < end, "topic {name} is not in the route after {READY:?}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The offset that a group has committed for a queue; none if there is none.
    ///
    /// 4.9 says 0 instead of none for a queue whose first messages are still in memory.
    pub fn committed(&self, group: &str, topic: &str, broker: usize, queue: i32) -> Option<i64> {
        let fields = json!({
            "consumerGroup": group, "topic": topic, "queueId": queue.to_string(), "setZeroIfNotFound": "false",
        });
        let reply = self.ask(&self.brokers[broker], QUERY_CONSUMER_OFFSET, &fields);
        if reply.code == QUERY_NOT_FOUND {
            return None;
        }
        Some(offset_of(&reply))
    }

    /// The offsets of a group that a broker has written to disk, by queue: a killed one comes back with these. Brokers write them
    /// every 5 s, the first time 10 s after their start.
    pub fn offsets_on_disk(&self, group: &str, topic: &str, broker: usize) -> BTreeMap<i32, i64> {
        let path = self.folder(&self.brokers[broker]).join("store/config/consumerOffset.json");
        // It has numbers as keys, which no JSON reader takes.
        let text = fs::read_to_string(path).unwrap_or_default();
        let rows =
            text.split_once(&format!("\"{topic}@{group}\":{{")).and_then(|(_, rest)| rest.split_once('}'));
        let rows = rows.map_or("", |(rows, _)| rows).split(',');
        let number = |row: &str| {
            let (queue, offset) = row.split_once(':')?;
            Some((queue.trim().parse().ok()?, offset.trim().parse().ok()?))
        };
        rows.filter_map(number).collect()
    }

    /// Waits until a group has committed a queue up to `offset`. While a Java member still runs: it does not wait for its brokers
    /// to store its commits, and one that stops at the moment its last message is done leaves that one out.
    /// Not for offset 0: that is what brokers answer of a queue that has no offset.
    ///
    /// # Panics
    ///
    /// If it has not within a minute.
    pub fn until_committed(&self, group: &str, topic: &str, broker: usize, queue: i32, offset: i64) {
        let end = Instant::now() + READY;
        loop {
            let committed = self.committed(group, topic, broker, queue);
            if committed == Some(offset) {
                return;
            }
            assert!(Instant::now() < end, "{group} {topic} {broker}/{queue}: {committed:?} and not {offset}");
            thread::sleep(Duration::from_millis(50));
        }
    }

    /// The offset that the next message of a queue will have.
    pub fn max_offset(&self, topic: &str, broker: usize, queue: i32) -> i64 {
        let fields = json!({"topic": topic, "queueId": queue.to_string()});
        offset_of(&self.ask(&self.brokers[broker], GET_MAX_OFFSET, &fields))
    }

    /// How many messages a broker has handed to consumers since its start.
    pub fn messages_read(&self, broker: usize) -> u64 {
        let body = self.ask(&self.brokers[broker], GET_BROKER_RUNTIME_INFO, &json!({})).body;
        let info: Value = serde_json::from_str(&body).unwrap_or_else(|error| panic!("{body}: {error}"));
        let read = info["table"]["msgGetTotalTodayNow"].as_str().and_then(|text| text.parse().ok());
        read.unwrap_or_else(|| panic!("no number of messages in {body}"))
    }

    /// What a broker answers about the offsets of a topic that a member holds, as Java's `getConsumeStatus` asks for them: the
    /// broker asks the member (221) and puts its answer below its id.
    pub fn offsets_of_member(&self, group: &str, topic: &str, client: &str) -> String {
        let fields = json!({"topic": topic, "group": group, "clientAddr": client});
        let reply = self.ask(&self.brokers[0], INVOKE_BROKER_TO_GET_CONSUMER_STATUS, &fields);
        assert_eq!(reply.code, 0, "{}", reply.remark);
        reply.body
    }

    /// What `mqadmin ARGUMENTS -n NAMESRV` prints, without logback's status lines. It takes about two seconds.
    ///
    /// Its exit code says nothing: a failed command prints a stack trace and ends with 0. Judge the text.
    pub fn mqadmin(&self, arguments: &[&str]) -> String {
        let output = java(self.version, self.home.path(), "256m")
            .args(self.options.tls.iter().flat_map(|tls| tls.jvm(self.home.path())))
            .arg("-XX:TieredStopAtLevel=1")
            .arg("org.apache.rocketmq.tools.command.MQAdminStartup")
            .args(arguments)
            .args(["-n", &self.namesrv()])
            // Some commands write files where they stand.
            .current_dir(self.home.path())
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("cannot start java: {error}"));
        let text = String::from_utf8_lossy(&output.stdout);
        let mut lines: Vec<&str> = text.lines().filter_map(without_noise).collect();
        if lines.iter().all(|line| line.trim().is_empty()) {
            // For the text of a failing test.
            eprintln!(
                "mqadmin {arguments:?} printed nothing but: {}",
                String::from_utf8_lossy(&output.stderr)
            );
        }
        lines.push("");
        lines.join("\n")
    }

    /// SIGKILL for a broker, as a crash: nothing is flushed, no one is told.
    pub fn kill_broker(&mut self, index: usize) {
        if let Some(mut server) = self.brokers[index].server.take() {
            server.kill();
        }
    }

    /// SIGTERM for a broker: it flushes and leaves the name server.
    pub fn stop_broker(&mut self, index: usize) {
        if let Some(mut server) = self.brokers[index].server.take() {
            server.stop();
        }
    }

    /// Starts a broker that was killed or stopped, with its port and store, and waits until the route has it.
    pub fn start_broker(&mut self, index: usize) {
        assert!(self.brokers[index].server.is_none(), "broker {index} runs");
        self.launch(index);
        self.wait_for_brokers().unwrap_or_else(|text| panic!("{text}"));
    }

    /// SIGSTOP for a broker: connections stay open and nothing answers.
    pub fn freeze_broker(&mut self, index: usize) {
        self.signal_broker(index, "STOP");
    }

    /// SIGCONT for a broker.
    pub fn thaw_broker(&mut self, index: usize) {
        self.signal_broker(index, "CONT");
    }

    /// SIGKILL for the name server.
    pub fn kill_namesrv(&mut self) {
        self.namesrv.kill();
    }

    /// Starts the name server again after [`Self::kill_namesrv`], with its port; brokers come back within 30 s, and this
    /// waits for them.
    pub fn start_namesrv(&mut self) {
        assert!(self.namesrv.ended().is_some(), "the name server runs");
        self.namesrv = start_namesrv(self.version, &self.options, &self.home, self.namesrv_port);
        self.wait_for_namesrv()
            .and_then(|()| self.wait_for_brokers())
            .unwrap_or_else(|text| panic!("{text}"));
    }

    /// Ends all servers with SIGTERM. Dropping the value kills them, which is faster and as good for most tests.
    pub fn stop(mut self) {
        for index in 0..self.brokers.len() {
            self.stop_broker(index);
        }
        self.namesrv.stop();
    }

    fn signal_broker(&mut self, index: usize, name: &str) {
        let server = self.brokers[index].server.as_mut();
        server.unwrap_or_else(|| panic!("broker {index} does not run")).signal(name);
    }

    fn folder(&self, broker: &Broker) -> PathBuf {
        self.home.path().join(format!("{}-{}", broker.name, broker.id))
    }

    fn launch(&mut self, index: usize) {
        let folder = self.folder(&self.brokers[index]);
        let broker = &self.brokers[index];
        let role = if broker.id == 0 { "ASYNC_MASTER" } else { "SLAVE" };
        fs::create_dir_all(&folder).expect("the broker's folder");
        write_topics(&folder.join("store/config"), &self.options.topics);
        let mut settings = vec![
            ("brokerClusterName", "EvenkeelTests".to_owned()),
            ("brokerName", broker.name.clone()),
            ("brokerId", broker.id.to_string()),
            ("brokerIP1", "127.0.0.1".to_owned()),
            ("brokerIP2", "127.0.0.1".to_owned()),
            ("bindAddress", "127.0.0.1".to_owned()),
            ("listenPort", broker.port.to_string()),
            ("namesrvAddr", format!("127.0.0.1:{}", self.namesrv_port)),
            ("storePathRootDir", folder.join("store").display().to_string()),
            ("storePathCommitLog", folder.join("store/commitlog").display().to_string()),
            ("mappedFileSizeCommitLog", "268435456".to_owned()),
            ("flushDiskType", "ASYNC_FLUSH".to_owned()),
            ("brokerRole", role.to_owned()),
            ("slaveReadEnable", (broker.id > 0).to_string()),
            ("diskMaxUsedSpaceRatio", "95".to_owned()),
            ("autoCreateTopicEnable", "false".to_owned()),
            ("enablePropertyFilter", "true".to_owned()),
            // On a busy machine these refuse messages that have waited for 0.2 s or that met a slow disk.
            ("brokerFastFailureEnable", "false".to_owned()),
            ("waitTimeMillsInSendQueue", "30000".to_owned()),
            ("osPageCacheBusyTimeOutMills", "30000".to_owned()),
        ];
        if let Some(levels) = &self.options.delay_levels {
            settings.push(("messageDelayLevel", levels.clone()));
        }
        for (key, value) in &self.options.broker_settings {
            settings.push((key, value.clone()));
        }
        let config = folder.join("broker.conf");
        write_properties(&config, &settings);
        let mut java = java(self.version, self.home.path(), "1g");
        java.args(self.options.jvm_options(&self.home));
        self.brokers[index].server = Some(Server::start(
            java,
            "org.apache.rocketmq.broker.BrokerStartup",
            &config,
            folder.join("stdout.log"),
        ));
    }

    fn wait_for_namesrv(&mut self) -> Result<(), String> {
        let address = self.namesrv();
        let end = Instant::now() + READY;
        while remoting::call(self.options.tls.as_ref(), &address, CLUSTER_INFO, &json!({})).is_err() {
            check_alive(&mut self.namesrv, "name server", end)?;
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    fn wait_for_brokers(&mut self) -> Result<(), String> {
        let end = Instant::now() + READY;
        loop {
            let known = remoting::call(self.options.tls.as_ref(), &self.namesrv(), CLUSTER_INFO, &json!({}))
                .map(|reply| reply.body);
            let known = known.unwrap_or_default();
            let missing = self.brokers.iter_mut().find_map(|broker| {
                let address = format!("127.0.0.1:{}", broker.port);
                // The name server remembers a killed broker for a while: it has to answer itself, too.
                let ready = known.contains(&address)
                    && remoting::call(self.options.tls.as_ref(), &address, CLUSTER_INFO, &json!({})).is_ok();
                broker.server.as_mut().filter(|_| !ready)
            });
            let Some(server) = missing else { return Ok(()) };
            check_alive(server, "broker", end)?;
            thread::sleep(Duration::from_millis(50));
        }
    }

    fn has_route(&self, topic: &str) -> bool {
        let reply = remoting::call(
            self.options.tls.as_ref(),
            &self.namesrv(),
            ROUTE_OF_TOPIC,
            &json!({"topic": topic}),
        );
        reply.is_ok_and(|reply| {
            reply.code == 0
                && self.running().all(|broker| reply.body.contains(&format!("\"{}\"", broker.name)))
        })
    }

    fn running(&self) -> impl Iterator<Item = &Broker> {
        self.brokers.iter().filter(|broker| broker.server.is_some())
    }

    fn masters(&self) -> impl Iterator<Item = &Broker> {
        self.running().filter(|broker| broker.id == 0)
    }

    fn ask(&self, broker: &Broker, code: i32, fields: &Value) -> Reply {
        remoting::call(self.options.tls.as_ref(), &format!("127.0.0.1:{}", broker.port), code, fields)
            .unwrap_or_else(|error| panic!("{} did not answer request {code}: {error}", broker.name))
    }
}

fn offset_of(reply: &Reply) -> i64 {
    let offset = reply.fields.get("offset").and_then(Value::as_str).and_then(|text| text.parse().ok());
    offset.unwrap_or_else(|| panic!("no offset in the answer {reply:?}"))
}

fn start_namesrv(version: Version, options: &Options, home: &Home, port: u16) -> Server {
    let folder = home.path().join("namesrv");
    fs::create_dir_all(&folder).expect("the name server's folder");
    let config = folder.join("namesrv.conf");
    write_properties(
        &config,
        &[
            ("listenPort", port.to_string()),
            ("bindAddress", "127.0.0.1".to_owned()),
            ("rocketmqHome", home.path().display().to_string()),
            ("kvConfigPath", folder.join("kvConfig.json").display().to_string()),
            ("configStorePath", folder.join("namesrv.properties").display().to_string()),
        ],
    );
    let mut java = java(version, home.path(), "256m");
    java.args(options.jvm_options(home));
    Server::start(java, "org.apache.rocketmq.namesrv.NamesrvStartup", &config, folder.join("stdout.log"))
}

/// An error if the server ended or its time is over.
fn check_alive(server: &mut Server, what: &str, end: Instant) -> Result<(), String> {
    if let Some(status) = server.ended() {
        return Err(format!("the {what} ended with {status}; it printed:\n{}", server.tail()));
    }
    if Instant::now() >= end {
        return Err(format!("the {what} is not ready after {READY:?}; it printed:\n{}", server.tail()));
    }
    Ok(())
}

fn write_properties(path: &std::path::Path, settings: &[(&str, String)]) {
    // A later line wins in java.util.Properties.
    let text: String = settings.iter().map(|(key, value)| format!("{key}={value}\n")).collect();
    fs::write(path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// What a broker reads its topics from, unless it has written the file itself already.
fn write_topics(folder: &std::path::Path, topics: &[(String, u32)]) {
    let path = folder.join("topics.json");
    if topics.is_empty() || path.exists() {
        return;
    }
    let topic = |(name, queues): &(String, u32)| {
        let config = json!({
            "topicName": name, "readQueueNums": queues, "writeQueueNums": queues, "perm": 6,
            "topicFilterType": "SINGLE_TAG", "topicSysFlag": 0, "order": false,
        });
        (name.clone(), config)
    };
    let table: serde_json::Map<String, Value> = topics.iter().map(topic).collect();
    let text = json!({"topicConfigTable": table, "dataVersion": {"counter": 1, "timestamp": 1}}).to_string();
    fs::create_dir_all(folder).expect("the folder of topics");
    fs::write(&path, text).unwrap_or_else(|error| panic!("cannot write {}: {error}", path.display()));
}

/// 4.9 does not start without these files; 5.x brings its own.
fn write_log_settings(home: &Home) {
    let folder = home.path().join("conf");
    fs::create_dir_all(&folder).expect("the folder of log settings");
    for name in ["namesrv", "broker", "tools"] {
        let text = format!(
            r#"<configuration>
  <appender name="file" class="ch.qos.logback.core.FileAppender">
    <file>{}/{name}.log</file>
    <encoder><pattern>%d %p %t - %m%n</pattern></encoder>
  </appender>
  <root level="INFO"><appender-ref ref="file"/></root>
</configuration>
"#,
            home.path().display()
        );
        fs::write(folder.join(format!("logback_{name}.xml")), text).expect("log settings");
    }
}

/// `count` ports of which each has the two below and the one above free as well, as a broker needs.
///
/// They lie below the range from which outgoing connections take theirs, and processes start their search at
/// different places.
fn free_ports(count: usize) -> Vec<u16> {
    const FIRST: u16 = 12_000;
    const STEP: u16 = 5;
    const SLOTS: u16 = 3_900;
    static NEXT: AtomicU16 = AtomicU16::new(0);

    let start = (std::process::id().wrapping_mul(97) % u32::from(SLOTS)) as u16;
    let mut ports = Vec::new();
    for _ in 0..SLOTS {
        let slot = start.wrapping_add(NEXT.fetch_add(1, Ordering::Relaxed)) % SLOTS;
        let port = FIRST + slot * STEP + 2;
        let held: io::Result<Vec<TcpListener>> =
            (port - 2..=port + 1).map(|port| TcpListener::bind(("0.0.0.0", port))).collect();
        if held.is_ok() {
            ports.push(port);
        }
        if ports.len() == count {
            return ports;
        }
    }
    panic!("{count} free port ranges were not to be found")
}
