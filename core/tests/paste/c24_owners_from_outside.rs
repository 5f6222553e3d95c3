//! C24: who owns which queue, from what mqadmin shows: by broker and number, never by number alone.

use evenkeel_core::paste::parse;
use evenkeel_core::report::verify;

use crate::fixtures::{VERSIONS, text};

#[test]
fn c24_each_queue_has_its_one_owner() {
    for version in VERSIONS {
        let pasted =
            [text(version, "consumerProgress-clients"), text(version, "consumerConnection")].concat();
        let owned = parse(&pasted).snapshot.owned.unwrap();
        let owner = |broker: &str, id: i32| {
            let entry = owned.iter().find(|entry| {
                entry.queue.topic.as_str() == "orders"
                    && entry.queue.broker.as_str() == broker
                    && entry.queue.id == id
            });
            entry.unwrap().owners.iter().map(|id| id.to_string()).collect::<Vec<_>>()
        };
        assert_eq!(owner("broker-a", 0), ["10.0.3.11@7#812"]);
        assert_eq!(owner("broker-b", 0), ["10.0.3.13@7#377"]);
        assert_eq!(owned.len(), 19);
    }
}

#[test]
fn c24_two_consumers_on_one_host_are_not_guessed() {
    let progress = "\
#Topic   #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #LastTime
orders   broker-a      0     9               9                 10.0.0.1    0      N/A
";
    let one = parse(&format!("{progress}\n10.0.0.1@1\n10.0.0.2@1\n"));
    assert_eq!(one.snapshot.owned.unwrap()[0].owners[0].as_str(), "10.0.0.1@1");
    let two = parse(&format!("{progress}\n10.0.0.1@1\n10.0.0.1@2\n"));
    assert_eq!(two.snapshot.owned, None);
    assert!(two.problems[0].expected.contains("which of the consumers on 10.0.0.1"), "{:?}", two.problems);
    let none = parse(progress);
    assert!(none.problems[0].expected.contains("the consumer on 10.0.0.1"), "{:?}", none.problems);
}

#[test]
fn c24_a_consumer_without_queues_breaks_nothing() {
    let pasted = "\
#Topic   #Broker Name  #QID  #Broker Offset  #Consumer Offset  #Client IP  #Diff  #LastTime
rare     broker-a      0     9               9                 10.0.0.1    0      N/A

10.0.0.1@1
10.0.0.2@1
";
    let report = verify(&parse(pasted).snapshot).unwrap();
    assert_eq!(report.consumers[1].actual, Some(0));
}
