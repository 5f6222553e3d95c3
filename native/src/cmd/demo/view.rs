//! What the demo shows.

use super::Options;
use super::group::{Change, Changed, DemoGroup, Owners};
use super::ledger::{Ledger, Tally};
use crate::cmd::exit::Failure;
use crate::cmd::global::Global;
use crate::cmd::output;
use evenkeel::MessageQueue;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The terminal.
pub(super) struct View<'a> {
    global: &'a Global,
}

impl<'a> View<'a> {
    pub(super) fn new(global: &'a Global) -> Self {
        Self { global }
    }

    pub(super) fn head(&self, options: &Options) -> Result<(), Failure> {
        let Options { members, queues, rate, time, strategy } = options;
        self.line(&format!(
            "{members} members share {queues} queues by {strategy}, {rate} messages a second for {} s, on the embedded broker",
            time.as_secs_f64()
        ))
    }

    /// Who owns what, and what has just changed.
    pub(super) async fn table(
        &self,
        group: &DemoGroup,
        changed: Option<&Changed>,
        at: Duration,
        ledger: &Ledger,
    ) -> Result<(), Failure> {
        let lags = group.lags().await?;
        let tally = ledger.tally();
        let lag: u64 = lags.values().sum();
        let what = match changed {
            None => "the members agree".to_owned(),
            Some(changed) => {
                let verb = match changed.change {
                    Change::Join => "joins",
                    Change::Leave => "leaves",
                    Change::Kill => "is killed",
                };
                let millis = changed.settled.as_millis();
                format!("{} {verb}: {} queues moved, settled in {millis} ms", changed.member, changed.moved)
            }
        };
        self.line("")?;
        let rate = tally.consumed as f64 / at.as_secs_f64().max(0.001);
        self.line(&format!(
            "{:5.1} s  {what} · consumed {} of {} · lag {lag} · {rate:.0} msg/s",
            at.as_secs_f64(),
            tally.distinct,
            tally.sent
        ))?;
        if self.global.format().is_json() {
            return Ok(());
        }
        let owners = group.owners();
        let before = changed.map(|changed| &changed.before);
        let head = ["MEMBER", "QUEUES", "LAG", "OWNS (+ new)", "LOST"].map(str::to_owned);
        let rows: Vec<Vec<String>> =
            owners.iter().map(|(name, owned)| row(name, owned, before, &lags)).collect();
        for line in output::render(self.global, &head, &rows) {
            self.line(&line)?;
        }
        Ok(())
    }

    fn line(&self, text: &str) -> Result<(), Failure> {
        if self.global.format().is_json() {
            // Talk for those who watch; stdout belongs to the report.
            self.global.say(text);
            return Ok(());
        }
        output::line(text)
    }
}

fn row(
    name: &str,
    owned: &[MessageQueue],
    before: Option<&Owners>,
    lags: &BTreeMap<MessageQueue, u64>,
) -> Vec<String> {
    let had = before.map(|before| before.get(name).map_or(&[][..], Vec::as_slice));
    let short = |queue: &MessageQueue| {
        format!("{}/{}", queue.broker.as_str().trim_start_matches("embedded-"), queue.id)
    };
    let owns = owned.iter().map(|queue| {
        let new = had.is_some_and(|had| !had.contains(queue));
        format!("{}{}", if new { "+" } else { "" }, short(queue))
    });
    let lost = had.unwrap_or_default().iter().filter(|queue| !owned.contains(queue)).map(short);
    let lag: u64 = owned.iter().filter_map(|queue| lags.get(queue)).sum();
    let (owns, lost): (Vec<_>, Vec<_>) = (owns.collect(), lost.collect());
    let listed = |all: &[String]| if all.is_empty() { "–".to_owned() } else { all.join(" ") };
    vec![name.to_owned(), owned.len().to_string(), lag.to_string(), listed(&owns), listed(&lost)]
}

/// What came of it.
pub(super) struct Report<'a> {
    pub(super) options: &'a Options,
    pub(super) tally: Tally,
    pub(super) rebalances: u64,
    pub(super) changes: &'a [Changed],
    pub(super) owners: &'a Owners,
    /// Whether members and broker agree that every queue has one owner.
    pub(super) agreed: bool,
    /// Whether everything was consumed and committed.
    pub(super) sound: bool,
    pub(super) abandoned: usize,
}

impl Report<'_> {
    /// Whether what the demo is to show is so.
    pub(super) fn holds(&self) -> bool {
        self.sound && self.agreed && self.tally.missing == 0 && self.tally.sent > 0
    }

    pub(super) fn json(&self) -> Value {
        let Tally { sent, consumed, distinct, missing, duplicates } = self.tally;
        let millis = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let changes: Vec<Value> = self
            .changes
            .iter()
            .map(|changed| {
                json!({
                    "at": millis(changed.at), "what": changed.change.name(), "member": changed.member,
                    "moved": changed.moved, "settledMs": millis(changed.settled),
                })
            })
            .collect();
        let name = |queue: &MessageQueue| format!("{}/{}", queue.broker, queue.id);
        let owners: BTreeMap<&String, Vec<String>> =
            self.owners.iter().map(|(member, queues)| (member, queues.iter().map(name).collect())).collect();
        json!({
            "schema": "evenkeel.demo/1", "sent": sent, "consumed": consumed, "distinct": distinct, "missing": missing,
            "duplicates": duplicates, "rebalances": self.rebalances, "changes": changes, "owners": owners,
            "queues": self.options.queues, "strategy": self.options.strategy, "oneOwnerPerQueue": self.agreed,
            "committed": self.sound, "ok": self.holds(),
        })
    }

    pub(super) fn verdict(&self) -> String {
        let Tally { sent, consumed, distinct, missing, duplicates } = self.tally;
        let owners = if self.agreed { "every queue has one owner" } else { "the owners DISAGREE" };
        let committed = if self.sound { "all committed" } else { "NOT all committed" };
        let word = if self.holds() { "\nOK" } else { "\nFAILED" };
        let broken = match self.abandoned {
            0 => String::new(),
            count => format!(", {count} handlers broken off"),
        };
        format!(
            "{word}  sent {sent} · consumed {consumed} ({distinct} different) · {missing} missing · {duplicates} \
             duplicates · {} rebalances · {owners} · {committed}{broken}",
            self.rebalances
        )
    }
}
