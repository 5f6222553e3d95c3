//! The changes that a plan previews, in the order in which they were said.

use super::super::exit::Failure;
use super::super::strategy::described;
use clap::error::Error;
use clap::{ArgMatches, Args, Command, FromArgMatches};
use evenkeel_core::model::{BrokerName, ClientId};
use evenkeel_core::report::{BrokerSeen, Change, RollIds, RollWord, Snapshot, TopicSeen};

/// What the flags say, in their order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Said(Vec<Flag>);

/// One flag with its values.
#[derive(Clone, Debug)]
enum Flag {
    Add(Vec<String>),
    Remove(Vec<String>),
    Queues(String),
    DropBroker(String),
    Roll(String),
    SwitchTo(String),
}

/// The flags as clap reads them, which does not keep their order.
#[derive(Args, Debug)]
struct Flags {
    /// Members join: their client ids, or how many if the ids are not known yet
    #[arg(long, value_name = "N|ID,…", value_delimiter = ',', help_heading = "Changes")]
    add: Vec<String>,
    /// Members leave: their client ids, or how many
    #[arg(long, value_name = "N|ID,…", value_delimiter = ',', help_heading = "Changes")]
    remove: Vec<String>,
    /// A topic gets N more readable queues on each of its brokers, or has N on one; TOPIC only if there are several
    #[arg(long, value_name = "[TOPIC:]+N|BROKER=N", help_heading = "Changes")]
    queues: Vec<String>,
    /// A broker is gone, with its queues of all topics
    #[arg(long, value_name = "BROKER", help_heading = "Changes")]
    drop_broker: Vec<String>,
    /// All members are restarted one by one, under the ids that they have or under new ones
    #[arg(
        long,
        value_name = "stable|new",
        num_args = 0..=1,
        default_missing_value = "stable",
        value_parser = ["stable", "new"],
        help_heading = "Changes"
    )]
    roll: Vec<String>,
    /// All members change to another strategy: avg, circle, hash[:N], draft, rooms:FILE
    #[arg(long, value_name = "STRATEGY", help_heading = "Changes")]
    switch_to: Vec<String>,
}

impl Args for Said {
    fn augment_args(command: Command) -> Command {
        Flags::augment_args(command)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Flags::augment_args_for_update(command)
    }
}

impl FromArgMatches for Said {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut said: Vec<(usize, Flag)> = Vec::new();
        let mut take = |name: &str, flag: fn(String) -> Flag| {
            let values = matches.get_many::<String>(name).into_iter().flatten().cloned();
            let places = matches.indices_of(name).into_iter().flatten();
            said.extend(places.zip(values.map(flag)));
        };
        take("add", |value| Flag::Add(vec![value]));
        take("remove", |value| Flag::Remove(vec![value]));
        take("queues", Flag::Queues);
        take("drop_broker", Flag::DropBroker);
        take("roll", Flag::Roll);
        take("switch_to", Flag::SwitchTo);
        said.sort_by_key(|(place, _)| *place);
        let mut flags: Vec<Flag> = Vec::new();
        for (_, flag) in said {
            // Ids that are said one after the other join or leave at once.
            match (flags.last_mut(), flag) {
                (Some(Flag::Add(ids)), Flag::Add(more)) | (Some(Flag::Remove(ids)), Flag::Remove(more)) => {
                    ids.extend(more);
                }
                (_, flag) => flags.push(flag),
            }
        }
        Ok(Self(flags))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl Said {
    /// Whether nothing was said.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The changes, for this group.
    pub(super) fn changes(&self, snapshot: &Snapshot) -> Result<Vec<Change>, Failure> {
        // Queues that are said to come count for what is said next.
        let mut grown = snapshot.clone();
        let mut changes = Vec::new();
        for flag in &self.0 {
            match flag {
                Flag::Add(values) => {
                    changes.push(who("--add", values, |ids, count| Change::Add { ids, count })?);
                }
                Flag::Remove(values) => {
                    changes.push(who("--remove", values, |ids, count| Change::Remove { ids, count })?);
                }
                Flag::Queues(value) => changes.extend(queues(&mut grown, value)?),
                Flag::DropBroker(broker) => {
                    changes.push(Change::DropBroker { broker: broker.as_str().into() })
                }
                Flag::Roll(ids) if ids == "new" => changes.push(roll(RollWord::New)),
                Flag::Roll(_) => changes.push(roll(RollWord::Stable)),
                Flag::SwitchTo(strategy) => changes.push(Change::Strategy { to: described(strategy)? }),
            }
        }
        Ok(changes)
    }
}

fn roll(ids: RollWord) -> Change {
    Change::Roll { ids: RollIds::Word(ids) }
}

/// Ids that join or leave, or a number of them.
fn who(
    flag: &str,
    values: &[String],
    change: fn(Option<Vec<ClientId>>, Option<i64>) -> Change,
) -> Result<Change, Failure> {
    let numbers: Vec<i64> = values.iter().filter_map(|value| value.parse().ok()).collect();
    match (numbers.as_slice(), values) {
        ([], _) if values.iter().any(|value| value.trim().is_empty()) => {
            Err(Failure::usage(format!("{flag}: an empty client id")))
        }
        ([], ids) => Ok(change(Some(ids.iter().map(|id| ClientId::from(id.as_str())).collect()), None)),
        ([0], [_]) => Err(Failure::usage(format!("{flag} 0 changes nothing"))),
        (&[count], [_]) if count > 0 => Ok(change(None, Some(count))),
        _ => Err(Failure::usage(format!(
            "{flag} {}: neither a number of members nor client ids",
            values.join(",")
        ))
        .with_hint("say one number, or the client ids of all")),
    }
}

/// `[TOPIC:]+N` or `[TOPIC:]BROKER=N`, and what it makes of the group.
fn queues(grown: &mut Snapshot, value: &str) -> Result<Vec<Change>, Failure> {
    let wrong = |why: &str| Failure::usage(format!("--queues {value}: {why}"));
    let (topic, what) = match value.split_once(':') {
        Some((topic, what)) => (Some(topic), what),
        None => (None, value),
    };
    let real = |seen: &&mut TopicSeen| !seen.topic.is_retry();
    let mut named = grown.topics.iter_mut().filter(|seen| match topic {
        Some(topic) => seen.topic.as_str() == topic,
        None => real(seen),
    });
    let seen = match (topic, named.next(), named.next()) {
        (Some(topic), None, _) => return Err(wrong(&format!("the group has no topic {topic}"))),
        (None, None, _) => return Err(wrong("the group has no topic")),
        (_, Some(_), Some(_)) => {
            return Err(wrong("the group has several topics").with_hint("say --queues TOPIC:…"));
        }
        (_, Some(seen), None) => seen,
    };
    let number = |text: &str| text.parse().ok().filter(|number: &i64| *number >= 0);
    let brokers: Vec<(BrokerName, i64)> = if let Some(more) = what.strip_prefix('+') {
        let more = number(more).ok_or_else(|| wrong("not +N, as in +4"))?;
        if seen.brokers.is_empty() {
            return Err(wrong("no broker has the topic").with_hint("say BROKER=N"));
        }
        seen.brokers
            .iter()
            .map(|broker| (broker.broker.clone(), broker.read_queues.saturating_add(more)))
            .collect()
    } else {
        let (broker, read) = what.rsplit_once('=').ok_or_else(|| wrong("neither +N nor BROKER=N"))?;
        let read = number(read).ok_or_else(|| wrong("not BROKER=N, as in broker-a=12"))?;
        vec![(BrokerName::from(broker), read)]
    };
    let mut changes = Vec::new();
    for (broker, read_queues) in brokers {
        match seen.brokers.iter_mut().find(|known| known.broker == broker) {
            Some(known) => known.read_queues = read_queues,
            None => seen.brokers.push(BrokerSeen { broker: broker.clone(), read_queues, readable: true }),
        }
        changes.push(Change::Queues { topic: seen.topic.clone(), broker, read_queues });
    }
    Ok(changes)
}
