//! Where `plan`, `verify` and `snapshot` read a group from: a file, stdin, or the cluster.

use super::cluster::Cluster;
use super::exit::{Code, Failure};
use super::global::Global;
use super::live::tell_silent;
use super::route;
use clap::Args;
use evenkeel::inspect::{GroupSeen, Member, Options as Patience, Silent, Whom, read_group};
use evenkeel_core::model::{Group, Topic};
use evenkeel_core::paste;
use evenkeel_core::plan::Said;
use evenkeel_core::report::link::{self, Shared};
use evenkeel_core::report::{
    self, BrokerSeen, Change, ConsumerSeen, ErrorCode, Load, Sharing, Snapshot, Strategy, TopicSeen,
};
use evenkeel_core::wire::reply::CallError;
use evenkeel_core::wire::request::MessageModel;
use evenkeel_core::wire::route::PERM_READ;
use std::fs::File;
use std::io::Read;
use std::time::Duration;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};

/// The most that is read from a file or stdin: several times the snapshot of a million queues.
const MAX_INPUT: u64 = 256 << 20;
/// Deadline of the call for a topic's route.
const CALL: Duration = Duration::from_secs(3);

/// The group, and where it is read from.
#[derive(Args, Debug)]
pub(crate) struct Source {
    /// The group; with --from it may be left out
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Read it from a file instead of a cluster, - for stdin: a snapshot, what mqadmin printed, lists of queues and
    /// client ids, or a link of the planning page; such a link may also stand here itself, in quotes
    #[arg(long, value_name = "FILE|-|LINK")]
    from: Option<String>,
}

/// A group as it was read.
pub(crate) struct Seen {
    pub(crate) snapshot: Snapshot,
    /// What happens to it, if that was read, too.
    pub(crate) changes: Vec<Change>,
    /// Strategies with settings of their own, if these were read, too.
    pub(crate) strategies: Vec<Strategy>,
    silent: Vec<Silent>,
}

impl Seen {
    fn whole(snapshot: Snapshot) -> Self {
        Self { snapshot, changes: Vec::new(), strategies: Vec::new(), silent: Vec::new() }
    }

    /// Whether everybody answered.
    pub(crate) fn is_whole(&self) -> bool {
        self.silent.is_empty()
    }

    /// Whether a member that brokers list let the time pass: it hangs, or is gone and its connection is not.
    pub(crate) fn has_hanging_member(&self) -> bool {
        let hangs = |silent: &Silent| {
            matches!(silent.whom, Whom::Member { .. }) && matches!(silent.reason, CallError::Expired { .. })
        };
        self.silent.iter().any(hangs)
    }

    /// Names on stderr who did not answer. That is the exit code of what else went well.
    pub(crate) fn tell_who_was_silent(&self) -> Code {
        tell_silent(&self.silent)
    }
}

impl Source {
    /// A live group.
    pub(crate) fn of_group(name: String) -> Self {
        Self { name: Some(name), from: None }
    }

    pub(crate) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// Whether it is read from a cluster, so that looking again can show something else.
    pub(crate) fn is_live(&self) -> bool {
        self.from.is_none()
    }

    /// Reads it.
    pub(crate) async fn read(&self, global: &Global) -> Result<Seen, Failure> {
        match &self.from {
            Some(from) => self.given(from),
            None => self.live(global).await,
        }
    }

    /// The same; but who names neither a group nor a name server gets the example of the documentation.
    pub(crate) async fn read_or_example(&self, global: &Global) -> Result<Seen, Failure> {
        let nothing_named = self.name().is_none() && self.from.is_none();
        if !nothing_named || !Cluster::would_be_embedded(global, &global.settings(&[])?)? {
            return self.read(global).await;
        }
        global.say("evenkeel: no name server given (NAMESRV_ADDR is unset), no group, no --from: this is an example group.");
        Ok(Seen::whole(example()))
    }

    async fn live(&self, global: &Global) -> Result<Seen, Failure> {
        let group = self.name().ok_or_else(|| {
            Failure::usage("which group?")
                .with_hint("say its name; `evenkeel groups` lists them; or give a file with --from")
        })?;
        let settings = global.settings(&[])?;
        let group = Group::from(settings.outside(group));
        let seen =
            read_group(&Cluster::servers_named(global, &settings)?, &group, &Patience::default()).await?;
        Ok(Seen { silent: seen.silent.clone(), ..Seen::whole(snapshot(&seen)) })
    }

    /// What a file, stdin or a link says of the group. What cannot be read is told, line by line.
    fn given(&self, from: &str) -> Result<Seen, Failure> {
        // Every link has a #, and the name of a file hardly ever.
        let (from, mut seen) = match of_link(from).filter(|_| from.contains('#')) {
            Some(shared) => ("the link", shared?),
            None => (from, in_text(from, &text(from)?)?),
        };
        match (self.name(), &seen.snapshot.group) {
            (Some(name), Some(group)) if group.as_str() != name => {
                return Err(Failure::usage(format!("{from} is about group {group}, not {name}")));
            }
            (Some(name), None) => seen.snapshot.group = Some(Group::from(name)),
            _ => {}
        }
        Ok(seen)
    }
}

fn in_text(from: &str, text: &str) -> Result<Seen, Failure> {
    of_link(text).unwrap_or_else(|| understood(from, text).map(Seen::whole))
}

/// What a link of the planning page carries, if the text is one.
fn of_link(text: &str) -> Option<Result<Seen, Failure>> {
    let text = text.trim();
    if !text.contains(link::MARK) || text.contains(char::is_whitespace) || text.starts_with('{') {
        return None;
    }
    let shared = link::shared_text(text).and_then(|json| {
        let bad = |error: serde_json::Error| Said::same(error.to_string());
        serde_json::from_str(&json).map_err(|error| report::Error::new(ErrorCode::BadLink, bad(error)))
    });
    let seen =
        |Shared { snapshot, changes, strategies }| Seen { changes, strategies, ..Seen::whole(snapshot) };
    Some(shared.map(seen).map_err(failure))
}

/// A snapshot, of any size, or whatever else people paste. Each line that is not understood is named on stderr.
fn understood(from: &str, text: &str) -> Result<Snapshot, Failure> {
    if let Ok(snapshot) = serde_json::from_str::<Snapshot>(text) {
        if !snapshot.schema.is_empty() {
            return Ok(snapshot);
        }
    }
    let parsed = paste::parse(text);
    for problem in &parsed.problems {
        let lines = match (problem.line, problem.lines) {
            (0, _) => "beyond that".to_owned(),
            (line, 0 | 1) => format!("line {line}"),
            (line, count) => format!("lines {line} to {}", line + count - 1),
        };
        let found =
            if problem.text.is_empty() { String::new() } else { format!(", found {:?}", problem.text) };
        eprintln!("evenkeel: {from}, {lines}: expected {}{found}", problem.expected);
    }
    if parsed.kinds.is_empty() {
        return Err(Failure::usage(format!("nothing in {from} tells of a group")).with_hint(
            "`evenkeel snapshot GROUP -O FILE` writes a file; outputs of mqadmin and lists are read as well",
        ));
    }
    Ok(parsed.snapshot)
}

fn text(from: &str) -> Result<String, Failure> {
    let wrong = |why: &dyn std::fmt::Display| Failure::usage(format!("cannot read {from}: {why}"));
    let mut bytes = Vec::new();
    let read = match from {
        "-" => std::io::stdin().lock().take(MAX_INPUT + 1).read_to_end(&mut bytes),
        path => File::open(path).and_then(|file| file.take(MAX_INPUT + 1).read_to_end(&mut bytes)),
    };
    read.map_err(|error| wrong(&error))?;
    if bytes.len() as u64 > MAX_INPUT {
        return Err(wrong(&format!("more than {} MiB", MAX_INPUT >> 20)));
    }
    // What a terminal copied in another encoding is still mostly readable; the lines that are not are told.
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A topic of the cluster and its queues.
pub(crate) async fn topic(global: &Global, name: &str) -> Result<TopicSeen, Failure> {
    let settings = global.settings(&[])?;
    let topic = Topic::from(settings.outside(name));
    let route = route::read(&Cluster::servers_named(global, &settings)?, &topic, CALL).await?;
    let brokers = route.queues.iter().map(|queues| BrokerSeen {
        broker: queues.broker.clone(),
        read_queues: i64::from(queues.read_queues),
        readable: queues.perm & PERM_READ != 0,
    });
    Ok(TopicSeen { brokers: brokers.collect(), topic })
}

/// A live group as JSON has it.
pub(crate) fn snapshot(seen: &GroupSeen) -> Snapshot {
    let load = seen.queues().filter_map(|queue| {
        let lag = i64::try_from(seen.lag_of(&queue)?).ok();
        Some(Load { queue, lag, tps: None })
    });
    let sharing = match seen.kind {
        Some(kind) if kind.model == MessageModel::Broadcasting => Sharing::Nobody,
        _ if seen.members.iter().any(Member::pops) => Sharing::Broker,
        _ => Sharing::Consumers,
    };
    Snapshot { taken_at: now(), load: Some(load.collect()), sharing, ..Snapshot::of(&seen.snapshot(), None) }
}

/// As RFC 3339.
fn now() -> Option<String> {
    let mut text = String::new();
    SystemTime.format_time(&mut Writer::new(&mut text)).ok()?;
    Some(text)
}

/// How the process ends for want of a report.
pub(crate) fn failure(error: report::Error) -> Failure {
    let code = match error.code {
        ErrorCode::UnknownConsumer | ErrorCode::EmptyConsumers | ErrorCode::EmptyQueues => Code::NotFound,
        _ => Code::Usage,
    };
    let failure = Failure::new(code, error.to_string());
    match error.hint {
        Some(hint) => failure.with_hint(hint),
        None => failure,
    }
}

/// The group of the documentation: 16 queues on two brokers, three members.
fn example() -> Snapshot {
    let mut snapshot = Snapshot::new(Some(Group::from("pay-worker")));
    let broker = |name: &str| BrokerSeen { broker: name.into(), read_queues: 8, readable: true };
    let brokers = ["broker-a", "broker-b"].map(broker).to_vec();
    snapshot.topics.push(TopicSeen { topic: "orders".into(), brokers });
    snapshot.consumers =
        ["10.0.3.11@7#812", "10.0.3.12@7#944", "10.0.3.13@7#377"].map(ConsumerSeen::new).to_vec();
    snapshot.consumers.iter_mut().for_each(|member| member.strategy = Some("AVG".to_owned()));
    snapshot
}
