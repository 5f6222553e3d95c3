//! What servers may ask of a connection besides its address: a key that signs the requests, encryption, a namespace.

#[cfg(feature = "tls")]
use crate::tls::Tls;
use evenkeel_core::link::{InNamespace, Sign};
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
    namespace_v2: Option<Arc<str>>,
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

    /// Names this namespace in every request, to name servers as well, in the fields `nsd` and `ns` that 5.x has for it.
    /// Unlike the namespace of a consumer or producer it changes no name; both can be used together, as in Java. None if
    /// the text is empty. Java: `setNamespaceV2`.
    #[must_use]
    pub fn namespace_v2(mut self, namespace: &str) -> Self {
        self.namespace_v2 = (!namespace.is_empty()).then(|| namespace.into());
        self
    }

    /// Encrypts every connection like this.
    #[cfg(feature = "tls")]
    #[must_use]
    pub fn tls(mut self, tls: Tls) -> Self {
        self.tls = Some(tls);
        self
    }

    /// What adds fields to each request, if anything does.
    pub(crate) fn signer(&self) -> Option<Box<dyn Sign>> {
        let key = self.credentials.as_deref().cloned().map(|key| Box::new(key) as Box<dyn Sign>);
        match &self.namespace_v2 {
            Some(namespace) => {
                Some(Box::new(InNamespace { namespace: namespace.as_ref().to_owned(), then: key }))
            }
            None => key,
        }
    }

    /// What encrypts, if connections are encrypted.
    #[cfg(feature = "tls")]
    pub(crate) fn encryption(&self) -> Option<&Tls> {
        self.tls.as_ref()
    }
}
