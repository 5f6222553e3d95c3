//! Names of settings, ours and Java's.

use super::values::unknown;
use crate::error::Result;
use evenkeel_core::config::{OPTIONS, OptionRow};

/// A setting that is not one of the numeric [`OPTIONS`].
#[derive(Clone, Copy, Debug)]
pub struct Setting {
    /// Full name.
    pub name: &'static str,
    /// Java's name, or empty.
    pub java: &'static str,
    /// Default, in words.
    pub default: &'static str,
    /// What it does.
    pub meaning: &'static str,
}

const fn row(
    name: &'static str,
    java: &'static str,
    default: &'static str,
    meaning: &'static str,
) -> Setting {
    Setting { name, java, default, meaning }
}

/// The settings that are not numbers, in the order of the documentation.
pub const SETTINGS: &[Setting] = &[
    row(
        "cluster.name_servers",
        "namesrvAddr",
        "NAMESRV_ADDR",
        "name servers as host:port, several with ; between",
    ),
    row(
        "cluster.namespace",
        "namespace",
        "",
        "prefix of group and topics on the way to servers, which handlers do not see",
    ),
    row(
        "cluster.namespace_v2",
        "namespaceV2",
        "",
        "namespace that each request names in fields of its own (5.x); group and topics stay as they are",
    ),
    row(
        "cluster.access_key",
        "accessKey",
        "ROCKETMQ_ACCESS_KEY",
        "name of the key that signs requests, for servers with access control",
    ),
    row("cluster.secret_key", "secretKey", "ROCKETMQ_SECRET_KEY", "the key itself; only by environment"),
    row("cluster.secret_key_file", "", "", "file with the key itself"),
    row(
        "cluster.security_token",
        "securityToken",
        "ROCKETMQ_SECURITY_TOKEN",
        "token of a temporary key; only by environment",
    ),
    row(
        "cluster.tls",
        "tls.enable",
        "false",
        "whether connections are encrypted; if unset, true as soon as another tls setting is there; false in a lower \
         layer than another is a mistake",
    ),
    row(
        "cluster.tls_ca",
        "tls.client.trustCertPath",
        "what the system trusts",
        "PEM file with the certificates that sign those of the servers",
    ),
    row(
        "cluster.tls_cert",
        "tls.client.certPath",
        "",
        "PEM file with our certificate, for servers that ask for one",
    ),
    row("cluster.tls_key", "tls.client.keyPath", "", "PEM file with the private key of our certificate"),
    row(
        "cluster.tls_server_name",
        "",
        "host of the address",
        "name that the certificate of every server must have",
    ),
    row(
        "cluster.tls_insecure_skip_verify",
        "",
        "false",
        "insecure: take any certificate of anybody, as Java does unless tls.client.authServer=true",
    ),
    row("consumer.group", "consumerGroup", "", "the consumer group"),
    row(
        "consumer.strategy",
        "allocateMessageQueueStrategy",
        "avg",
        "how queues are shared out: avg, circle, hash[:N]",
    ),
    row(
        "consumer.start_from",
        "consumeFromWhere",
        "last",
        "where queues without a committed offset start: last, first, a time",
    ),
    row(
        "consumer.model",
        "messageModel",
        "clustering",
        "whether members share the messages (clustering) or each gets all (broadcasting)",
    ),
    row(
        "consumer.offset_dir",
        "rocketmq.client.localOffsetStoreDir",
        "~/.rocketmq_offsets",
        "where a broadcasting member keeps its offsets",
    ),
    row("consumer.client_id", "", "ip@pid#nanos", "the whole id of this member"),
    row("consumer.client_ip", "clientIP", "local address", "first part of the member's id"),
    row("consumer.instance", "instanceName", "pid#nanos", "second part of the member's id"),
    row("consumer.unit", "unitName", "", "third part of the member's id"),
    row("consumer.handler_timeout", "", "15m", "how long a handler may take"),
    row(
        "log.filter",
        "",
        "EVENKEEL_LOG, RUST_LOG, else warn",
        "what is logged: a level, or target=level,…; SIGHUP lets it be read again",
    ),
];

/// Settings whose values are never shown, and are taken from the environment only: arguments stand in the list of
/// processes, and config files are shared.
pub(super) const SECRETS: [&str; 2] = ["cluster.secret_key", "cluster.security_token"];

/// The one name of a setting that the user calls `name`: a full name, one without its section, or Java's.
pub(super) fn find(name: &str) -> Result<&'static str> {
    let bare = name.strip_prefix("consumer.").unwrap_or(name);
    if let Some(option) = OptionRow::find(bare) {
        return Ok(option.name);
    }
    let short = |setting: &Setting| setting.name.split_once('.').map(|(_, short)| short);
    let found = SETTINGS.iter().find(|setting| {
        setting.name == name
            || short(setting) == Some(name)
            || (!setting.java.is_empty() && setting.java == bare)
    });
    found.map(|setting| setting.name).ok_or_else(|| unknown(name, nearest(bare)))
}

/// The nearest name of either table, if it is near enough to be meant.
fn nearest(name: &str) -> Option<&'static str> {
    let wanted = name.rsplit('.').next().unwrap_or(name);
    // The options' own finder measures; the few other names are near if all but two letters agree from either end.
    OptionRow::nearest(wanted).or_else(|| {
        let names =
            SETTINGS.iter().flat_map(|setting| [setting.name, setting.java]).filter(|name| !name.is_empty());
        names.max_by_key(|name| alike(name, wanted)).filter(|name| {
            let short = name.rsplit('.').next().unwrap_or(name);
            alike(name, wanted) + 2 >= short.len().max(wanted.len())
        })
    })
}

/// Letters that agree, counted from the front and from the back.
fn alike(name: &str, wanted: &str) -> usize {
    let short = name.rsplit('.').next().unwrap_or(name);
    let front = short.chars().zip(wanted.chars()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    let back =
        short.chars().rev().zip(wanted.chars().rev()).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count();
    (front + back).min(short.len())
}

/// The names that a section of the config file may have.
pub(super) fn of_section(section: &str) -> Vec<&'static str> {
    let own = SETTINGS.iter().filter_map(|setting| setting.name.split_once('.'));
    let own = own.filter(|(of, _)| *of == section).map(|(_, short)| short);
    let options = OPTIONS.iter().map(|row| row.name).filter(|_| section == "consumer");
    own.chain(options).collect()
}
