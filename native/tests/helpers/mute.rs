//! Members that brokers list and that never answer.
#![allow(dead_code, reason = "each test uses its part")]

use evenkeel_core::wire::command::{Command, HeaderEncoding};
use evenkeel_core::wire::request::{
    ConsumeFrom, ConsumerData, Heartbeat, MessageModel, Request, SubscriptionData,
};
use evenkeel_core::wire::subscription::Subscription;
use std::net::SocketAddr;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

/// A connection that announced itself as a member once and reads nothing since: a process that hangs. It is gone when
/// this is dropped.
pub(crate) struct Mute(#[allow(dead_code, reason = "held open")] TcpStream);

impl Mute {
    /// Joins the group on one broker, with these subscriptions (topic, expression) besides the retry topic.
    pub(crate) async fn join(broker: SocketAddr, client: &str, group: &str, topics: &[(&str, &str)]) -> Self {
        let retry = format!("%RETRY%{group}");
        let subscribed = topics.iter().copied().chain([(retry.as_str(), "*")]);
        let subscriptions = subscribed.map(|(topic, expression)| SubscriptionData {
            subscription: Subscription::tags(topic.into(), Some(expression)).unwrap(),
            version: 1,
            class_filter_mode: false,
        });
        let heartbeat = Heartbeat {
            client: client.into(),
            consumers: vec![ConsumerData {
                group: group.into(),
                model: MessageModel::Clustering,
                start_from: ConsumeFrom::First,
                subscriptions: subscriptions.collect(),
                unit_mode: false,
            }],
            producers: vec![],
        };
        let command = Command { opaque: Some(1), ..Request::Heartbeat(heartbeat).to_command() };
        let mut stream = TcpStream::connect(broker).await.unwrap();
        stream.write_all(&command.encode(HeaderEncoding::Json).unwrap()).await.unwrap();
        // The answer says that the broker has it.
        let mut length = [0; 4];
        stream.read_exact(&mut length).await.unwrap();
        Self(stream)
    }
}
