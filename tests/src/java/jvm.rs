//! Finding the jars and starting a Java process.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// A release of Apache RocketMQ that the tests run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// The last of the 4.9 line.
    V4,
    /// The newest 5.x.
    V5,
}

impl Version {
    /// Both.
    pub const ALL: [Self; 2] = [Self::V4, Self::V5];

    /// The version as Maven names it.
    pub const fn number(self) -> &'static str {
        match self {
            Self::V4 => "4.9.7",
            Self::V5 => "5.5.0",
        }
    }

    /// Class path of servers, tools, client and peer; the first use downloads and compiles.
    pub(super) fn class_path(self) -> &'static str {
        static PATHS: [OnceLock<String>; 2] = [OnceLock::new(), OnceLock::new()];
        let [old, new] = &PATHS;
        let path = match self {
            Self::V4 => old,
            Self::V5 => new,
        };
        path.get_or_init(|| self.prepare())
    }

    fn prepare(self) -> String {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("java/jars");
        let output = Command::new("bash")
            .arg(&script)
            .arg(self.number())
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .unwrap_or_else(|error| panic!("cannot run bash for {}: {error}", script.display()));
        let text = String::from_utf8_lossy(&output.stdout);
        let path = |key: &str| text.lines().find_map(|line| line.strip_prefix(key)).map(str::to_owned);
        match (path("jars="), path("peer=")) {
            (Some(jars), Some(peer)) if output.status.success() => format!("{peer}:{jars}/*"),
            _ => panic!(
                "RocketMQ {} could not be prepared ({}); its messages stand above. This test needs Java 17, Maven and \
                 access to Maven Central once: `tests/run rocketmq` installs them.",
                self.number(),
                output.status
            ),
        }
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.number())
    }
}

/// A new private folder for one cluster or peer; removed on drop unless the test is failing.
#[derive(Debug)]
pub(super) struct Home(PathBuf);

impl Home {
    pub(super) fn new(what: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let name = format!("evenkeel-{what}-{}-{number}", std::process::id());
            let path = std::env::temp_dir().join(name);
            match fs::create_dir(&path) {
                Ok(()) => return Self(path),
                // Left by a failed test of an earlier process with this id.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => panic!("cannot create {}: {error}", path.display()),
            }
        }
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("kept for a look: {}", self.0.display());
        } else {
            // A file still being written by a killed process is no reason to fail a test that passed.
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// `java` with the class path of `version` and everything private below `home`.
pub(super) fn java(version: Version, home: &Path, heap: &str) -> Command {
    let mut command = Command::new("java");
    command
        .args(["-cp", version.class_path()])
        .arg(format!("-Xms{heap}"))
        .arg(format!("-Xmx{heap}"))
        .arg(format!("-Duser.home={}", home.display()))
        .arg(format!("-Djava.io.tmpdir={}", home.display()))
        .args(FLAGS)
        .env("ROCKETMQ_HOME", home)
        .env_remove("NAMESRV_ADDR")
        .current_dir(home);
    command
}

/// Starts a program that is asked on stdin and answers on stdout; what it says besides is kept in `stderr.log`.
pub(super) fn on_pipes(command: &mut Command, home: &Home) -> Child {
    let log = File::create(home.path().join("stderr.log")).expect("the log of a Java program");
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
        .unwrap_or_else(|error| panic!("cannot start java: {error}"))
}

/// Java 17 closes what both servers and the client reach into. A server makes a certificate when it starts unless
/// TLS is off. The disk limits keep a rather full disk from refusing messages.
const FLAGS: [&str; 14] = [
    "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
    "--add-opens=java.base/java.nio=ALL-UNNAMED",
    "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED",
    "--add-opens=java.base/java.lang=ALL-UNNAMED",
    "-XX:-UsePerfData",
    "-XX:+UseSerialGC",
    "-XX:MaxDirectMemorySize=2g",
    "-Dfile.encoding=UTF-8",
    "-Dio.netty.tryReflectionSetAccessible=true",
    "-Djava.net.preferIPv4Stack=true",
    "-Dtls.server.mode=disabled",
    "-Dtls.test.mode.enable=false",
    "-Drocketmq.broker.diskSpaceWarningLevelRatio=0.98",
    "-Drocketmq.broker.diskSpaceCleanForciblyRatio=0.97",
];

/// A server process with its log file.
#[derive(Debug)]
pub(super) struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts `main_class -c config` under the peer's watch of standard input.
    pub(super) fn start(mut java: Command, main_class: &str, config: &Path, log: PathBuf) -> Self {
        let file = File::options()
            .create(true)
            .append(true)
            .open(&log)
            .unwrap_or_else(|error| panic!("cannot write {}: {error}", log.display()));
        let again = file.try_clone().expect("a second handle of the log");
        let child = java
            .args(["Peer", "host", main_class, "-c"])
            .arg(config)
            .stdin(Stdio::piped())
            .stdout(file)
            .stderr(again)
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start java: {error}"));
        Self { child, log }
    }

    pub(super) fn pid(&self) -> u32 {
        self.child.id()
    }

    pub(super) fn ended(&mut self) -> Option<ExitStatus> {
        self.child.try_wait().expect("the state of an own child")
    }

    /// SIGKILL: nothing is flushed, no one is told.
    pub(super) fn kill(&mut self) {
        // Fails only if it ended already.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// SIGTERM, and SIGKILL after 30 s.
    pub(super) fn stop(&mut self) {
        self.signal("TERM");
        let end = Instant::now() + Duration::from_secs(30);
        while self.ended().is_none() && Instant::now() < end {
            thread::sleep(Duration::from_millis(20));
        }
        self.kill();
    }

    /// Sends a signal by name, such as `STOP`, if the process still runs.
    pub(super) fn signal(&mut self, name: &str) {
        if self.ended().is_none() {
            let pid = self.pid().to_string();
            let status = Command::new("kill").args(["-s", name, &pid]).status();
            assert!(status.is_ok_and(|status| status.success()), "kill -s {name} {pid} failed");
        }
    }

    /// The last lines of what it printed.
    pub(super) fn tail(&self) -> String {
        let text = fs::read(&self.log).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let text = text.unwrap_or_else(|error| format!("{}: {error}", self.log.display()));
        let lines: Vec<&str> = text.lines().filter(|line| !super::jvm::is_noise(line)).collect();
        lines[lines.len().saturating_sub(40)..].join("\n")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Status lines of logback, and warnings of the JVM about the flags above.
pub(super) fn is_noise(line: &str) -> bool {
    line.contains("|-INFO in ")
        || line.contains("|-WARN in ")
        || line.starts_with("OpenJDK 64-Bit Server VM warning")
}

/// The line without noise, none if it is nothing else. A tool that ends its output without a line break has logback's next
/// status line (`12:34:56,789 |-INFO in …`) behind its own.
pub(super) fn without_noise(line: &str) -> Option<&str> {
    if !is_noise(line) {
        return Some(line);
    }
    let at = line.find(" |-")?;
    let own = line[..at].get(..at.checked_sub("12:34:56,789".len())?)?;
    (!own.is_empty()).then_some(own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn noise_is_cut_off() {
        let status = "12:34:56,789 |-INFO in ch.qos.logback.core.hook";
        assert_eq!(without_noise(status), None);
        assert_eq!(without_noise(&format!("done{status}")), Some("done"));
        assert_eq!(without_noise(""), Some(""));
        assert_eq!(without_noise("a table"), Some("a table"));
    }
}
