//! The one error of this crate.

use evenkeel_core::config::ConfigError;
use evenkeel_core::error::Blame;
use evenkeel_core::wire::code::ResponseCode;
use evenkeel_core::wire::reply::CallError;
use std::fmt;

/// Any error that a handler may return.
pub type BoxError = Box<dyn std::error::Error + Send + Sync + 'static>;

/// Result with this crate's [`Error`].
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// What went wrong: what was tried, where, and what to do next stands in the text; [`Error::kind`] is for programs.
#[derive(Debug)]
pub struct Error {
    kind: ErrorKind,
    blame: Blame,
    text: String,
    hint: Option<String>,
    source: Option<BoxError>,
}

/// The kinds of [`Error`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A setting is missing, misspelt or out of range.
    Config,
    /// No connection to a name server or broker.
    Unreachable,
    /// The server does not know the topic, group or member.
    NotFound,
    /// The server knows us and says no.
    Refused,
    /// No answer in time.
    TimedOut,
    /// The server answered what cannot be read.
    Protocol,
    /// The consumer or producer has stopped already.
    Closed,
    /// The drain deadline passed before all handlers had ended.
    DrainDeadline,
    /// A local file, terminal or child process failed.
    Io,
}

/// Advice where only access control can have refused.
const ACCESS: &str = "check the access key and the secret key (ROCKETMQ_ACCESS_KEY, ROCKETMQ_SECRET_KEY or \
                      --secret-key-file), and what the server allows this key";
/// Advice where the same code has several causes.
const PERMISSION: &str = "check the permission bits of the topic, whether the group may consume, and, where the server \
                          has access control, the keys (ROCKETMQ_ACCESS_KEY, ROCKETMQ_SECRET_KEY or \
                          --secret-key-file)";

impl Error {
    pub(crate) fn new(kind: ErrorKind, text: impl Into<String>) -> Self {
        let blame = match kind {
            ErrorKind::Config | ErrorKind::NotFound | ErrorKind::Refused | ErrorKind::Closed => Blame::Caller,
            ErrorKind::Unreachable | ErrorKind::TimedOut => Blame::Network,
            ErrorKind::Protocol => Blame::Peer,
            ErrorKind::DrainDeadline | ErrorKind::Io => Blame::Caller,
        };
        Self { kind, blame, text: text.into(), hint: None, source: None }
    }

    pub(crate) fn config(text: impl Into<String>) -> Self {
        Self::new(ErrorKind::Config, text)
    }

    pub(crate) fn closed(what: &str) -> Self {
        Self::new(ErrorKind::Closed, format!("{what} has stopped"))
    }

    /// The same error with advice on a line of its own.
    pub(crate) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    pub(crate) fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// A failed call to `address`, told as "cannot `what`: …".
    pub(crate) fn call(what: &str, address: &str, error: CallError) -> Self {
        let (kind, hint) = match &error {
            CallError::Expired { .. } => (ErrorKind::TimedOut, None),
            CallError::LinkLost { .. } => (ErrorKind::Unreachable, None),
            CallError::LinkRefused { advice, .. } => (ErrorKind::Refused, Some(*advice)),
            CallError::Refused(refusal) => match refusal.code {
                ResponseCode::SYSTEM_ERROR if refusal.denies_access() => (ErrorKind::Refused, Some(ACCESS)),
                ResponseCode::TOPIC_NOT_EXIST => (
                    ErrorKind::NotFound,
                    Some(
                        "create the topic, or check its spelling and its namespace; `evenkeel route TOPIC` shows \
                          what a name server knows",
                    ),
                ),
                ResponseCode::SUBSCRIPTION_GROUP_NOT_EXIST => (
                    ErrorKind::NotFound,
                    Some("create the consumer group, or let the broker create groups by itself"),
                ),
                ResponseCode::NO_PERMISSION => (ErrorKind::Refused, Some(PERMISSION)),
                _ => (ErrorKind::Refused, None),
            },
            _ => (ErrorKind::Protocol, None),
        };
        let told = error.to_string();
        let text = if told.contains(address) {
            format!("cannot {what}: {told}")
        } else {
            format!("cannot {what}: {address}: {told}")
        };
        let mut made = Self::new(kind, text);
        made.blame = error.blame();
        made.hint = hint.map(str::to_owned);
        made.source = Some(Box::new(error));
        made
    }

    /// What kind of error this is.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// Who has to act so that it goes away.
    pub fn blame(&self) -> Blame {
        self.blame
    }

    /// What to do next, if there is something to say.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// Whether the same call may succeed later without anyone changing anything.
    pub fn is_retryable(&self) -> bool {
        match self.kind {
            // The network heals, brokers restart.
            ErrorKind::Unreachable | ErrorKind::TimedOut => true,
            // A busy or restarting broker refuses for a while; permissions and unknown names stay as they are.
            ErrorKind::Refused => self.blame == Blame::Peer,
            // A settings error, an unknown name, a closed handle or a garbled answer repeats itself.
            _ => false,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)?;
        match &self.hint {
            // The alternate form is for those who print the hint themselves.
            Some(hint) if !f.alternate() => write!(f, "\nhint: {hint}"),
            _ => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

impl From<ConfigError> for Error {
    fn from(error: ConfigError) -> Self {
        Self::config(error.to_string()).with_source(error)
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Self::new(ErrorKind::Io, error.to_string()).with_source(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evenkeel_core::wire::code::RequestCode;
    use evenkeel_core::wire::reply::Refusal;
    use std::error::Error as _;

    fn refused(code: ResponseCode) -> Error {
        let refusal = Refusal { request: RequestCode::PULL_MESSAGE, code, remark: "no".into() };
        Error::call("pull", "b:1", CallError::Refused(refusal))
    }

    #[test]
    fn a_call_error_keeps_address_blame_and_source() {
        let error = Error::call(
            "read the route",
            "mq:9876",
            CallError::LinkLost { reason: "connection reset".into() },
        );
        assert_eq!(error.to_string(), "cannot read the route: mq:9876: connection reset");
        assert_eq!(
            (error.kind(), error.blame(), error.is_retryable()),
            (ErrorKind::Unreachable, Blame::Network, true)
        );
        assert!(error.source().is_some());
    }

    #[test]
    fn an_address_is_not_told_twice() {
        let error =
            Error::call("send", "mq:1", CallError::LinkLost { reason: "mq:1: connection refused".into() });
        assert_eq!(error.to_string(), "cannot send: mq:1: connection refused");
    }

    #[test]
    fn refusals_are_told_apart() {
        assert_eq!(refused(ResponseCode::TOPIC_NOT_EXIST).kind(), ErrorKind::NotFound);
        assert!(!refused(ResponseCode::NO_PERMISSION).is_retryable());
        assert!(refused(ResponseCode::SYSTEM_BUSY).is_retryable());
        let text = refused(ResponseCode::NO_PERMISSION);
        assert!(text.to_string().contains("\nhint: "));
        assert!(!format!("{text:#}").contains("hint"));
    }
}
