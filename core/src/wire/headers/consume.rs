//! Headers of what a consumer asks of name servers and brokers, and of the answers.

use crate::model::{BrokerName, ClientId, Group, Topic};
use crate::wire::fields::headers;
use alloc::string::String;

headers! {
    /// 105.
    "GetRouteInfoRequestHeader" GetRouteInfo {
        /// The topic.
        topic: Topic = "topic",
        /// Whether the answer must be standard JSON whatever our version is.
        accept_standard_json_only: Option<bool> = "acceptStandardJsonOnly",
    }

    /// 35. One of the groups is set.
    "UnregisterClientRequestHeader" UnregisterClient {
        /// Who leaves.
        client: ClientId = "clientID",
        /// A producer group.
        producer_group: Option<Group> = "producerGroup",
        /// A consumer group.
        consumer_group: Option<Group> = "consumerGroup",
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 35: nothing.
    "UnregisterClientResponseHeader" UnregisterClientResponse {}

    /// 34, in 5.x only: nothing but a broker's name.
    "HeartbeatRequestHeader" HeartbeatHeader {
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 41 in 5.x: nothing but a broker's name.
    "LockBatchMqRequestHeader" LockBatch {
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 42 in 5.x: nothing but a broker's name.
    "UnlockBatchMqRequestHeader" UnlockBatch {
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 38.
    "GetConsumerListByGroupRequestHeader" GetConsumerList {
        /// The group.
        group: Group = "consumerGroup",
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 14.
    "QueryConsumerOffsetRequestHeader" QueryConsumerOffset {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Whether "not found" may be answered as 0.
        set_zero_if_not_found: Option<bool> = "setZeroIfNotFound",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 14.
    "QueryConsumerOffsetResponseHeader" QueryConsumerOffsetResponse {
        /// The committed offset.
        offset: i64 = "offset",
    }

    /// 15.
    "UpdateConsumerOffsetRequestHeader" UpdateConsumerOffset {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Everything below it is done.
        commit_offset: i64 = "commitOffset",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// 30.
    "GetMaxOffsetRequestHeader" GetMaxOffset {
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// 5.x: whether only what all replicas have counts.
        committed: bool = "committed" or true,
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 30.
    "GetMaxOffsetResponseHeader" GetMaxOffsetResponse {
        /// One past the last stored offset.
        offset: i64 = "offset",
    }

    /// 31.
    "GetMinOffsetRequestHeader" GetMinOffset {
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 31.
    "GetMinOffsetResponseHeader" GetMinOffsetResponse {
        /// The first stored offset.
        offset: i64 = "offset",
    }

    /// 29.
    "SearchOffsetRequestHeader" SearchOffset {
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Unix time in ms.
        timestamp: i64 = "timestamp",
        /// 5.x: `LOWER` or `UPPER`, which of several messages of the same time.
        boundary: Option<String> = "boundaryType",
        /// 5.5: a light topic.
        lite_topic: Option<String> = "liteTopic",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 29.
    "SearchOffsetResponseHeader" SearchOffsetResponse {
        /// The first offset stored at or after the time.
        offset: i64 = "offset",
    }

    /// 32.
    "GetEarliestMsgStoretimeRequestHeader" GetEarliestStoreTime {
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 32.
    "GetEarliestMsgStoretimeResponseHeader" GetEarliestStoreTimeResponse {
        /// Unix time in ms.
        timestamp: i64 = "timestamp",
    }

    /// 11 and 361.
    "PullMessageRequestHeader" PullMessage {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// First offset wanted.
        queue_offset: i64 = "queueOffset",
        /// Most messages wanted.
        max_messages: i32 = "maxMsgNums",
        /// 1 commit, 2 suspend, 4 subscription given, 8 class filter, 16 lite pull.
        sys_flag: i32 = "sysFlag",
        /// Committed if the flag says so.
        commit_offset: i64 = "commitOffset",
        /// How long the broker may hold the request.
        suspend_ms: i64 = "suspendTimeoutMillis",
        /// The expression, if the flag says so.
        subscription: Option<String> = "subscription",
        /// Version of the subscription.
        subscription_version: i64 = "subVersion",
        /// `TAG` or `SQL92`.
        expression_type: Option<String> = "expressionType",
        /// 5.x: most bytes wanted.
        max_bytes: Option<i32> = "maxMsgBytes",
        /// 5.x: -1 a client library, 0 and above a proxy.
        request_source: Option<i32> = "requestSource",
        /// 5.x: a client behind a proxy (spelled like this).
        proxy_forward_client: Option<String> = "proxyFrowardClientId",
        /// 5.5: a light topic.
        lite_topic: Option<String> = "liteTopic",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 11 and 361.
    "PullMessageResponseHeader" PullMessageResponse {
        /// Broker id to use next.
        suggested_broker: i64 = "suggestWhichBrokerId",
        /// Where to pull next.
        next_offset: i64 = "nextBeginOffset",
        /// First offset stored.
        min_offset: i64 = "minOffset",
        /// One past the last offset stored.
        max_offset: i64 = "maxOffset",
        /// 5.x: to be added to the offsets of the messages.
        offset_delta: Option<i64> = "offsetDelta",
        /// 5.x.
        topic_sys_flag: Option<i32> = "topicSysFlag",
        /// 5.x.
        group_sys_flag: Option<i32> = "groupSysFlag",
        /// 5.x, with code 16: 1 broker, 2 group, 3 topic, 4 broadcast, 5 subscription.
        forbidden_type: Option<i32> = "forbiddenType",
    }

    /// 36.
    "ConsumerSendMsgBackRequestHeader" SendMessageBack {
        /// Position of the message in the broker's commit log.
        commit_log_offset: i64 = "offset",
        /// The group.
        group: Group = "group",
        /// Below 0 dead letter, 0 the broker decides, above 0 that level.
        delay_level: i32 = "delayLevel",
        /// The message's id.
        origin_msg_id: Option<String> = "originMsgId",
        /// The topic as the client sees it.
        origin_topic: Option<Topic> = "originTopic",
        /// Unit mode.
        unit_mode: bool = "unitMode" or false,
        /// Tries until the dead-letter topic.
        max_reconsume_times: Option<i32> = "maxReconsumeTimes",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// 200050.
    "PopMessageRequestHeader" PopMessage {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Number of the queue, -1 for any.
        queue_id: i32 = "queueId",
        /// Most messages wanted.
        max_messages: i32 = "maxMsgNums",
        /// How long they are ours, in ms.
        invisible_ms: i64 = "invisibleTime",
        /// How long the broker may hold the request, in ms.
        poll_ms: i64 = "pollTime",
        /// Unix time in ms at which the request was made.
        born: i64 = "bornTime",
        /// Where a new group starts: 0 min, 1 max.
        init_mode: i32 = "initMode",
        /// `TAG` or `SQL92`.
        expression_type: Option<String> = "expType",
        /// The expression.
        expression: Option<String> = "exp",
        /// Whether in order.
        order: bool = "order" or false,
        /// Names a repeated try.
        attempt: Option<String> = "attemptId",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 200050.
    "PopMessageResponseHeader" PopMessageResponse {
        /// Unix time in ms.
        pop_time: i64 = "popTime",
        /// In ms.
        invisible_ms: i64 = "invisibleTime",
        /// Revive queue.
        revive_queue: i32 = "reviveQid",
        /// Messages left.
        rest: i64 = "restNum",
        /// First offsets by queue.
        start_offsets: Option<String> = "startOffsetInfo",
        /// Offsets by queue.
        message_offsets: Option<String> = "msgOffsetInfo",
        /// Tries by queue.
        order_counts: Option<String> = "orderCountInfo",
    }

    /// 200051.
    "AckMessageRequestHeader" AckMessage {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic the message is really in.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// The check point of the pop.
        extra_info: String = "extraInfo",
        /// The message's offset.
        offset: i64 = "offset",
        /// 5.5: a light topic.
        lite_topic: Option<String> = "liteTopic",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// 200053.
    "ChangeInvisibleTimeRequestHeader" ChangeInvisibleTime {
        /// The group.
        group: Group = "consumerGroup",
        /// The topic the message is really in.
        topic: Topic = "topic",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// The check point of the pop.
        extra_info: String = "extraInfo",
        /// The message's offset.
        offset: i64 = "offset",
        /// From now, in ms.
        invisible_ms: i64 = "invisibleTime",
        /// 5.5: a light topic.
        lite_topic: Option<String> = "liteTopic",
        /// 5.5.
        suspend: bool = "suspend" or false,
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// Answer to 200053.
    "ChangeInvisibleTimeResponseHeader" ChangeInvisibleTimeResponse {
        /// Unix time in ms.
        pop_time: i64 = "popTime",
        /// In ms.
        invisible_ms: i64 = "invisibleTime",
        /// Revive queue.
        revive_queue: i32 = "reviveQid",
    }
}
