//! For each Java class of a body its fields, their types and Java's defaults (5.x). Read by [`super::shapes`].

use super::kinds::{ConsumeType, StartRule};
use crate::wire::peer::DirectVerdict;
use Shape::{Any, Bool, Class, Double, Enum, Int, List, Long, LongKeys, Map, Set, Table, Text};

/// A Java type, as far as JSON shows it.
pub(super) enum Shape {
    Any,
    Bool,
    Int,
    Long,
    /// A number that must not be null.
    Counter,
    Double,
    Text,
    /// Names in the order of their ordinals.
    Enum(&'static [&'static str]),
    List(&'static Shape),
    Set(&'static Shape),
    /// Keyed by texts.
    Map(&'static Shape),
    /// Keyed by 64-bit numbers.
    LongKeys(&'static Shape),
    /// Keyed by queues.
    Table(&'static Shape),
    Class(&'static [Field]),
}

/// A field: its Java name, its type, and its value if the text has none (as JSON).
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) shape: Shape,
    pub(super) absent: &'static str,
}

const fn field(name: &'static str, shape: Shape, absent: &'static str) -> Field {
    Field { name, shape, absent }
}

const NAMES: Shape = Text;
const LONGS: Shape = Long;
const COUNTERS: Shape = Shape::Counter;
const INTS: Shape = Int;

pub(super) const QUEUE: Shape =
    Class(&[field("brokerName", Text, "null"), field("queueId", Int, "0"), field("topic", Text, "null")]);

const QUEUE_AND_OFFSET: Shape = Class(&[
    field("brokerName", Text, "null"),
    field("offset", Long, "0"),
    field("queueId", Int, "0"),
    field("topic", Text, "null"),
]);

const BROKER: Shape = Class(&[
    field("brokerAddrs", LongKeys(&NAMES), "null"),
    field("brokerName", Text, "null"),
    field("cluster", Text, "null"),
    field("enableActingMaster", Bool, "false"),
    field("zoneName", Text, "null"),
]);

const QUEUE_COUNTS: Shape = Class(&[
    field("brokerName", Text, "null"),
    field("perm", Int, "0"),
    field("readQueueNums", Int, "0"),
    field("topicSysFlag", Int, "0"),
    field("writeQueueNums", Int, "0"),
]);

const LIST_OF_NAMES: Shape = List(&NAMES);
const SET_OF_NAMES: Shape = Set(&NAMES);
const ANYTHING: Shape = Any;

const ROUTE: &[Field] = &[
    field("brokerDatas", List(&BROKER), "[]"),
    field("filterServerTable", Map(&LIST_OF_NAMES), "{}"),
    field("orderTopicConf", Text, "null"),
    field("queueDatas", List(&QUEUE_COUNTS), "[]"),
    field("topicQueueMappingByBroker", Map(&ANYTHING), "null"),
];

const CLUSTER: &[Field] =
    &[field("brokerAddrTable", Map(&BROKER), "null"), field("clusterAddrTable", Map(&SET_OF_NAMES), "null")];

const SUBSCRIPTION: Shape = Class(&[
    field("classFilterMode", Bool, "false"),
    field("codeSet", Set(&INTS), "[]"),
    field("expressionType", Text, r#""TAG""#),
    field("filterClassSource", Text, "null"),
    field("subString", Text, "null"),
    field("subVersion", Long, "0"),
    field("tagsSet", Set(&NAMES), "[]"),
    field("topic", Text, "null"),
]);

const CONSUME_TYPE: Shape = Enum(ConsumeType::NAMES);
const MESSAGE_MODEL: Shape = Enum(&["BROADCASTING", "CLUSTERING"]);
const CONSUME_FROM: Shape = Enum(StartRule::NAMES);
const REQUEST_MODE: Shape = Enum(&["PULL", "POP"]);
const CONSUME_RESULT: Shape = Enum(DirectVerdict::NAMES);
const LANGUAGE: Shape = Enum(&[
    "JAVA", "CPP", "DOTNET", "PYTHON", "DELPHI", "ERLANG", "RUBY", "OTHER", "HTTP", "GO", "PHP", "OMS",
    "RUST", "NODE_JS",
]);

const CONSUMER: Shape = Class(&[
    field("consumeFromWhere", CONSUME_FROM, "null"),
    field("consumeType", CONSUME_TYPE, "null"),
    field("groupName", Text, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("subscriptionDataSet", Set(&SUBSCRIPTION), "[]"),
    field("unitMode", Bool, "false"),
]);

const PRODUCER: Shape = Class(&[field("groupName", Text, "null")]);

const HEARTBEAT: &[Field] = &[
    field("clientID", Text, "null"),
    field("consumerDataSet", Set(&CONSUMER), "[]"),
    field("heartbeatFingerprint", Int, "0"),
    // Java's getter is called `isWithoutSub`; the text has the name without "is".
    field("isWithoutSub", Bool, "false"),
    field("producerDataSet", Set(&PRODUCER), "[]"),
];

const MEMBERS: &[Field] = &[field("consumerIdList", List(&NAMES), "null")];

const CONNECTION: Shape = Class(&[
    field("clientAddr", Text, "null"),
    field("clientId", Text, "null"),
    field("language", LANGUAGE, "null"),
    field("version", Int, "0"),
]);

const CONSUMER_CONNECTION: &[Field] = &[
    field("connectionSet", Set(&CONNECTION), "[]"),
    field("consumeFromWhere", CONSUME_FROM, "null"),
    field("consumeType", CONSUME_TYPE, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("subscriptionTable", Map(&SUBSCRIPTION), "{}"),
];

const PROCESS_QUEUE: Shape = Class(&[
    field("cachedMsgCount", Int, "0"),
    field("cachedMsgMaxOffset", Long, "0"),
    field("cachedMsgMinOffset", Long, "0"),
    field("cachedMsgSizeInMiB", Int, "0"),
    field("commitOffset", Long, "0"),
    field("droped", Bool, "false"),
    field("lastConsumeTimestamp", Long, "0"),
    field("lastLockTimestamp", Long, "0"),
    field("lastPullTimestamp", Long, "0"),
    field("locked", Bool, "false"),
    field("transactionMsgCount", Int, "0"),
    field("transactionMsgMaxOffset", Long, "0"),
    field("transactionMsgMinOffset", Long, "0"),
    field("tryUnlockTimes", Long, "0"),
]);

const POP_QUEUE: Shape = Class(&[
    field("droped", Bool, "false"),
    field("lastPopTimestamp", Long, "0"),
    field("waitAckCount", Int, "0"),
]);

const CONSUME_STATUS: Shape = Class(&[
    field("consumeFailedMsgs", Long, "0"),
    field("consumeFailedTPS", Double, "0.0"),
    field("consumeOKTPS", Double, "0.0"),
    field("consumeRT", Double, "0.0"),
    field("pullRT", Double, "0.0"),
    field("pullTPS", Double, "0.0"),
]);

const RUNNING_INFO: &[Field] = &[
    field("jstack", Text, "null"),
    field("mqPopTable", Table(&POP_QUEUE), "{}"),
    field("mqTable", Table(&PROCESS_QUEUE), "{}"),
    field("properties", Map(&NAMES), "{}"),
    field("statusTable", Map(&CONSUME_STATUS), "{}"),
    field("subscriptionSet", Set(&SUBSCRIPTION), "[]"),
    field("userConsumerInfo", Map(&NAMES), "{}"),
];

const CONSUMED_DIRECTLY: &[Field] = &[
    field("autoCommit", Bool, "true"),
    field("consumeResult", CONSUME_RESULT, "null"),
    field("order", Bool, "false"),
    field("remark", Text, "null"),
    field("spentTimeMills", Long, "0"),
];

const PROGRESS: Shape = Class(&[
    field("brokerOffset", Long, "0"),
    field("consumerOffset", Long, "0"),
    field("lastTimestamp", Long, "0"),
    field("pullOffset", Long, "0"),
]);

const CONSUME_STATS: &[Field] =
    &[field("consumeTps", Double, "0.0"), field("offsetTable", Table(&PROGRESS), "{}")];

const RANGE: Shape = Class(&[
    field("lastUpdateTimestamp", Long, "0"),
    field("maxOffset", Long, "0"),
    field("minOffset", Long, "0"),
]);

const TOPIC_STATS: &[Field] =
    &[field("offsetTable", Table(&RANGE), "{}"), field("topicPutTps", Double, "0.0")];

const OFFSETS: Shape = Table(&LONGS);

const CONSUMER_STATUS: &[Field] =
    &[field("consumerTable", Map(&OFFSETS), "{}"), field("messageQueueTable", Table(&LONGS), "{}")];

const QUEUE_SET: &[Field] = &[
    field("clientId", Text, "null"),
    field("consumerGroup", Text, "null"),
    field("mqSet", Set(&QUEUE), "[]"),
    field("onlyThisBroker", Bool, "false"),
];

const LOCKED: &[Field] = &[field("lockOKMQSet", Set(&QUEUE), "[]")];

const CHECK: &[Field] = &[
    field("clientId", Text, "null"),
    field("group", Text, "null"),
    field("namespace", Text, "null"),
    field("subscriptionData", SUBSCRIPTION, "null"),
];

const ASSIGNMENT_REQUEST: &[Field] = &[
    field("clientId", Text, "null"),
    field("consumerGroup", Text, "null"),
    field("messageModel", MESSAGE_MODEL, "null"),
    field("strategyName", Text, "null"),
    field("topic", Text, "null"),
];

const ASSIGNMENT: Shape = Class(&[
    field("attachments", Map(&NAMES), "null"),
    field("messageQueue", QUEUE, "null"),
    field("mode", REQUEST_MODE, "null"),
]);

/// Java class names and their fields.
pub(super) const CLASSES: &[(&str, &[Field])] = &[
    ("CheckClientRequestBody", CHECK),
    ("ClusterInfo", CLUSTER),
    ("ConsumeMessageDirectlyResult", CONSUMED_DIRECTLY),
    ("ConsumeStats", CONSUME_STATS),
    ("ConsumerConnection", CONSUMER_CONNECTION),
    ("ConsumerRunningInfo", RUNNING_INFO),
    ("GetConsumerListByGroupResponseBody", MEMBERS),
    ("GetConsumerStatusBody", CONSUMER_STATUS),
    ("HeartbeatData", HEARTBEAT),
    ("LockBatchRequestBody", QUEUE_SET),
    ("LockBatchResponseBody", LOCKED),
    ("OffsetSerializeWrapper", &[field("offsetTable", Table(&COUNTERS), "{}")]),
    ("QueryAssignmentRequestBody", ASSIGNMENT_REQUEST),
    ("QueryAssignmentResponseBody", &[field("messageQueueAssignments", Set(&ASSIGNMENT), "null")]),
    ("ResetOffsetBody", &[field("offsetTable", Table(&LONGS), "{}")]),
    ("ResetOffsetBodyForC", &[field("offsetTable", List(&QUEUE_AND_OFFSET), "null")]),
    ("TopicList", &[field("brokerAddr", Text, "null"), field("topicList", Set(&NAMES), "[]")]),
    ("TopicRouteData", ROUTE),
    ("TopicStatsTable", TOPIC_STATS),
    ("UnlockBatchRequestBody", QUEUE_SET),
];
