//! The signature that brokers with access control ask for.
//!
//! Equal to `AclClientRPCHook`, `AclUtils` and `AclSigner` of the Java library: the values of all fields, in the order of
//! their names by UTF-16 code unit, then the body; HMAC-SHA1 under the secret key; Base64. The field `Signature` itself is
//! left out, so signing a request again gives the same signature.

use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha1::Sha1;

use crate::model::java_order;

/// Field with the name of the key.
pub const ACCESS_KEY: &str = "AccessKey";
/// Field with the token of a temporary key.
pub const SECURITY_TOKEN: &str = "SecurityToken";
/// Field with the signature.
pub const SIGNATURE: &str = "Signature";

/// A text that is never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// The text itself.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}
impl From<String> for Secret {
    fn from(text: String) -> Self {
        Self(text)
    }
}
impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(secret)")
    }
}

/// Who the client is to a broker with access control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Credentials {
    /// The name of the key.
    pub access_key: String,
    /// The key.
    pub secret_key: Secret,
    /// The token of a temporary key; it is sent along, but not shown in logs.
    pub security_token: Option<Secret>,
}

impl Credentials {
    /// A key without a token.
    #[must_use]
    pub fn new(access_key: impl Into<String>, secret_key: impl Into<Secret>) -> Self {
        Self { access_key: access_key.into(), secret_key: secret_key.into(), security_token: None }
    }

    /// The same with the token of a temporary key.
    #[must_use]
    pub fn with_security_token(self, token: impl Into<Secret>) -> Self {
        Self { security_token: Some(token.into()), ..self }
    }

    /// The fields to add to a request, to be put last, when all others are there. Fields of the same names that the
    /// request has already are replaced.
    #[must_use]
    pub fn sign<'a>(
        &'a self,
        fields: impl IntoIterator<Item = (&'a str, &'a str)>,
        body: &[u8],
    ) -> Vec<(&'static str, String)> {
        let token = self.security_token.as_ref().map(|token| (SECURITY_TOKEN, token.expose()));
        let own = || [(ACCESS_KEY, self.access_key.as_str())].into_iter().chain(token);
        let others = fields.into_iter().filter(|(name, _)| own().all(|(own, _)| own != *name));
        let signature = signature(&self.secret_key, &signed_content(others.chain(own()), body));
        let mut added: Vec<_> = own().map(|(name, value)| (name, String::from(value))).collect();
        added.push((SIGNATURE, signature));
        added
    }
}

/// What is signed for a request with these fields and this body.
#[must_use]
pub fn signed_content<'a>(fields: impl IntoIterator<Item = (&'a str, &'a str)>, body: &[u8]) -> Vec<u8> {
    let mut fields: Vec<_> = fields.into_iter().filter(|(name, _)| *name != SIGNATURE).collect();
    fields.sort_by(|(a, _), (b, _)| java_order(a, b));
    let mut content: Vec<u8> = fields.iter().flat_map(|(_, value)| value.bytes()).collect();
    content.extend_from_slice(body);
    content
}

/// The signature of `content`.
#[must_use]
pub fn signature(key: &Secret, content: &[u8]) -> String {
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(key.expose().as_bytes()) else {
        unreachable!("HMAC takes keys of every length");
    };
    mac.update(content);
    STANDARD.encode(mac.finalize().into_bytes())
}
