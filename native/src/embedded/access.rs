//! Access control: who may call at all. What a key may do is not told apart: a key that is known may do everything.

use super::config::{Config, Generation};
use super::request::Refusal;
use evenkeel_core::wire::acl::{
    ACCESS_KEY, Credentials, SECURITY_TOKEN, SIGNATURE, signature, signed_content,
};
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::command::Command;

/// Refuses a request that none of the configured keys has signed, in the words of the imitated generation.
pub(super) fn check(config: &Config, request: &Command) -> Result<(), Refusal> {
    if config.keys.is_empty() {
        return Ok(());
    }
    let name = request.fields.get(ACCESS_KEY).unwrap_or_default();
    let why = match config.keys.iter().find(|key| key.access_key == name) {
        None => format!("No accessKey is configured for {name:?}"),
        Some(key) if !is_signed_by(request, key) => format!("Check signature failed for accessKey={name}"),
        Some(_) => return Ok(()),
    };
    Err(match config.generation {
        Generation::V4_9 => {
            let remark = format!("org.apache.rocketmq.acl.common.AclException: {why}");
            Refusal::new(ResponseCode::SYSTEM_ERROR, remark)
        }
        Generation::V5 => Refusal::new(ResponseCode::NO_PERMISSION, why),
    })
}

fn is_signed_by(request: &Command, key: &Credentials) -> bool {
    let token = request.fields.get(SECURITY_TOKEN);
    let content = signed_content(request.fields.iter(), &request.body);
    token == key.security_token.as_ref().map(|token| token.expose())
        && request.fields.get(SIGNATURE) == Some(signature(&key.secret_key, &content).as_str())
}
