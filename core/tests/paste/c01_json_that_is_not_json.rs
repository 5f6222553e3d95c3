//! C01: routes with bare numbers for keys, as the paste box meets them.

use evenkeel_core::paste::parse;

use crate::mqadmin::queues;

const BARE: &str = r#"{"brokerDatas":[{"brokerAddrs":{0:"10.0.0.1:10911",1:"10.0.0.2:10911"},"brokerName":"a","cluster":"c"}],"filterServerTable":{},"queueDatas":[{"brokerName":"a","perm":6,"readQueueNums":4,"topicSysFlag":0,"writeQueueNums":4}]}"#;

#[test]
fn c01_bare_keys_and_quoted_keys_are_the_same() {
    let quoted = BARE.replace("{0:", "{\"0\":").replace(",1:", ",\"1\":");
    assert_ne!(quoted, BARE);
    for text in [BARE, &quoted] {
        assert_eq!(queues(&parse(text)), ["topic a=4"]);
    }
}

#[test]
fn c01_texts_that_look_like_keys_stay_texts() {
    let text = BARE.replace("\"cluster\":\"c\"", r#""cluster":"{0:1},{\"x\":2}""#);
    assert_eq!(queues(&parse(&text)), ["topic a=4"]);
}

#[test]
fn c01_broken_input_is_a_problem_with_its_line() {
    let pasted = "c1\n{\"brokerDatas\":[],\n \"queueDatas\":[{oops oops}]}\nc2\n";
    let parsed = parse(pasted);
    let [problem] = parsed.problems.as_slice() else { panic!("{:?}", parsed.problems) };
    assert_eq!((problem.line, problem.lines), (2, 2));
    assert_eq!(problem.expected, "a colon in line 3");
    assert_eq!(parsed.snapshot.consumers.len(), 2);
    let cut = parse(&BARE[..120]);
    assert_eq!(cut.problems[0].expected, "the bracket that closes this one");
}
