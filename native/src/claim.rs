//! One consumer for each member id in this process.
//!
//! Two consumers of one group with one id are one member to the broker: each computes the same share, messages come
//! twice, and other queues have nobody. Of other processes only the list of members tells; in this one it need not come
//! to that.

use crate::error::{Error, Result};
use evenkeel_core::model::{Address, ClientId, Group};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// Name servers (a cluster, as far as one can tell from here), group and member id.
type Key = (Vec<Address>, Group, ClientId);

static TAKEN: Mutex<BTreeSet<Key>> = Mutex::new(BTreeSet::new());

/// The right to be this member, for as long as this value lives.
#[derive(Debug)]
pub(crate) struct Claim(Key);

impl Claim {
    /// # Errors
    /// A consumer of this process is that member already.
    pub(crate) fn take(name_servers: &[Address], group: &Group, client: &ClientId) -> Result<Self> {
        let mut servers = name_servers.to_vec();
        servers.sort();
        let key = (servers, group.clone(), client.clone());
        if TAKEN.lock().unwrap_or_else(PoisonError::into_inner).insert(key.clone()) {
            return Ok(Self(key));
        }
        Err(Error::config(format!(
            "group {group} has a consumer with the id {client} in this process already"
        ))
        .with_hint("let each consumer make its own id, or give each an instance name of its own"))
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        TAKEN.lock().unwrap_or_else(PoisonError::into_inner).remove(&self.0);
    }
}
