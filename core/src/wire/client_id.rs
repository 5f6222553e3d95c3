//! How a member of a group is called: `ip@instance[@unit][@STREAM]`.
//!
//! Equal to `ClientConfig.buildMQClientId` and `changeInstanceNameToPID` of the Java library. Two members with one id
//! break allocation: both take the first one's share and nobody takes the second one's. So a clustering consumer must
//! never keep the default instance name; a broadcasting one keeps it, because its offset file hangs on the id.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use crate::model::ClientId;

/// Instance name of who did not choose one.
pub const DEFAULT_INSTANCE: &str = "DEFAULT";

/// The id of a client.
#[must_use]
pub fn build(ip: &str, instance: &str, unit: Option<&str>, stream: bool) -> ClientId {
    let mut id = format!("{ip}@{instance}");
    if let Some(unit) = unit.filter(|unit| !is_blank(unit)) {
        id.push('@');
        id.push_str(unit);
    }
    if stream {
        id.push_str("@STREAM");
    }
    ClientId::from(id)
}

/// Java's notion of nothing but white space; the spaces that forbid a line break are not white there.
fn is_blank(text: &str) -> bool {
    text.chars().all(|c| {
        // U+001C..=U+001F separate records in Java's eyes only.
        (c.is_whitespace() && !matches!(c, '\u{85}' | '\u{A0}' | '\u{2007}' | '\u{202F}'))
            || matches!(c, '\u{1C}'..='\u{1F}')
    })
}

/// Instance names of one process: no two are equal, even if they are asked for within one tick of the clock.
#[derive(Clone, Debug, Default)]
pub struct InstanceNames {
    last: u64,
}

impl InstanceNames {
    /// No name given yet.
    #[must_use]
    pub const fn new() -> Self {
        Self { last: 0 }
    }

    /// The instance name that a clustering consumer starts with: `pid#nanos` unless it chose one itself.
    ///
    /// `nanos` should be Unix time rather than time since boot: processes in containers often share address and pid, and
    /// then nothing else tells them apart.
    pub fn clustering(&mut self, configured: &str, pid: u32, nanos: u64) -> String {
        if configured != DEFAULT_INSTANCE {
            return configured.to_owned();
        }
        self.last = nanos.max(self.last.wrapping_add(1));
        format!("{pid}#{}", self.last)
    }
}
