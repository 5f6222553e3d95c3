//! Headers of administration: topics, brokers, settings, statistics.

use crate::model::{BrokerName, ClientId, Group, Topic};
use crate::wire::fields::headers;
use alloc::string::String;

headers! {
    /// 17.
    "CreateTopicRequestHeader" CreateTopic {
        /// The topic.
        topic: Topic = "topic",
        /// Topic whose settings it gets.
        default_topic: Topic = "defaultTopic",
        /// Queues to read.
        read_queues: i32 = "readQueueNums",
        /// Queues to write.
        write_queues: i32 = "writeQueueNums",
        /// 4 read, 2 write.
        perm: i32 = "perm",
        /// `SINGLE_TAG` or `MULTI_TAG`.
        filter_type: String = "topicFilterType",
        /// 1 unit, 2 has unit subscription.
        sys_flag: Option<i32> = "topicSysFlag",
        /// Whether its queue numbers are fixed by the order configuration.
        order: bool = "order" or false,
        /// 5.x: `+name=value,-name`.
        attributes: Option<String> = "attributes",
        /// 5.x.
        force: Option<bool> = "force",
    }

    /// 215.
    "DeleteTopicRequestHeader" DeleteTopic {
        /// The topic.
        topic: Topic = "topic",
    }

    /// 103.
    "RegisterBrokerRequestHeader" RegisterBroker {
        /// The broker.
        broker: BrokerName = "brokerName",
        /// Its address.
        address: String = "brokerAddr",
        /// Its cluster.
        cluster: String = "clusterName",
        /// Its address for replication.
        ha_address: String = "haServerAddr",
        /// 0 the master.
        broker_id: i64 = "brokerId",
        /// 5.x: after how long without registration it is dropped.
        heartbeat_timeout_ms: Option<i64> = "heartbeatTimeoutMillis",
        /// 5.x.
        acting_master: Option<bool> = "enableActingMaster",
        /// Whether the body is a zlib stream.
        compressed: bool = "compressed" or false,
        /// CRC-32 of the body without its top bit; 0 if not checked.
        body_crc: i32 = "bodyCrc32" or 0,
    }

    /// Answer to 103.
    "RegisterBrokerResponseHeader" RegisterBrokerResponse {
        /// The master's address for replication.
        ha_address: Option<String> = "haServerAddr",
        /// The master's address, for a slave.
        master_address: Option<String> = "masterAddr",
    }

    /// 104.
    "UnRegisterBrokerRequestHeader" UnregisterBroker {
        /// The broker.
        broker: BrokerName = "brokerName",
        /// Its address.
        address: String = "brokerAddr",
        /// Its cluster.
        cluster: String = "clusterName",
        /// 0 the master.
        broker_id: i64 = "brokerId",
    }

    /// 100.
    "PutKVConfigRequestHeader" PutKvConfig {
        /// The table.
        namespace: String = "namespace",
        /// The key.
        key: String = "key",
        /// The value.
        value: String = "value",
    }

    /// 101.
    "GetKVConfigRequestHeader" GetKvConfig {
        /// The table.
        namespace: String = "namespace",
        /// The key.
        key: String = "key",
    }

    /// Answer to 101.
    "GetKVConfigResponseHeader" GetKvConfigResponse {
        /// The value.
        value: Option<String> = "value",
    }

    /// 102.
    "DeleteKVConfigRequestHeader" DeleteKvConfig {
        /// The table.
        namespace: String = "namespace",
        /// The key.
        key: String = "key",
    }

    /// 208.
    "GetConsumeStatsRequestHeader" GetConsumeStats {
        /// The group.
        group: Group = "consumerGroup",
        /// One topic, or all of the group.
        topic: Option<Topic> = "topic",
    }

    /// 201.
    "GetAllSubscriptionGroupRequestHeader" GetAllGroupConfigs {
        /// 5.x: how many groups to skip, in the order of their names.
        skip: i32 = "groupSeq" or 0,
        /// 5.x: the table's version as JSON; nothing is skipped in another one.
        version: Option<String> = "dataVersion",
        /// 5.x: most groups in the answer.
        most: Option<i32> = "maxGroupNum",
    }

    /// Answer to 201.
    "GetAllSubscriptionGroupResponseHeader" GetAllGroupConfigsResponse {
        /// 5.x: how many groups there are.
        total: Option<i32> = "totalGroupNum",
    }

    /// 202.
    "GetTopicStatsInfoRequestHeader" GetTopicStats {
        /// The topic.
        topic: Topic = "topic",
    }

    /// 203.
    "GetConsumerConnectionListRequestHeader" GetConsumerConnections {
        /// The group.
        group: Group = "consumerGroup",
    }

    /// 204.
    "GetProducerConnectionListRequestHeader" GetProducerConnections {
        /// The group.
        group: Group = "producerGroup",
    }

    /// 351.
    "GetTopicConfigRequestHeader" GetTopicConfig {
        /// The topic.
        topic: Topic = "topic",
    }

    /// 300.
    "QueryTopicConsumeByWhoRequestHeader" QueryTopicConsumers {
        /// The topic.
        topic: Topic = "topic",
    }

    /// 222 (to a broker).
    "InvokeBrokerToResetOffsetHeader" InvokeResetOffset {
        /// The topic.
        topic: Topic = "topic",
        /// The group.
        group: Group = "group",
        /// Unix ms that offsets go back to; -1 the newest.
        timestamp: i64 = "timestamp" or 0,
        /// Whether offsets may go back.
        force: bool = "isForce" or false,
        /// 5.x: one queue, or all if -1.
        queue_id: i32 = "queueId" or -1,
        /// 5.x: the offset itself.
        offset: Option<i64> = "offset",
    }

    /// 223 (to a broker).
    "InvokeBrokerToGetConsumerStatusHeader" InvokeConsumerStatus {
        /// The topic; empty for all.
        topic: Topic = "topic",
        /// The group.
        group: Group = "group",
        /// The client that is meant; all if empty.
        client: Option<ClientId> = "clientAddr",
    }
}
