//! The line that a Java client logs when its queues change.

use evenkeel_core::paste::{Kind, parse};
use evenkeel_core::plan::Code;
use evenkeel_core::report::verify;

use crate::fixtures::{IDS, LONG, text};
use crate::mqadmin::{ids, queues};

fn line(id: &str, queues: &[i32]) -> String {
    let set: Vec<String> =
        queues.iter().map(|id| format!("MessageQueue [topic=T, brokerName=b, queueId={id}]")).collect();
    format!(
        "2026-01-01 10:00:00,000 INFO RocketmqClient - client rebalanced result changed. \
         allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId={id}, mqAllSize=6, cidAllSize=2, \
         rebalanceResultSize={}, rebalanceResultSet=[{}]\n",
        queues.len(),
        set.join(", ")
    )
}

#[test]
fn real_logs_of_a_whole_group_of_4_9() {
    a_whole_group("4.9.7");
}

#[test]
fn real_logs_of_a_whole_group_of_5() {
    a_whole_group("5.5.0");
}

fn a_whole_group(version: &str) {
    let parsed = parse(text(version, "client-log"));
    assert_eq!((parsed.problems.as_slice(), &parsed.kinds), ([].as_slice(), &vec![Kind::ClientLog]));
    assert_eq!(ids(&parsed), IDS);
    assert!(queues(&parsed).contains(&format!("{LONG} broker-a=3")));
    let report = verify(&parsed.snapshot).expect("a sound group");
    assert_eq!((report.findings.as_slice(), report.queues), ([].as_slice(), 19));
    assert_eq!(report.strategy, "AVG");
}

#[test]
fn the_last_line_of_a_consumer_counts() {
    let pasted = [line("c1", &[0, 1, 2, 3, 4, 5]), line("c2", &[3, 4, 5]), line("c1", &[0, 1, 2])].concat();
    let parsed = parse(&pasted);
    assert_eq!(parsed.problems, []);
    assert!(verify(&parsed.snapshot).unwrap().healthy);
    let reordered = parse(&[line("c1", &[0, 1, 2]), line("c2", &[2, 3, 4, 5])].concat());
    let codes: Vec<Code> = verify(&reordered.snapshot).unwrap().findings.iter().map(|one| one.code).collect();
    assert_eq!(codes, [Code::R102]);
}

#[test]
fn a_part_of_the_group_says_what_is_missing() {
    let parsed = parse(&line("c1", &[0, 1, 2]));
    let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
    assert_eq!(
        problem.expected,
        "all 6 queues of T, 3 are known: paste topicRoute; all 2 consumers, 1 are known: paste consumerConnection"
    );
    let whole = parse(&[&line("c1", &[0, 1, 2]), "T: b=6\n", "c2\n"].concat());
    assert_eq!(whole.problems, []);
    assert_eq!(whole.snapshot.consumers[1].answered, Some(false));
    let report = verify(&whole.snapshot).unwrap();
    assert_eq!(report.findings.iter().map(|one| one.code).collect::<Vec<_>>(), [Code::R110]);
}

#[test]
fn a_line_that_is_cut_or_of_another_kind_is_a_problem() {
    let whole = line("c1", &[0, 1, 2]);
    for cut in [whole.len() - 3, whole.len() - 20, whole.find("rebalanceResultSet").unwrap(), 150] {
        let parsed = parse(&whole[..cut]);
        assert_eq!((parsed.problems.len(), parsed.problems[0].line), (1, 1), "{}", &whole[..cut]);
        assert_eq!(parsed.snapshot.owned, None);
    }
    let pop = "broker rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId=c, assignmentSet=[]";
    assert!(parse(pop).problems[0].expected.contains("here the brokers do"));
}
