//! The topics of one broker: what exists, with how many queues, and how it comes to exist.

use super::config::{Config, MOST_QUEUES, is_legal_name};
use super::request::{Handled, Header, Refusal, success};
use super::text::quoted;
use evenkeel_core::model::{DLQ_PREFIX, Topic};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use std::collections::BTreeMap;

/// The topic whose presence lets producers create others.
pub(crate) const AUTO_CREATE_TOPIC: &str = "TBW102";
/// Where messages wait for their delay.
pub(crate) const SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";

/// Permission bit: readable.
pub(crate) const PERM_READ: i32 = 4;
/// Permission bit: writable.
pub(crate) const PERM_WRITE: i32 = 2;
/// Permission bit: other topics may be made in its image.
pub(crate) const PERM_INHERIT: i32 = 1;

/// Queues and permissions of a topic on one broker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopicConfig {
    pub(crate) read: i32,
    pub(crate) write: i32,
    pub(crate) perm: i32,
    pub(crate) sys_flag: i32,
    pub(crate) order: bool,
}

impl TopicConfig {
    /// A readable and writable topic.
    pub(crate) fn new(queues: i32) -> Self {
        Self { read: queues, write: queues, perm: PERM_READ | PERM_WRITE, sys_flag: 0, order: false }
    }
}

/// All topics of one broker.
#[derive(Clone, Debug)]
pub(crate) struct Topics {
    topics: BTreeMap<Topic, TopicConfig>,
    most: usize,
}

impl Topics {
    /// The topics that the broker with this index starts with.
    pub(crate) fn new(config: &Config, broker: usize) -> Self {
        let mut topics = BTreeMap::new();
        if config.auto_create {
            let image = TopicConfig { perm: PERM_READ | PERM_WRITE | PERM_INHERIT, ..TopicConfig::new(8) };
            topics.insert(Topic::from(AUTO_CREATE_TOPIC), image);
        }
        let levels = i32::try_from(config.delay_levels.len()).unwrap_or(MOST_QUEUES);
        topics.insert(Topic::from(SCHEDULE_TOPIC), TopicConfig::new(levels.max(1)));
        for spec in config.topics.iter().filter(|spec| spec.is_on(broker)) {
            topics.insert(spec.name.clone(), TopicConfig::new(spec.queues.clamp(1, MOST_QUEUES)));
        }
        Self { topics, most: config.limits.topics }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Topic, &TopicConfig)> {
        self.topics.iter()
    }

    pub(crate) fn find(&self, topic: &Topic) -> Option<&TopicConfig> {
        self.topics.get(topic)
    }

    /// The topic, or the refusal that says it does not exist.
    pub(crate) fn existing(&self, topic: &Topic) -> Result<&TopicConfig, Refusal> {
        self.find(topic).ok_or_else(|| unknown(topic))
    }

    /// Makes or replaces a topic.
    pub(crate) fn put(&mut self, topic: Topic, config: TopicConfig) -> Result<(), Refusal> {
        if self.topics.len() >= self.most && !self.topics.contains_key(&topic) {
            return Err(Refusal::full("topics"));
        }
        self.topics.insert(topic, config);
        Ok(())
    }

    /// Sets the number of queues, making the topic if need be.
    pub(crate) fn resize(&mut self, topic: &Topic, queues: i32) -> Result<(), Refusal> {
        let queues = queues.clamp(1, MOST_QUEUES);
        let old = self.find(topic).cloned().unwrap_or_else(|| TopicConfig::new(queues));
        self.put(topic.clone(), TopicConfig { read: queues, write: queues, ..old })
    }

    pub(crate) fn remove(&mut self, topic: &Topic) {
        self.topics.remove(topic);
    }

    /// Makes the retry topic of a group, unless it is there.
    pub(crate) fn ensure_retry(&mut self, topic: &Topic, queues: i32, unit: bool) -> Result<(), Refusal> {
        if self.topics.contains_key(topic) {
            return Ok(());
        }
        let sys_flag = if unit { 2 } else { 0 };
        self.put(topic.clone(), TopicConfig { sys_flag, ..TopicConfig::new(queues.clamp(1, MOST_QUEUES)) })
    }

    /// The topic of a send. One that does not exist is made in the image of `image` if that may be inherited from;
    /// retry and dead-letter topics are made with one queue.
    pub(crate) fn for_send(
        &mut self,
        topic: &Topic,
        image: Option<&str>,
        queues: i32,
    ) -> Result<TopicConfig, Refusal> {
        if let Some(config) = self.find(topic) {
            return Ok(config.clone());
        }
        if !is_legal_name(topic.as_str()) {
            return Err(illegal(topic.as_str()));
        }
        let config = if topic.is_retry() || topic.as_str().starts_with(DLQ_PREFIX) {
            TopicConfig::new(1)
        } else {
            let image = image.and_then(|name| self.find(&Topic::from(name)));
            let image = image.filter(|image| image.perm & PERM_INHERIT != 0).ok_or_else(|| unknown(topic))?;
            let queues = queues.min(image.write).clamp(1, MOST_QUEUES);
            TopicConfig { perm: image.perm & !PERM_INHERIT, ..TopicConfig::new(queues) }
        };
        self.put(topic.clone(), config.clone())?;
        Ok(config)
    }

    /// Request 351: one topic's configuration. Administrators of 5.x ask for it before anything else.
    pub(crate) fn show(&self, request: &Command) -> Handled {
        let topic = request.topic()?;
        let TopicConfig { read, write, perm, sys_flag, order } = self.existing(&topic)?;
        let name = quoted(topic.as_str());
        let body = format!(
            r#"{{"attributes":{{}},"order":{order},"perm":{perm},"readQueueNums":{read},"topicFilterType":"SINGLE_TAG","topicName":{name},"topicSysFlag":{sys_flag},"writeQueueNums":{write}}}"#
        );
        Ok(Some(success(request).with_body(body)))
    }

    /// Request 17: an operator makes or changes a topic.
    pub(crate) fn update(&mut self, request: &Command) -> Handled {
        let topic = request.topic()?;
        if !is_legal_name(topic.as_str()) || [AUTO_CREATE_TOPIC, SCHEDULE_TOPIC].contains(&topic.as_str()) {
            return Err(illegal(topic.as_str()));
        }
        let (read, write) = (request.i32("readQueueNums")?, request.i32("writeQueueNums")?);
        if !(0..=MOST_QUEUES).contains(&read) || !(0..=MOST_QUEUES).contains(&write) {
            let remark = format!("{read} and {write} queues: only 0 to {MOST_QUEUES} are possible");
            return Err(Refusal::new(ResponseCode::INVALID_PARAMETER, remark));
        }
        let config = TopicConfig {
            read,
            write,
            perm: request.some_i32("perm").unwrap_or(PERM_READ | PERM_WRITE),
            sys_flag: request.some_i32("topicSysFlag").unwrap_or(0),
            order: request.flag("order").unwrap_or(false),
        };
        self.put(topic, config)?;
        Ok(Some(success(request)))
    }
}

fn unknown(topic: &Topic) -> Refusal {
    Refusal::new(ResponseCode::TOPIC_NOT_EXIST, format!("topic {topic} does not exist on this broker"))
}

fn illegal(name: &str) -> Refusal {
    Refusal::new(ResponseCode::INVALID_PARAMETER, format!("{name} cannot be the name of a topic here"))
}
