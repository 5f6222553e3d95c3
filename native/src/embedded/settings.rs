//! What operators set per consumer group; groups that nobody set get the defaults when they are first heard of.

use super::config::{Config, Generation, is_legal_name};
use super::context::Context;
use super::request::{Handled, Refusal, json, success, unreadable_body};
use evenkeel_core::model::Group;
use evenkeel_core::wire::bodies::{Body, DataVersion, GroupConfig, GroupTable};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;
use evenkeel_core::wire::error::WireErrorKind;
use evenkeel_core::wire::headers::admin::GetAllGroupConfigsResponse;
use std::collections::BTreeMap;

/// Settings of all groups on one broker.
#[derive(Debug, Default)]
pub(crate) struct Settings(BTreeMap<Group, GroupConfig>);

impl Settings {
    /// The group's settings, made with the defaults if it is new and may be.
    pub(crate) fn ensure(&mut self, config: &Config, group: &Group) -> Result<GroupConfig, Refusal> {
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
            GroupConfig { retry_max_times: config.retry_max_times, ..GroupConfig::new(group.clone()) };
        self.0.insert(group.clone(), settings.clone());
        Ok(settings)
    }

    /// The group's settings, if there are any.
    pub(crate) fn find(&self, group: &Group) -> Option<&GroupConfig> {
        self.0.get(group)
    }

    /// The group's settings, or the refusal that says it is unknown.
    pub(crate) fn existing(&self, group: &Group) -> Result<&GroupConfig, Refusal> {
        self.find(group).ok_or_else(|| unknown(group))
    }

    /// Request 201: everything on one page, a group nobody has being shown by the defaults so that there is one.
    pub(crate) fn list(&self, cx: &Context<'_>, request: &Command) -> Handled {
        let mut table = GroupTable { version: DataVersion::default(), groups: self.0.clone() };
        if table.groups.is_empty() {
            let shown = GroupConfig::new("TOOLS_CONSUMER".into());
            table.groups.insert(shown.group.clone(), shown);
        }
        let answer = success(request).with_body(table.encode());
        let total = i32::try_from(table.groups.len()).unwrap_or(i32::MAX);
        Ok(Some(match cx.config.generation {
            Generation::V5 => answer.with_header(&GetAllGroupConfigsResponse { total: Some(total) }),
            Generation::V4_9 => answer,
        }))
    }

    /// Request 200.
    pub(crate) fn update(&mut self, cx: &Context<'_>, request: &Command) -> Handled {
        let nameless = || Refusal::new(ResponseCode::INVALID_PARAMETER, "the body names no group");
        let body = json(&request.body, cx.config.limits.json)?;
        let config = GroupConfig::from_value(&body).map_err(|error| match error.kind {
            WireErrorKind::MissingField => nameless(),
            _ => unreadable_body(error),
        })?;
        if !is_legal_name(config.group.as_str()) {
            return Err(nameless());
        }
        if self.0.len() >= cx.config.limits.groups && !self.0.contains_key(&config.group) {
            return Err(Refusal::full("groups"));
        }
        self.0.insert(config.group.clone(), config);
        Ok(Some(success(request)))
    }
}

fn unknown(group: &Group) -> Refusal {
    let remark = format!("group {group} is not known to this broker");
    Refusal::new(ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST, remark)
}
