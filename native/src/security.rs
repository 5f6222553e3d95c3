//! What servers may ask of a connection besides its address: a key that signs the requests.

use evenkeel_core::wire::acl::Credentials;
use std::sync::Arc;

/// How connections prove who they belong to. The default proves nothing, which is enough for servers without access
/// control.
///
/// Name servers and brokers are treated alike: every request on every connection is signed. Servers without access
/// control ignore the signature.
#[derive(Clone, Debug, Default)]
pub struct Security {
    credentials: Option<Arc<Credentials>>,
}

impl Security {
    /// Signs every request with this key. The secret itself is never sent, and never printed.
    ///
    /// ```
    /// use evenkeel::{Credentials, Security};
    ///
    /// let security = Security::default().credentials(Credentials::new("reader", "top-secret"));
    /// assert!(!format!("{security:?}").contains("top-secret"));
    /// ```
    #[must_use]
    pub fn credentials(self, credentials: Credentials) -> Self {
        Self { credentials: Some(Arc::new(credentials)) }
    }

    /// The key that signs, if there is one.
    pub(crate) fn signer(&self) -> Option<Box<Credentials>> {
        self.credentials.as_deref().cloned().map(Box::new)
    }
}
