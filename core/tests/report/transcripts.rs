//! The outputs that the product's description shows.

use evenkeel_core::report::{ConsumerSeen, Options, Snapshot, Strategies, Strategy, plan};
use serde_json::{Value, json};

use crate::groups::{change, pay_worker};

fn running_avg() -> Snapshot {
    let mut group = pay_worker();
    for consumer in &mut group.consumers {
        *consumer = ConsumerSeen { strategy: Some("AVG".into()), ..consumer.clone() };
    }
    group
}

#[test]
fn one_more_pod_of_an_unknown_id() {
    let report = plan(&running_avg(), &[change(r#"{"kind":"add","count":1}"#)], &Options::default()).unwrap();
    let names: Vec<&str> = report.results.iter().map(|result| result.strategy.as_str()).collect();
    assert_eq!(names, ["AVG", "AVG_BY_CIRCLE", "CONSISTENT_HASH", "AVG_BY_DRAFT"]);
    let running: Vec<bool> = report.results.iter().map(|result| result.running).collect();
    assert_eq!(running, [true, false, false, false]);
    let [avg, circle, hash, _] = report.results.as_slice() else { panic!("{report:?}") };
    assert_eq!((avg.moved.min, avg.moved.max, avg.moved.exact, avg.floor), (5, 9, true, 4));
    assert_eq!((avg.kept.min, avg.kept.max), (7, 11));
    assert_eq!((circle.moved.min, circle.moved.max, circle.moved.exact), (10, 13, true));
    assert_eq!((hash.moved.exact, hash.moved.samples), (false, Some(2000)));
    assert_eq!(avg.per_consumer.loads, [4, 4, 4, 4]);
    assert_eq!((&avg.moves, &avg.members), (&vec![], &vec![]), "ids are not known");
    assert_eq!(report.warnings, []);
}

#[test]
fn one_more_pod_of_a_known_id_over_the_limit() {
    let options = Options {
        strategies: Strategies::These(vec![Strategy::Avg {}]),
        max_moves: Some(8),
        ..Options::default()
    };
    let add = change(r#"{"kind":"add","ids":["10.0.3.14@7#120"]}"#);
    let report = plan(&running_avg(), &[add], &options).unwrap();
    let Value::Object(mut shape) = serde_json::to_value(&report).unwrap() else { panic!() };
    let warnings = shape.remove("warnings").unwrap();
    assert_eq!(warnings[0]["code"], "R201");
    assert_eq!(warnings[0]["level"], "error");
    assert_eq!(warnings[0]["text"], "AVG moves 9 queues, limit 8");
    let mut result = shape["results"][0].clone();
    let moves = result.as_object_mut().unwrap().remove("moves").unwrap();
    assert_eq!(
        moves[0],
        json!({"queue":{"topic":"orders","broker":"broker-a","id":4},"from":"10.0.3.11@7#812","to":"10.0.3.12@7#944"})
    );
    assert_eq!(moves.as_array().unwrap().len(), 9);
    assert_eq!(
        result,
        json!({
            "strategy":"AVG","running":true,"added":0,"removed":0,"floor":4,
            "moved":{"min":9,"typical":9,"max":9,"exact":true},
            "kept":{"min":7,"typical":7,"max":7,"exact":true},
            "perConsumer":{"min":4,"max":4,"skew":0,"loads":[4,4,4,4],"idle":[]},
            "members":[
                {"id":"10.0.3.11@7#812","before":6,"after":4},
                {"id":"10.0.3.12@7#944","before":5,"after":4},
                {"id":"10.0.3.13@7#377","before":5,"after":4},
                {"id":"10.0.3.14@7#120","after":4}
            ]
        })
    );
    shape.remove("results");
    assert_eq!(
        Value::Object(shape),
        json!({
            "schema":"evenkeel.plan/1","group":"pay-worker","topics":["orders"],
            "before":{"consumers":3,"queues":16},"after":{"consumers":4,"queues":16},
            "limits":{"maxMoves":8,"passed":false}
        })
    );
}
