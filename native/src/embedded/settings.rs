//! What operators set per consumer group; groups that nobody set get the defaults when they are first heard of.

use super::config::{Config, is_legal_name};
use super::context::Context;
use super::request::{Handled, Refusal, json, success};
use evenkeel_core::model::Group;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use serde::Deserialize;
use std::collections::BTreeMap;

/// Settings of one group.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct GroupSettings {
    pub(crate) group_name: String,
    pub(crate) consume_enable: bool,
    pub(crate) consume_broadcast_enable: bool,
    pub(crate) retry_queue_nums: i32,
    pub(crate) retry_max_times: i32,
    pub(crate) notify_consumer_ids_changed_enable: bool,
}

impl Default for GroupSettings {
    fn default() -> Self {
        Self {
            group_name: String::new(),
            consume_enable: true,
            consume_broadcast_enable: true,
            retry_queue_nums: 1,
            retry_max_times: 16,
            notify_consumer_ids_changed_enable: true,
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
        let settings =
            GroupSettings { retry_max_times: config.retry_max_times, ..GroupSettings::default() };
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

    /// Request 200.
    pub(crate) fn update(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let settings: GroupSettings = json(&request.body, cx.config.limits.json)?;
        let group = Group::from(settings.group_name.as_str());
        if !is_legal_name(&settings.group_name) {
            return Err(Refusal::new(ResponseCode::INVALID_PARAMETER, "the body names no group"));
        }
        if self.0.len() >= cx.config.limits.groups && !self.0.contains_key(&group) {
            return Err(Refusal::full("groups"));
        }
        self.0.insert(group, settings);
        Ok(Some(success(request)))
    }
}

fn unknown(group: &Group) -> Refusal {
    let remark = format!("group {group} is not known to this broker");
    Refusal::new(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST, remark)
}
