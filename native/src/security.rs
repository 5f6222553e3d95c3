//! What servers may ask of a connection besides its address: a key that signs the requests, and encryption.

#[cfg(feature = "tls")]
use crate::tls::Tls;
use evenkeel_core::wire::acl::Credentials;
use std::sync::Arc;

/// How connections are secured. The default is no way at all, which is enough for servers without access control that
/// can be reached through a network one trusts.
///
/// Name servers and brokers are treated alike: every request on every connection is signed, and every connection is
/// encrypted or none. Servers without access control ignore the signature.
#[derive(Clone, Debug, Default)]
pub struct Security {
    credentials: Option<Arc<Credentials>>,
    #[cfg(feature = "tls")]
    tls: Option<Tls>,
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
    pub fn credentials(mut self, credentials: Credentials) -> Self {
        self.credentials = Some(Arc::new(credentials));
        self
    }

    /// Encrypts every connection like this.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// The key that signs, if there is one.
    pub(crate) fn signer(&self) -> Option<Box<Credentials>> {
        self.credentials.as_deref().cloned().map(Box::new)
    }

    /// What encrypts, if connections are encrypted.
    #[cfg(feature = "tls")]
    pub(crate) fn encryption(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}
