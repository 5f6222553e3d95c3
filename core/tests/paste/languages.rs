//! Problems are said in both languages: each kind of them, from texts made wrong on purpose.

use evenkeel_core::paste::{MAX_BYTES, MAX_LINES, MAX_PROBLEMS, Parsed, Problem, parse_in};
use evenkeel_core::report::Language;

use crate::fixtures::{VERSIONS, text};
use crate::translations::{self, is_chinese};

/// What is no output of anything, or one that is broken.
const WRONG: &[&str] = &[
    "??? no idea ((\nstrategy: averge\nstrategy: MACHINE_ROOM\nstrategy: hash:x\nstrategy: hash:70000\nstrategy: hash:0",
    "orders: broker-a=x\ngroup: a\ngroup: b",
    "broker rebalanced result changed. group=g\nclient rebalanced result changed. group=g",
    "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId=c, rebalanceResultSet=[Message",
    "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId=c, rebalanceResultSize=3, rebalanceResultSet=[]",
    "rebalanced result changed. allocateMessageQueueStrategyName=AVG, group=g, topic=T, clientId=c, mqAllSize=9, cidAllSize=4, rebalanceResultSize=0, rebalanceResultSet=[]",
    "java.lang.IllegalStateException: no\n\tat here",
    "#Colour  #Taste\nred sweet",
    "ConsumeType: CONSUME_ACTIVELY\nMessageModel: BROADCASTING",
    "#Topic #Broker Name #QID #Broker Offset #Consumer Offset #Client IP #Diff #Inflight#LastTime\nT b 0 9 9 10.0.0.1 -5 0 N/A\nT",
    "#Broker Name #QID #Min Offset #Max Offset #Last Updated\nb 0 0 9 N/A\nb",
    "#ClusterName #BrokerName #BrokerAddrs #ReadQueue #WriteQueue #Perm\nc",
    "#ClientId #ClientAddr #Language #Version\nc",
    "#Topic #SubExpression\n((",
    "#Group #Count #Version #Type #Model #TPS #Diff Total\ng",
    "#Topic #Broker Name #QID #Broker Offset #Consumer Offset #Client IP #Diff #LastTime\nT b 3 9 9 10.0.0.1 0 N/A\nU b 3 9 9 10.0.0.2 0 N/A\n\n10.0.0.2@1\n10.0.0.2@2",
    r#"{"topic":"T","queueStatInfoList":[{"brokerName":"b","queueId":0,"brokerOffset":1,"consumerOffset":2,"clientInfo":"c9"}]}"#,
    r#"{"queueStatInfoList":[{}]}"#,
    r#"{"topic":"T","queueStatInfoList":[{}]}"#,
    r#"{"a":"#,
    r#"{"a" 1}"#,
    r#"{"a":1 2}"#,
    r#"[{} 1]"#,
    r#"{"a":?}"#,
    r#"{"a":-}"#,
    r#"{"a":1e}"#,
    r#"{"a":"\q"}"#,
    r#"{"a":"\u00g0"}"#,
    r#"{"a":1}/x"#,
    r#"{/ "a":1}"#,
    r#"{?:1}"#,
    r#"{"colour":1,"taste":2}"#,
    "{}",
    r#"{"status":0,"data":null,"errMsg":null}"#,
    r#"{"status":-1,"data":null,"errMsg":"CODE: 17"}"#,
    r#"{"schema":"else/1"}"#,
    r#"{"schema":"evenkeel.snapshot/9"}"#,
    r#"{"schema":"evenkeel.snapshot/1","topics":7}"#,
    r#"{"schema":"evenkeel.snapshot/1","topics":[{"topic":"T","brokers":[{"broker":"b","readQueues":-1}]}],"consumers":[]}"#,
    r#"{"queueDatas":[{}],"brokerDatas":[]}"#,
    r#"{"connectionSet":[{}]}"#,
    r#"{"result":{"":[]}}"#,
    r#"{"result":{"c":[{}]}}"#,
];

/// Everything that is wrong with these texts, and with those that are too long.
fn problems(language: Language) -> Vec<Problem> {
    let read = |text: &str| parse_in(text, language);
    let mut all: Vec<Problem> = WRONG.iter().flat_map(|text| read(text).problems).collect();
    all.extend(read(&format!("[\"{}\"]", "c".repeat(2_000))).problems);
    all.extend(read(&"c ".repeat(MAX_BYTES / 2 + 1)).problems);
    all.extend(read(&"c\n".repeat(MAX_LINES + 1)).problems);
    all.extend(read(&"? ?\n".repeat(MAX_PROBLEMS + 1)).problems.pop());
    for version in VERSIONS {
        let parts =
            ["consumerProgress", "topicStatus", "consumerProgress-all"].map(|name| text(version, name));
        all.extend(parts.iter().flat_map(|part| read(part).problems));
    }
    all.extend(read("group: a").merge(read("group: b")).problems);
    all
}

/// What a reader of Chinese could not read, or would read with other numbers. What stands in a line is shown as it is.
fn untranslated(english: &[Problem], chinese: &[Problem]) -> Vec<String> {
    let texts = |problem: &Problem| {
        let own = (problem.line == 0).then(|| problem.text.clone());
        own.into_iter().chain([problem.expected.clone()]).collect::<Vec<_>>()
    };
    translations::untranslated(english.iter().flat_map(texts).zip(chinese.iter().flat_map(texts)))
}

#[test]
fn every_problem_is_said_in_both_languages() {
    for wrong in WRONG {
        assert!(!parse_in(wrong, Language::English).problems.is_empty(), "{wrong}");
    }
    let (english, chinese) = (problems(Language::English), problems(Language::Chinese));
    assert_eq!(untranslated(&english, &chinese), Vec::<String>::new());
    let place = |problem: &Problem| (problem.paste, problem.line, problem.lines);
    assert_eq!(english.iter().map(place).collect::<Vec<_>>(), chinese.iter().map(place).collect::<Vec<_>>());
}

#[test]
fn control_a_text_without_translation_is_noticed() {
    let (english, mut chinese) = (problems(Language::English), problems(Language::Chinese));
    chinese[0].expected.clone_from(&english[0].expected);
    assert_eq!(untranslated(&english, &chinese).len(), 1);
}

#[test]
fn nothing_but_problems_depends_on_the_language() {
    let told = |language| {
        let parsed = parse_in("orders: b=4\n? ?\nc1", language).merge(parse_in("c2\n? ?", Language::English));
        let Parsed { kinds, snapshot, lines, problems, .. } = parsed;
        (problems, (kinds, snapshot, lines))
    };
    let (english, chinese) = (told(Language::English), told(Language::Chinese));
    assert_eq!(english.1, chinese.1);
    assert!(
        chinese.0.iter().all(|problem| is_chinese(&problem.expected)),
        "the first one's language goes on"
    );
    assert!(english.0.iter().all(|problem| !is_chinese(&problem.expected)));
}
