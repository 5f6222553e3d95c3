//! How evenly a group's topics add up, as findings.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::Vec;

use super::sickness::Examination;
use super::{Code, Figures, Finding, Level, Said, said};
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
        let topics = real.len();
        let list = short_list(&loads);
        let totals = Some(said!("queues of the members in total: {list}", "各消费者的队列合计：{list}"));
        if queues > 0 && !idle.is_empty() {
            let why = if queues < members.len() {
                said!("there are only {queues} queues", "一共只有 {queues} 个队列")
            } else {
                said!(
                    "{name} shares {queues} queues of {topics} topics",
                    "{name} 分配 {topics} 个主题的 {queues} 个队列"
                )
            };
            let (none, all) = (idle.len(), members.len());
            let text = said!(
                "{none} of {all} members have no queue: {why}",
                "{all} 个消费者中有 {none} 个没有队列：{why}",
                why
            );
            return Some(Finding { effect: totals, fix, members: idle, ..Finding::new(Code::R108, text) });
        }
        // Worth a word if loads are further apart than one topic alone leaves them, and the most is a fifth above even.
        let of_one = real.iter().map(|topic| topic.skew).max().unwrap_or(0).max(1);
        if max - min <= of_one || max * 5 * members.len() < queues * 6 {
            return None;
        }
        let text = said!(
            "{name} gives {min} to {max} queues of {topics} topics to a member",
            "{name} 把 {topics} 个主题的 {min} 到 {max} 个队列分给一个消费者"
        );
        let level = if max * 3 * members.len() > queues * 4 { Level::Warning } else { Level::Info };
        Some(Finding { level, effect: totals, fix, ..Finding::new(Code::R107, text) })
    }
}

/// Numbers of members that divide the queues of every topic.
fn better_counts(topics: &[Figures]) -> Said {
    let common = topics.iter().map(|topic| topic.queues).fold(0, gcd);
    let divisors: Vec<String> =
        (1..=common).filter(|count| common % count == 0).take(12).map(|count| count.to_string()).collect();
    if divisors.len() < 2 {
        return said!(
            "choose numbers of queues that the number of members divides, or AVG_BY_DRAFT if all members know it",
            "选择能被消费者数量整除的队列数；如果所有消费者都支持，也可使用 AVG_BY_DRAFT"
        );
    }
    let divisors = divisors.join(", ");
    said!(
        "run {divisors} members, which divide the queues of every topic, or AVG_BY_DRAFT if all members know it",
        "运行 {divisors} 个消费者（能整除每个主题的队列数）；如果所有消费者都支持，也可使用 AVG_BY_DRAFT"
    )
}

fn short_list(loads: &[usize]) -> String {
    let shown: Vec<String> = loads.iter().take(16).map(ToString::to_string).collect();
    let more = if loads.len() > 16 { " …" } else { "" };
    format!("{}{more}", shown.join(" "))
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
