//! From a connected socket to one as the settings want it, and why a server does not give it.

use super::dial::{self, dial};
use super::stream::Stream;
use crate::security::Security;
use evenkeel_core::wire::reply::CallError;
use std::io;

/// Advice where a server speaks nothing but TLS.
const ENFORCED: &str = "say --tls (cluster.tls), and --tls-ca FILE if the server has a CA of its own";

/// Why there is no connection, or none any more.
#[derive(Clone, Debug, Default)]
pub(super) struct Failure {
    /// What happened, address first.
    pub(super) reason: String,
    /// What to do, if one end refuses how the other secures the connection.
    advice: Option<&'static str>,
}

impl Failure {
    /// It could not be made, or broke.
    pub(super) fn lost(reason: impl Into<String>) -> Self {
        Self { reason: reason.into(), advice: None }
    }

    /// As a call tells it.
    pub(super) fn error(&self) -> CallError {
        let reason = self.reason.clone();
        match self.advice {
            Some(advice) => CallError::LinkRefused { reason, advice },
            None => CallError::LinkLost { reason },
        }
    }

    /// The same failure with more to say.
    pub(super) fn and(&self, more: &str) -> Self {
        Self { reason: format!("{}{more}", self.reason), advice: self.advice }
    }
}

/// Connects to `address`, as secure as it has to be.
pub(super) async fn connect(address: &str, security: &Security) -> Result<Stream, Failure> {
    let stream = dial(address).await.map_err(Failure::lost)?;
    #[cfg(feature = "tls")]
    if let Some(tls) = security.encryption() {
        use dial::CONNECT_TIMEOUT;

        return match tokio::time::timeout(CONNECT_TIMEOUT, tls.connect(address, stream)).await {
            Ok(Ok(stream)) => Ok(Stream::Tls(Box::new(stream))),
            // Servers whose TLS is off hang up when they see the first byte of it.
            Ok(Err(error)) if hung_up(&error) => Err(Failure {
                reason: format!("{address}: TLS: the server hung up on the handshake; does it speak TLS?"),
                advice: Some(crate::tls::refusal::PLAIN),
            }),
            Ok(Err(error)) => Err(broken(address, security, &error)),
            Err(_elapsed) => {
                Err(Failure::lost(format!("{address}: TLS: no handshake within {CONNECT_TIMEOUT:?}")))
            }
        };
    }
    let _ = security;
    Ok(Stream::Plain(stream))
}

/// Whether this is how it looks when the other end closes without a word.
pub(super) fn hung_up(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof)
}

/// A connection that broke with an error.
pub(super) fn broken(address: &str, security: &Security, error: &io::Error) -> Failure {
    #[cfg(feature = "tls")]
    if let Some(tls) = security.encryption() {
        if let Some((what, advice)) = crate::tls::refusal::of(error, tls.shows_certificate()) {
            return Failure { reason: format!("{address}: {what}"), advice: Some(advice) };
        }
        if error.get_ref().is_some_and(|inner| inner.is::<tokio_rustls::rustls::Error>()) {
            return Failure::lost(format!("{address}: TLS: {error}"));
        }
    }
    let _ = security;
    // TLS misses the word of parting; what counts is that the server is gone.
    if error.kind() == io::ErrorKind::UnexpectedEof {
        return closed(address);
    }
    Failure::lost(format!("{address}: {}", dial::reason(error)))
}

/// The server closed the connection.
pub(super) fn closed(address: &str) -> Failure {
    Failure::lost(format!("{address}: the server closed the connection"))
}

/// The server takes nothing but TLS.
pub(super) fn enforced(address: &str) -> Failure {
    Failure { reason: format!("{address}: the server takes nothing but TLS"), advice: Some(ENFORCED) }
}

/// Whether these bytes begin a TLS record: an alert or a handshake, of any version. As the length of a frame they would
/// be beyond every limit.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    matches!(bytes, [0x15 | 0x16, 3, ..])
}

/// The refusal behind a plain connection that a server closed before it said a word, if it is one: a server that
/// enforces TLS does that (`tls.server.mode=enforcing`), and so does one that goes down. The first answers where TLS
/// knocks, the other does not.
#[cfg(feature = "tls")]
pub(super) async fn wants_tls(address: &str) -> Option<Failure> {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    /// More than a handshake's first answer takes; the calls wait for it.
    const PATIENCE: std::time::Duration = std::time::Duration::from_secs(1);
    let knock = async {
        let hello = crate::tls::hello(address)?;
        let mut stream = dial(address).await.ok()?;
        stream.write_all(&hello).await.ok()?;
        let mut head = [0; 2];
        stream.read_exact(&mut head).await.ok()?;
        Some(head)
    };
    let answer = tokio::time::timeout(PATIENCE, knock).await.ok()??;
    is_tls(&answer).then(|| enforced(address))
}

/// Who cannot speak TLS cannot ask for it.
#[cfg(not(feature = "tls"))]
pub(super) async fn wants_tls(_address: &str) -> Option<Failure> {
    None
}
