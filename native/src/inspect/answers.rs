//! What members say of themselves.

use super::processes::Process;
use evenkeel_core::model::Topic;
use evenkeel_core::plan::MemberSeen;
use evenkeel_core::wire::code::LanguageCode;
use evenkeel_core::wire::error::{WireError, WireErrorKind};
use evenkeel_core::wire::peer::RunningInfo;
use evenkeel_core::wire::reply::CallError;
use evenkeel_core::wire::request::SubscriptionData;
use evenkeel_core::wire::version::release;
use std::collections::BTreeMap;

/// The setting under which members tell their strategy. Java members tell all fields of their consumer object, so it
/// is the field's name; the Go client tells none.
const STRATEGY: &str = "allocateMessageQueueStrategy";

/// The strategy in the running info of a member: a name, or a Java class. `None` if it does not say.
///
/// Java writes an object as its class and a number that changes with each process
/// (`…rebalance.AllocateMessageQueueAveragely@318dc8ae`); the number is left out. Settings, such as the number of
/// virtual nodes, are told by nobody.
pub fn strategy_told(info: &RunningInfo) -> Option<&str> {
    let told = info.properties.get(STRATEGY)?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let name = match told.rsplit_once('@') {
        Some((class, number)) if is_number(number) => class,
        _ => told,
    };
    Some(name).filter(|name| !name.is_empty())
}

/// Whether an answer says anything at all: old clients answer with an object that has no fields.
pub(super) fn says_something(info: &RunningInfo) -> bool {
    !info.properties.is_empty() || !info.queues.is_empty() || !info.subscriptions.is_empty()
}

/// The reason for taking such an answer as none.
pub(super) fn said_nothing() -> CallError {
    WireError::new(WireErrorKind::MissingField, 0, "properties").into()
}

/// A process and what it said, as plans look at it.
pub(super) fn member_seen(process: &Process, info: Option<&RunningInfo>) -> MemberSeen {
    let owned = |info: &RunningInfo| {
        let held = info.queues.iter().filter(|(_, state)| !state.dropped);
        held.map(|(queue, _)| queue.clone()).collect()
    };
    let subscribed = |info: &RunningInfo| info.subscriptions.iter().map(expression).collect();
    MemberSeen {
        address: process.connections.values().next().cloned(),
        language: process.language.and_then(LanguageCode::name).map(str::to_owned),
        version: release(process.version),
        strategy: info.and_then(strategy_told).map(str::to_owned),
        subscriptions: info.map(subscribed),
        owned: info.map(owned),
        ..MemberSeen::new(process.client.clone())
    }
}

/// A topic and its expression; one that is not of tags says of what kind it is.
fn expression(data: &SubscriptionData) -> (Topic, String) {
    let subscription = &data.subscription;
    let text = match subscription.expression_type.as_str() {
        "TAG" => subscription.sub_string.clone(),
        kind => format!("{kind}: {}", subscription.sub_string),
    };
    (subscription.topic.clone(), text)
}

/// The subscriptions that an answer names, by topic.
pub(super) fn topics(info: &RunningInfo) -> BTreeMap<Topic, String> {
    info.subscriptions.iter().map(expression).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_core::allocate::named;

    fn told(strategy: &str) -> RunningInfo {
        let properties = BTreeMap::from([(STRATEGY.to_owned(), strategy.to_owned())]);
        RunningInfo { properties, ..RunningInfo::default() }
    }

    #[test]
    fn strategies_as_members_tell_them() {
        let package = "org.apache.rocketmq.client.consumer.rebalance.";
        for (text, name) in [
            ("AllocateMessageQueueAveragely@318dc8ae", "AVG"),
            ("AllocateMessageQueueAveragelyByCircle@1", "AVG_BY_CIRCLE"),
            ("AllocateMessageQueueConsistentHash@7f", "CONSISTENT_HASH"),
        ] {
            let info = told(&format!("{package}{text}"));
            let strategy = strategy_told(&info).map(named);
            assert_eq!(
                strategy.and_then(Result::ok).map(|one| one.name().into_owned()).as_deref(),
                Some(name)
            );
        }
        assert_eq!(strategy_told(&told("AVG")), Some("AVG"), "a member of ours");
        assert_eq!(strategy_told(&told("com.shop.ByShelf@Home")), Some("com.shop.ByShelf@Home"));
        assert_eq!(strategy_told(&told("")), None);
        assert_eq!(strategy_told(&RunningInfo::default()), None, "a Go member");
    }
}
