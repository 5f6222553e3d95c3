//! The outputs of the real mqadmin, of both versions.

use evenkeel_core::paste::{Kind, Parsed, parse};
use evenkeel_core::report::{Options, Strategy, allocate, plan, verify};

use crate::fixtures::{IDS, LONG, VERSIONS, output, text};

/// `topic broker=n`, for each broker.
pub(crate) fn queues(parsed: &Parsed) -> Vec<String> {
    let topics = parsed.snapshot.topics.iter();
    topics
        .flat_map(|seen| {
            seen.brokers.iter().map(|on| format!("{} {}={}", seen.topic, on.broker, on.read_queues))
        })
        .collect()
}

pub(crate) fn ids(parsed: &Parsed) -> Vec<&str> {
    parsed.snapshot.consumers.iter().map(|consumer| consumer.id.as_str()).collect()
}

#[test]
fn routes_with_their_command() {
    for version in VERSIONS {
        for (name, kind) in [
            ("topicRoute", Kind::TopicRoute),
            ("topicRoute-list", Kind::TopicRoute),
            ("topicStatus", Kind::TopicStatus),
        ] {
            let parsed = parse(text(version, name));
            assert_eq!(
                (parsed.problems.as_slice(), &parsed.kinds),
                ([].as_slice(), &vec![kind]),
                "{version} {name}"
            );
            assert_eq!(queues(&parsed), ["orders broker-a=8", "orders broker-b=4"], "{version} {name}");
        }
    }
}

#[test]
fn routes_without_their_command_ask_for_the_name() {
    for version in VERSIONS {
        for name in ["topicRoute", "topicRoute-list", "topicStatus"] {
            let parsed = parse(output(version, name));
            assert_eq!(queues(&parsed), ["topic broker-a=8", "topic broker-b=4"], "{version} {name}");
            let [problem] = parsed.problems.as_slice() else {
                panic!("{version} {name}: {:?}", parsed.problems)
            };
            assert!(problem.expected.contains("topicRoute -t NAME"), "{problem:?}");
            assert!(problem.line <= 2, "{problem:?}");
        }
    }
}

#[test]
fn a_route_finds_its_topic_among_those_of_the_group() {
    for version in VERSIONS {
        let pasted = [output(version, "topicRoute"), output(version, "consumerProgress")].join("\n\n");
        let parsed = parse(&pasted);
        assert!(queues(&parsed).contains(&"orders broker-a=8".to_string()), "{:?}", queues(&parsed));
        assert!(!queues(&parsed).iter().any(|queues| queues.starts_with("topic ")), "{:?}", queues(&parsed));
    }
}

#[test]
fn progress_gives_topics_queues_and_lag() {
    for version in VERSIONS {
        let parsed = parse(text(version, "consumerProgress"));
        let cut = &LONG[..64];
        let expected = [
            "%RETRY%pay-worker broker-a=1".to_string(),
            "%RETRY%pay-worker broker-b=1".to_string(),
            format!("{cut} broker-a=3"),
            format!("{cut} broker-b=2"),
            "orders broker-a=8".to_string(),
            "orders broker-b=4".to_string(),
        ];
        assert_eq!(queues(&parsed), expected, "{version}");
        assert_eq!(parsed.snapshot.group.as_ref().unwrap().as_str(), "pay-worker");
        assert_eq!(parsed.snapshot.load.as_ref().unwrap().len(), 19);
        assert!(parsed.snapshot.load.iter().flatten().all(|load| load.lag == Some(0)));
        let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
        assert!(problem.text == cut && problem.expected.contains("whole name of the topic"), "{problem:?}");
    }
}

#[test]
fn a_cut_name_is_made_whole_by_another_paste() {
    for version in VERSIONS {
        let pasted = [text(version, "consumerProgress"), text(version, "consumerConnection")].concat();
        let parsed = parse(&pasted);
        assert_eq!(parsed.problems, []);
        assert!(queues(&parsed).contains(&format!("{LONG} broker-a=3")));
        assert!(parsed.snapshot.load.iter().flatten().any(|load| load.queue.topic.as_str() == LONG));
        assert_eq!(ids(&parsed), IDS);
    }
}

#[test]
fn connections_give_consumers() {
    for (version, described) in [("4.9.7", "V4_9_7"), ("5.5.0", "V5_5_0")] {
        let parsed = parse(output(version, "consumerConnection"));
        assert_eq!((parsed.problems.as_slice(), ids(&parsed)), ([].as_slice(), IDS.to_vec()));
        assert_eq!(parsed.kinds, [Kind::ConsumerConnection]);
        let first = &parsed.snapshot.consumers[0];
        assert!(first.address.as_ref().unwrap().starts_with("127.0.0.1:"), "{first:?}");
        assert_eq!((first.language.as_deref(), first.version.as_deref()), (Some("JAVA"), Some(described)));
        assert_eq!(parsed.snapshot.group.as_ref().unwrap().as_str(), "pay-worker", "by its retry topic");
    }
}

#[test]
fn an_allocation_gives_who_and_what_there_is_and_not_who_has_what() {
    for version in VERSIONS {
        let parsed = parse(text(version, "allocateMQ"));
        assert_eq!((parsed.problems.as_slice(), ids(&parsed)), ([].as_slice(), IDS.to_vec()));
        assert_eq!(queues(&parsed), ["orders broker-a=8", "orders broker-b=4"]);
        assert_eq!((parsed.kinds, parsed.snapshot.owned), (vec![Kind::AllocateMq], None));
    }
}

#[test]
fn the_table_of_all_groups_is_not_enough() {
    for version in VERSIONS {
        let parsed = parse(text(version, "consumerProgress-all"));
        let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
        assert!(problem.text.starts_with("#Group") && problem.expected.contains("consumerProgress -g GROUP"));
    }
}

#[test]
fn everything_that_mqadmin_says_makes_a_group_that_can_be_planned() {
    for version in VERSIONS {
        let pasted =
            ["topicRoute", "consumerProgress-clients", "consumerConnection"].map(|name| text(version, name));
        let parsed = parse(&pasted.concat());
        assert_eq!(parsed.problems, [], "{version}");
        let report = verify(&parsed.snapshot).unwrap();
        assert_eq!((report.healthy, report.findings.as_slice()), (true, [].as_slice()), "{version}");
        let loads: Vec<_> = report.consumers.iter().map(|one| (one.expected, one.actual)).collect();
        assert_eq!(loads, [(Some(7), Some(7)), (Some(7), Some(7)), (Some(5), Some(5))], "{version}");
        let shares = allocate(&parsed.snapshot, Some(&Strategy::Avg {})).unwrap();
        assert_eq!(shares.stats.queues, 19);
        let add = serde_json::from_str(r#"{"kind":"add","count":1}"#).unwrap();
        assert!(plan(&parsed.snapshot, &[add], &Options::default()).unwrap().results[0].moved.exact);
    }
}

#[test]
fn two_processes_of_one_id_stay_two() {
    let pasted = "\
#ClientId            #ClientAddr            #Language  #Version
172.17.0.1@1         10.31.79.112:59606     JAVA       V4_9_7
172.17.0.1@1         10.31.79.17:48864      JAVA       V4_9_7
172.17.0.9@1         10.31.79.18:48864      GO         V4_6_0
";
    let once = parse(pasted);
    assert_eq!(ids(&once), ["172.17.0.1@1", "172.17.0.1@1", "172.17.0.9@1"]);
    let twice = parse(&[pasted, pasted].join("\n"));
    assert_eq!(twice.snapshot.consumers, once.snapshot.consumers, "the same table again is the same group");
}

#[test]
fn a_header_whose_last_names_stand_together() {
    let pasted = "\
#Topic   #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #Inflight#LastTime
orders   broker-a      0     900             700               10.0.0.1    200    3        2026-01-01 10:00:00
orders   broker-a      1     900             900               N/A         0      0        N/A
orders   broker-a      2     900             950               10.0.0.2    -50    0        2026-01-01 10:00:00
orders   broker-a      x     900             950               10.0.0.2    0      0        2026-01-01 10:00:00
";
    let parsed = parse(pasted);
    assert_eq!(queues(&parsed), ["orders broker-a=3"]);
    let lags: Vec<_> = parsed.snapshot.load.iter().flatten().map(|load| load.lag).collect();
    assert_eq!(lags, [Some(200), Some(0), None]);
    let lines: Vec<_> = parsed.problems.iter().map(|problem| problem.line).collect();
    assert_eq!(lines, [0, 4, 5], "{:?}", parsed.problems);
    assert!(parsed.problems[1].expected.contains("-50"), "{:?}", parsed.problems);
    assert!(parsed.problems[2].expected.starts_with("a row: TOPIC BROKER QUEUE"), "{:?}", parsed.problems);
}

#[test]
fn a_failed_command_is_one_problem() {
    let pasted = "\
$ mqadmin topicRoute -t nowhere -n 127.0.0.1:9876
org.apache.rocketmq.tools.command.SubCommandException: TopicRouteSubCommand command failed
\tat org.apache.rocketmq.tools.command.topic.TopicRouteSubCommand.execute(TopicRouteSubCommand.java:73)
\tat org.apache.rocketmq.tools.command.MQAdminStartup.main0(MQAdminStartup.java:164)
Caused by: org.apache.rocketmq.client.exception.MQClientException: CODE: 17  DESC: No topic route info
For more information, please visit the url, https://rocketmq.apache.org/docs/bestPractice/06FAQ
\tat org.apache.rocketmq.client.impl.MQClientAPIImpl.getTopicRouteInfoFromNameServer(MQClientAPIImpl.java:1797)
\t... 3 more
c1
";
    let parsed = parse(pasted);
    let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
    assert_eq!((problem.line, problem.lines), (2, 7));
    assert_eq!(ids(&parsed), ["c1"], "what follows is read");
}

#[test]
fn broadcasts_and_pulls_are_said_to_be_none_of_ours() {
    let parsed = parse("ConsumeType: CONSUME_ACTIVELY\nMessageModel: BROADCASTING\n");
    assert_eq!(parsed.problems.len(), 2);
    assert!(parsed.problems[1].expected.starts_with("CLUSTERING"));
}
