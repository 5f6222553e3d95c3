//! `--listen`: health, metrics and assignment over HTTP.

use crate::cmd::exit::Failure;
use crate::cmd::global::Global;
use evenkeel::Consumer;

/// The listener, if one was asked for. It ends when this is dropped.
#[cfg(feature = "admin")]
pub(super) struct Listening(Option<evenkeel::admin::Admin>);

#[cfg(feature = "admin")]
impl Listening {
    /// Begins to listen, and says where.
    pub(super) async fn open(global: &Global, address: Option<&str>, brokers: &str) -> Result<Self, Failure> {
        let Some(address) = address else { return Ok(Self(None)) };
        let admin = evenkeel::admin::Admin::listen(address, brokers).await?;
        let at = admin.address();
        global.say(&format!("evenkeel: http://{at} has /livez /readyz /metrics /assignment"));
        Ok(Self(Some(admin)))
    }

    /// Where it listens.
    pub(super) fn address(&self) -> Option<String> {
        self.0.as_ref().map(|admin| admin.address().to_string())
    }

    pub(super) fn show(&self, consumer: &Consumer) {
        if let Some(admin) = &self.0 {
            admin.show(consumer);
        }
    }
}

/// There is no HTTP in this build.
#[cfg(not(feature = "admin"))]
pub(super) struct Listening;

#[cfg(not(feature = "admin"))]
impl Listening {
    pub(super) async fn open(
        _global: &Global,
        address: Option<&str>,
        _brokers: &str,
    ) -> Result<Self, Failure> {
        match address {
            None => Ok(Self),
            Some(_) => Err(Failure::usage("--listen is not in this build")
                .with_hint("build with the feature `admin`, which is on by default")),
        }
    }

    pub(super) fn address(&self) -> Option<String> {
        None
    }

    pub(super) fn show(&self, _consumer: &Consumer) {}
}
