//! The topics of one broker: what exists, with how many queues, and how it comes to exist.

use super::config::{Config, MOST_QUEUES, is_legal_name};
use super::request::{Handled, Refusal, header, success};
use evenkeel_core::model::{DLQ_PREFIX, Topic};
use evenkeel_core::wire::bodies::{Body, TopicConfig};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::headers::admin::{CreateTopic, GetTopicConfig};
use std::collections::BTreeMap;

/// The topic whose presence lets producers create others.
pub(crate) const AUTO_CREATE_TOPIC: &str = "TBW102";
/// Where messages wait for their delay.
pub(crate) const SCHEDULE_TOPIC: &str = "SCHEDULE_TOPIC_XXXX";

/// Permission bit: other topics may be made in its image.
pub(crate) const PERM_INHERIT: i32 = 1;

/// All topics of one broker.
#[derive(Clone, Debug)]
pub(crate) struct Topics {
    topics: BTreeMap<Topic, TopicConfig>,
    most: usize,
}

impl Topics {
    /// The topics that the broker with this index starts with.
    pub(crate) fn new(config: &Config, broker: usize) -> Self {
        let mut topics = Vec::new();
        if config.auto_create {
            let image = TopicConfig::new(AUTO_CREATE_TOPIC.into(), 8);
            topics.push(TopicConfig { perm: image.perm | PERM_INHERIT, ..image });
        }
        let levels = i32::try_from(config.delay_levels.len()).unwrap_or(MOST_QUEUES);
        topics.push(TopicConfig::new(SCHEDULE_TOPIC.into(), levels.max(1)));
        for spec in config.topics.iter().filter(|spec| spec.is_on(broker)) {
            topics.push(TopicConfig::new(spec.name.clone(), spec.queues.clamp(1, MOST_QUEUES)));
        }
        let topics = topics.into_iter().map(|config| (config.topic.clone(), config)).collect();
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
    pub(crate) fn put(&mut self, config: TopicConfig) -> Result<(), Refusal> {
        if self.topics.len() >= self.most && !self.topics.contains_key(&config.topic) {
            return Err(Refusal::full("topics"));
        }
        self.topics.insert(config.topic.clone(), config);
        Ok(())
    }

    /// Sets the number of queues, making the topic if need be.
    pub(crate) fn resize(&mut self, topic: &Topic, queues: i32) -> Result<(), Refusal> {
        let queues = queues.clamp(1, MOST_QUEUES);
        let old = self.find(topic).cloned().unwrap_or_else(|| TopicConfig::new(topic.clone(), queues));
        self.put(TopicConfig { read_queues: queues, write_queues: queues, ..old })
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
        let queues = queues.clamp(1, MOST_QUEUES);
        self.put(TopicConfig { sys_flag, ..TopicConfig::new(topic.clone(), queues) })
    }

    /// The topic of a send. One that does not exist is made in the image of `image` if that may be inherited from;
    /// retry and dead-letter topics are made with one queue.
    pub(crate) fn for_send(
        &mut self,
        topic: &Topic,
        image: Option<&Topic>,
        queues: i32,
    ) -> Result<TopicConfig, Refusal> {
        if let Some(config) = self.find(topic) {
            return Ok(config.clone());
        }
        if !is_legal_name(topic.as_str()) {
            return Err(illegal(topic.as_str()));
        }
        let config = if topic.is_retry() || topic.as_str().starts_with(DLQ_PREFIX) {
            TopicConfig::new(topic.clone(), 1)
        } else {
            let image = image.and_then(|image| self.find(image));
            let image = image.filter(|image| image.perm & PERM_INHERIT != 0).ok_or_else(|| unknown(topic))?;
            let queues = queues.min(image.write_queues).clamp(1, MOST_QUEUES);
            TopicConfig { perm: image.perm & !PERM_INHERIT, ..TopicConfig::new(topic.clone(), queues) }
        };
        self.put(config.clone())?;
        Ok(config)
    }

    /// Request 351: one topic's configuration. Administrators of 5.x ask for it before anything else.
    pub(crate) fn show(&self, request: &Command) -> Handled {
        let GetTopicConfig { topic } = header(request, &[])?;
        Ok(Some(success(request).with_body(self.existing(&topic)?.encode())))
    }

    /// Request 17: an operator makes or changes a topic.
    pub(crate) fn update(&mut self, request: &Command) -> Handled {
        let spare = [("defaultTopic", ""), ("perm", "6"), ("topicFilterType", "")];
        let wanted: CreateTopic = header(request, &spare)?;
        let name = wanted.topic.as_str();
        if !is_legal_name(name) || [AUTO_CREATE_TOPIC, SCHEDULE_TOPIC].contains(&name) {
            return Err(illegal(name));
        }
        let (read, write) = (wanted.read_queues, wanted.write_queues);
        if !(0..=MOST_QUEUES).contains(&read) || !(0..=MOST_QUEUES).contains(&write) {
            let remark = format!("{read} and {write} queues: only 0 to {MOST_QUEUES} are possible");
            return Err(Refusal::new(ResponseCode::INVALID_PARAMETER, remark));
        }
        self.put(TopicConfig {
            topic: wanted.topic,
            read_queues: read,
            write_queues: write,
            perm: wanted.perm,
            sys_flag: wanted.sys_flag.unwrap_or(0),
            order: wanted.order,
        })?;
        Ok(Some(success(request)))
    }
}

fn unknown(topic: &Topic) -> Refusal {
    Refusal::new(ResponseCode::TOPIC_NOT_EXIST, format!("topic {topic} does not exist on this broker"))
}

fn illegal(name: &str) -> Refusal {
    Refusal::new(ResponseCode::INVALID_PARAMETER, format!("{name} cannot be the name of a topic here"))
}
