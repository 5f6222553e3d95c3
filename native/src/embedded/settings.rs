//! What operators set per consumer group; groups that nobody set get the defaults when they are first heard of.

use super::config::{Config, is_legal_name};
use super::context::Context;
use super::request::{Handled, Refusal, json, success, text};
use super::text::{object, quoted};
use evenkeel_core::model::Group;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::json::Value;
use std::collections::BTreeMap;

/// Settings of one group.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GroupSettings {
    pub(crate) may_consume: bool,
    pub(crate) may_broadcast: bool,
    pub(crate) retry_queues: i32,
    pub(crate) retry_max_times: i32,
    pub(crate) notifies: bool,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self { may_consume: true, may_broadcast: true, retry_queues: 1, retry_max_times: 16, notifies: true }
    }
}

impl GroupSettings {
    fn write(&self, group: &Group) -> String {
        let Self { may_consume, may_broadcast, retry_queues, retry_max_times, notifies } = self;
        let name = quoted(group.as_str());
        format!(
            r#"{{"brokerId":0,"consumeBroadcastEnable":{may_broadcast},"consumeEnable":{may_consume},"consumeFromMinEnable":true,"groupName":{name},"notifyConsumerIdsChangedEnable":{notifies},"retryMaxTimes":{retry_max_times},"retryQueueNums":{retry_queues},"whichBrokerWhenConsumeSlowly":1}}"#
        )
    }

    fn read(body: &Value<'_>) -> Self {
        let default = Self::default();
        let flag = |name: &str| body.field(name).to_bool().unwrap_or(true);
        Self {
            may_consume: flag("consumeEnable"),
            may_broadcast: flag("consumeBroadcastEnable"),
            retry_queues: body.field("retryQueueNums").to_i32().unwrap_or(default.retry_queues),
            retry_max_times: body.field("retryMaxTimes").to_i32().unwrap_or(default.retry_max_times),
            notifies: flag("notifyConsumerIdsChangedEnable"),
        }
    }
}

/// Settings of all groups on one broker.
#[derive(Debug, Default)]
pub(crate) struct Settings(BTreeMap<Group, GroupSettings>);

impl Settings {
    /// The group's settings, made with the defaults if it is new and may be.
    pub(crate) fn ensure(&mut self, config: &Config, group: &Group) -> Result<GroupSettings, Refusal> {
        if let Some(settings) = self.0.get(group) {
            return Ok(settings.clone());
        }
        if !config.auto_create_groups || !is_legal_name(group.as_str()) {
            return Err(unknown(group));
        }
        if self.0.len() >= config.limits.groups {
            return Err(Refusal::full("groups"));
        }
        let settings = GroupSettings { retry_max_times: config.retry_max_times, ..GroupSettings::default() };
        self.0.insert(group.clone(), settings.clone());
        Ok(settings)
    }

    /// The group's settings, if there are any.
    pub(crate) fn find(&self, group: &Group) -> Option<&GroupSettings> {
        self.0.get(group)
    }

    /// The group's settings, or the refusal that says it is unknown.
    pub(crate) fn existing(&self, group: &Group) -> Result<&GroupSettings, Refusal> {
        self.find(group).ok_or_else(|| unknown(group))
    }

    /// Request 201: everything, a group nobody has being shown by the defaults so that there is one.
    pub(crate) fn list(&self, request: &Command) -> Handled {
        let default = (Group::from("TOOLS_CONSUMER"), GroupSettings::default());
        let groups =
            self.0.iter().chain([(&default.0, &default.1)].into_iter().filter(|_| self.0.is_empty()));
        let table = object(groups.map(|(group, settings)| (quoted(group.as_str()), settings.write(group))));
        let version = r#"{"counter":0,"stateVersion":0,"timestamp":0}"#;
        let body = format!(r#"{{"dataVersion":{version},"subscriptionGroupTable":{table}}}"#);
        Ok(Some(success(request).with_body(body)))
    }

    /// Request 200.
    pub(crate) fn update(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let body = json(&request.body, cx.config.limits.json)?;
        let group = Group::from(text(&body, "groupName"));
        if !is_legal_name(group.as_str()) {
            return Err(Refusal::new(ResponseCode::INVALID_PARAMETER, "the body names no group"));
        }
        if self.0.len() >= cx.config.limits.groups && !self.0.contains_key(&group) {
            return Err(Refusal::full("groups"));
        }
        self.0.insert(group, GroupSettings::read(&body));
        Ok(Some(success(request)))
    }
}

fn unknown(group: &Group) -> Refusal {
    let remark = format!("group {group} is not known to this broker");
    Refusal::new(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST, remark)
}
