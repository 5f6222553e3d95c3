//! Headers of what brokers ask of clients.

use crate::model::{BrokerName, ClientId, Group, Topic};
use crate::wire::fields::headers;
use alloc::string::String;

headers! {
    /// 40.
    "NotifyConsumerIdsChangedRequestHeader" NotifyConsumerIdsChanged {
        /// The group whose members changed.
        group: Group = "consumerGroup",
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 220.
    "ResetOffsetRequestHeader" ResetOffset {
        /// The topic.
        topic: Topic = "topic",
        /// The group.
        group: Group = "group",
        /// 5.x: one queue, or all if -1.
        queue_id: i32 = "queueId" or -1,
        /// 5.x: the offset itself.
        offset: Option<i64> = "offset",
        /// Unix ms that the offsets belong to; -1 the newest.
        timestamp: i64 = "timestamp" or 0,
        /// Whether offsets may go back.
        force: bool = "isForce" or false,
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 221.
    "GetConsumerStatusRequestHeader" GetConsumerStatus {
        /// The topic; empty for all, and binary headers cannot tell an empty text from none.
        topic: Option<Topic> = "topic",
        /// The group.
        group: Group = "group",
        /// The client that is meant.
        client_address: Option<String> = "clientAddr",
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 307.
    "GetConsumerRunningInfoRequestHeader" GetConsumerRunningInfo {
        /// The group.
        group: Group = "consumerGroup",
        /// The client that is meant.
        client: ClientId = "clientId",
        /// Whether thread stacks are wanted (Java).
        jstack: bool = "jstackEnable" or false,
        /// A broker's name, for brokers that forward.
        broker: Option<BrokerName> = "bname",
    }

    /// 309.
    "ConsumeMessageDirectlyResultRequestHeader" ConsumeMessageDirectly {
        /// The group.
        group: Group = "consumerGroup",
        /// The client that is meant.
        client: Option<ClientId> = "clientId",
        /// Id of the message.
        msg_id: Option<String> = "msgId",
        /// Broker of the message; its name is written out here.
        broker: Option<BrokerName> = "brokerName",
        /// The topic.
        topic: Option<Topic> = "topic",
        /// 5.x.
        topic_sys_flag: Option<i32> = "topicSysFlag",
        /// 5.x.
        group_sys_flag: Option<i32> = "groupSysFlag",
    }

    /// 39.
    "CheckTransactionStateRequestHeader" CheckTransactionState {
        /// Position in the table of half messages.
        table_offset: i64 = "tranStateTableOffset",
        /// Position in the commit log.
        commit_log_offset: i64 = "commitLogOffset",
        /// Id of the message.
        msg_id: Option<String> = "msgId",
        /// Id of the transaction.
        transaction_id: Option<String> = "transactionId",
        /// Offset id of the message.
        offset_msg_id: Option<String> = "offsetMsgId",
        /// 5.x: the topic.
        topic: Option<Topic> = "topic",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// 326.
    "ReplyMessageRequestHeader" ReplyMessage {
        /// The producer's group.
        group: Group = "producerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Topic whose settings a new topic gets.
        default_topic: Topic = "defaultTopic",
        /// Queues that a new topic gets.
        default_queues: i32 = "defaultTopicQueueNums",
        /// Number of the queue.
        queue_id: i32 = "queueId",
        /// Compression and transaction bits of the body.
        sys_flag: i32 = "sysFlag",
        /// Unix time in ms at which the message was made.
        born: i64 = "bornTimestamp",
        /// The user's flag.
        flag: i32 = "flag",
        /// Encoded properties.
        properties: Option<String> = "properties",
        /// How often it was consumed already.
        reconsume_times: Option<i32> = "reconsumeTimes",
        /// Unit mode.
        unit_mode: bool = "unitMode" or false,
        /// Who made it.
        born_host: String = "bornHost",
        /// Who stored it.
        store_host: String = "storeHost",
        /// When, in Unix ms.
        stored: i64 = "storeTimestamp" or 0,
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }
}
