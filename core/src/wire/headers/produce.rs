//! Headers of sends, and of looking for stored messages.

use crate::model::{BrokerName, Group, Topic};
use crate::wire::fields::headers;
use alloc::string::String;

headers! {
    /// 10: a send with names in words. [`SendMessage::from`] a [`SendMessageV2`] and back.
    "SendMessageRequestHeader" SendMessage {
        /// The producer's group.
        group: Group = "producerGroup",
        /// The topic.
        topic: Topic = "topic",
        /// Topic whose settings a new topic gets.
        default_topic: Topic = "defaultTopic",
        /// Queues that a new topic gets.
        default_queues: i32 = "defaultTopicQueueNums",
        /// Number of the queue; negative lets the broker choose.
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
        unit_mode: Option<bool> = "unitMode",
        /// Tries until the dead-letter topic.
        max_reconsume_times: Option<i32> = "maxReconsumeTimes",
        /// Whether the body is a batch.
        batch: Option<bool> = "batch",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }

    /// 310 and 320: a send with one-letter names.
    "SendMessageRequestHeaderV2" SendMessageV2 {
        /// The producer's group.
        group: Group = "a",
        /// The topic.
        topic: Topic = "b",
        /// Topic whose settings a new topic gets.
        default_topic: Topic = "c",
        /// Queues that a new topic gets.
        default_queues: i32 = "d",
        /// Number of the queue; negative lets the broker choose.
        queue_id: i32 = "e",
        /// Compression and transaction bits of the body.
        sys_flag: i32 = "f",
        /// Unix time in ms at which the message was made.
        born: i64 = "g",
        /// The user's flag.
        flag: i32 = "h",
        /// Encoded properties.
        properties: Option<String> = "i",
        /// How often it was consumed already.
        reconsume_times: Option<i32> = "j",
        /// Unit mode.
        unit_mode: Option<bool> = "k",
        /// Tries until the dead-letter topic.
        max_reconsume_times: Option<i32> = "l",
        /// Whether the body is a batch.
        batch: Option<bool> = "m",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "n",
    }

    /// Answer to 10, 310 and 320.
    "SendMessageResponseHeader" SendMessageResponse {
        /// Offset id of the message; several, with commas, for a batch.
        msg_id: String = "msgId",
        /// Number of the queue chosen.
        queue_id: i32 = "queueId",
        /// Offset of the (first) message in it.
        queue_offset: i64 = "queueOffset",
        /// For transactions.
        transaction_id: Option<String> = "transactionId",
        /// 5.x: id of the batch.
        batch_id: Option<String> = "batchUniqId",
        /// 5.x: for recalling a delayed message.
        recall_handle: Option<String> = "recallHandle",
    }

    /// 33.
    "ViewMessageRequestHeader" ViewMessage {
        /// Position in the commit log.
        offset: i64 = "offset",
        /// The topic.
        topic: Option<Topic> = "topic",
    }

    /// 12.
    "QueryMessageRequestHeader" QueryMessage {
        /// The topic.
        topic: Topic = "topic",
        /// The key looked for.
        key: String = "key",
        /// Most messages wanted.
        max_messages: i32 = "maxNum",
        /// From, Unix ms.
        begin: i64 = "beginTimestamp",
        /// To, Unix ms.
        end: i64 = "endTimestamp",
        /// 5.5: which index.
        index_type: Option<String> = "indexType",
        /// 5.5: where the last query ended.
        last_key: Option<String> = "lastKey",
        /// Logical name of the broker.
        broker: Option<BrokerName> = "bname",
    }
}

macro_rules! same_fields {
    ($($from:ident => $to:ident),*) => {$(
        impl From<$from> for $to {
            fn from(send: $from) -> Self {
                Self {
                    group: send.group,
                    topic: send.topic,
                    default_topic: send.default_topic,
                    default_queues: send.default_queues,
                    queue_id: send.queue_id,
                    sys_flag: send.sys_flag,
                    born: send.born,
                    flag: send.flag,
                    properties: send.properties,
                    reconsume_times: send.reconsume_times,
                    unit_mode: send.unit_mode,
                    max_reconsume_times: send.max_reconsume_times,
                    batch: send.batch,
                    broker: send.broker,
                }
            }
        }
    )*};
}
same_fields!(SendMessage => SendMessageV2, SendMessageV2 => SendMessage);
