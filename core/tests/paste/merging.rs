//! Several pastes add up.

use evenkeel_core::paste::{Kind, parse};

use crate::fixtures::{LONG, VERSIONS, output, text};
use crate::mqadmin::{ids, queues};

#[test]
fn pastes_one_by_one_tell_what_one_text_tells() {
    for version in VERSIONS {
        let names = ["topicRoute", "consumerProgress-clients", "consumerConnection"];
        let parts = names.map(|name| output(version, name));
        let whole = parse(&parts.join("\n\n"));
        let [one, two, three] = parts.map(parse);
        assert!(!one.problems.is_empty(), "the route has no name yet");
        let merged = one.merge(two).merge(three);
        assert_eq!(merged.snapshot, whole.snapshot, "{version}");
        assert_eq!(merged.problems, [], "{version}");
        assert_eq!(merged.kinds, [Kind::TopicRoute, Kind::ConsumerProgress, Kind::ConsumerConnection]);
        assert_eq!(merged.lines, whole.lines);
    }
}

#[test]
fn problems_say_which_paste() {
    let merged = parse("c1\n").merge(parse("c2\nno list at all\n")).merge(parse("\n\nnor this one\n"));
    let places: Vec<_> = merged.problems.iter().map(|problem| (problem.paste, problem.line)).collect();
    assert_eq!(places, [(1, 2), (2, 3)]);
    assert_eq!(ids(&merged), ["c1", "c2"]);
}

#[test]
fn what_was_told_later_counts() {
    let merged = parse("T: b=4\n").merge(parse("T: b=8, c=2\n"));
    assert_eq!(queues(&merged), ["T b=8", "T c=2"]);
    let told = parse("T: b=4\n").merge(parse(text("4.9.7", "topicStatus")));
    assert_eq!(queues(&told), ["T b=4", "orders broker-a=8", "orders broker-b=4"]);
}

#[test]
fn another_group_is_a_problem() {
    let parsed = parse(text("5.5.0", "consumerConnection")).merge(parse("group: other\n"));
    assert!(parsed.problems[0].expected.contains("this is of group other"), "{:?}", parsed.problems);
    let shape = serde_json::to_value(&parsed).unwrap();
    assert_eq!(shape["problems"][0]["paste"], 1);
    assert_eq!(shape["kinds"], serde_json::json!(["consumerConnection", "list"]));
    assert!(shape["found"].is_null());
}

#[test]
fn a_route_of_the_long_topic_makes_its_name_whole() {
    let route = format!(
        "$ mqadmin topicRoute -t {LONG}\n#ClusterName  #BrokerName  #BrokerAddrs  #ReadQueue #WriteQueue #Perm\nc broker-a {{0=h:1, 1=h:2}} 3 3 6\nc broker-b {{0=h:3}} 2 2 6\n"
    );
    let merged = parse(text("5.5.0", "consumerProgress")).merge(parse(&route));
    assert_eq!(merged.problems, []);
    assert_eq!(queues(&merged).iter().filter(|queues| queues.starts_with("audit")).count(), 2);
}
