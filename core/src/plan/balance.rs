//! How evenly a group's topics add up, as findings.

use alloc::borrow::Cow;
use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::sickness::Examination;
use super::{Code, Figures, Finding, Level};
use crate::model::ClientId;

impl Examination<'_> {
    /// Retry topics do not count: they have a queue a broker, and seldom a message.
    pub(super) fn balance(&self) -> Option<Finding> {
        let expected = self.expected.as_ref()?;
        let real: Vec<Figures> = expected
            .topics()
            .iter()
            .filter(|plan| !plan.topic.is_retry())
            .map(|plan| expected.figures_of(plan))
            .collect();
        let queues: usize = real.iter().map(|topic| topic.queues).sum();
        let members = expected.members();
        let loads: Vec<usize> = (0..members.len())
            .map(|place| real.iter().filter_map(|topic| topic.loads.get(place)).sum())
            .collect();
        let (min, max) = (loads.iter().min().copied()?, loads.iter().max().copied()?);
        let name = self.common.name();
        let idle: Vec<ClientId> =
            members.iter().zip(&loads).filter(|&(_, &load)| load == 0).map(|(id, _)| id.clone()).collect();
        let fix = better_counts(&real);
        let totals = Some(format!("queues of the members in total: {}", short_list(&loads)));
        if queues > 0 && !idle.is_empty() {
            let why = if queues < members.len() {
                format!("there are only {queues} queues")
            } else {
                format!("{name} shares {queues} queues of {} topics", real.len())
            };
            let text = format!("{} of {} members have no queue: {why}", idle.len(), members.len());
            return Some(Finding { effect: totals, fix, members: idle, ..Finding::new(Code::R108, text) });
        }
        // Worth a word if loads are further apart than one topic alone leaves them, and the most is a fifth above even.
        let of_one = real.iter().map(|topic| topic.skew).max().unwrap_or(0).max(1);
        if max - min <= of_one || max * 5 * members.len() < queues * 6 {
            return None;
        }
        let text = format!("{name} gives {min} to {max} queues of {} topics to a member", real.len());
        let level = if max * 3 * members.len() > queues * 4 { Level::Warning } else { Level::Info };
        Some(Finding { level, effect: totals, fix, ..Finding::new(Code::R107, text) })
    }
}

/// Numbers of members that divide the queues of every topic.
fn better_counts(topics: &[Figures]) -> Cow<'static, str> {
    let common = topics.iter().map(|topic| topic.queues).fold(0, gcd);
    let divisors: Vec<String> =
        (1..=common).filter(|count| common % count == 0).take(12).map(|count| count.to_string()).collect();
    if divisors.len() < 2 {
        return "choose numbers of queues that the number of members divides, or AVG_BY_DRAFT if all members know it".into();
    }
    format!(
        "run {} members, which divide the queues of every topic, or AVG_BY_DRAFT if all members know it",
        divisors.join(", ")
    )
    .into()
}

fn short_list(loads: &[usize]) -> String {
    let shown: Vec<String> = loads.iter().take(16).map(ToString::to_string).collect();
    let more = if loads.len() > 16 { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
