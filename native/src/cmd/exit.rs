//! How the process ends.

use evenkeel::{Error, ErrorKind};

/// Exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Code {
    /// Done; also a clean drain after a signal.
    Done,
    /// Another failure.
    Other,
    /// Wrong usage or configuration.
    Usage,
    /// A name server or broker cannot be reached.
    Unreachable,
    /// No such topic, group, member or route.
    NotFound,
    /// Permission denied.
    Refused,
    /// Some brokers or members did not answer; what is known was printed.
    Partial,
    /// A check said no.
    CheckFailed,
    /// A handler failed and `--on-error stop` was said.
    HandlerFailed,
    /// The drain deadline passed.
    DrainDeadline,
    /// `--timeout` passed.
    TimedOut,
    /// A second signal: left at once.
    Signal(u8),
}

impl Code {
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Other => 1,
            Self::Usage => 2,
            Self::Unreachable => 3,
            Self::NotFound => 4,
            Self::Refused => 5,
            Self::Partial => 6,
            Self::CheckFailed => 7,
            Self::HandlerFailed => 8,
            Self::DrainDeadline => 9,
            Self::TimedOut => 124,
            Self::Signal(number) => 128 + number,
        }
    }
}

/// Why a command failed, for people and as a code.
#[derive(Debug)]
pub(crate) struct Failure {
    code: Code,
    text: String,
    hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(code: Code, text: impl Into<String>) -> Self {
        Self { code, text: text.into(), hint: None }
    }

    pub(crate) fn usage(text: impl Into<String>) -> Self {
        Self::new(Code::Usage, text)
    }

    pub(crate) fn other(text: impl Into<String>) -> Self {
        Self::new(Code::Other, text)
    }

    pub(crate) fn with_hint(self, hint: impl Into<String>) -> Self {
        Self { hint: Some(hint.into()), ..self }
    }

    pub(crate) fn code(&self) -> Code {
        self.code
    }

    #[cfg(feature = "admin")]
    pub(crate) fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }

    /// What happened, without the advice.
    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// Writes the text to stderr: the first line after the program's name, the others below it.
    pub(crate) fn print(&self) {
        if self.text.is_empty() {
            return;
        }
        let mut lines = self.text.lines();
        eprintln!("evenkeel: {}", lines.next().unwrap_or_default());
        for line in lines {
            eprintln!("       {line}");
        }
        if let Some(hint) = &self.hint {
            eprintln!("       hint: {hint}");
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Config => Code::Usage,
            ErrorKind::Unreachable => Code::Unreachable,
            ErrorKind::NotFound => Code::NotFound,
            ErrorKind::Refused => Code::Refused,
            // A server that takes connections and stays silent is one that cannot be reached; 124 is `--timeout`.
            ErrorKind::TimedOut => Code::Unreachable,
            ErrorKind::DrainDeadline => Code::DrainDeadline,
            _ => Code::Other,
        };
        Self { code, text: format!("{error:#}"), hint: error.hint().map(str::to_owned) }
    }
}

impl From<std::io::Error> for Failure {
    fn from(error: std::io::Error) -> Self {
        // A closed pipe means that the reader has seen enough.
        let code = if error.kind() == std::io::ErrorKind::BrokenPipe { Code::Done } else { Code::Other };
        let text = if code == Code::Done { String::new() } else { error.to_string() };
        Self::new(code, text)
    }
}
