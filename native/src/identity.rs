//! Who we are: client ids and message ids that no other process has.

use crate::clock;
use evenkeel_core::model::{Address, ClientId};
use evenkeel_core::wire::client_id::{self, DEFAULT_INSTANCE, InstanceNames};
use evenkeel_core::wire::ids::UniqueKey;
use evenkeel_core::wire::timestamp::millis_since_month_start;
use std::net::{IpAddr, Ipv4Addr, ToSocketAddrs, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU16, Ordering};

static INSTANCES: Mutex<InstanceNames> = Mutex::new(InstanceNames::new());

/// The local address that packets to one of these servers leave from.
pub(crate) fn local_ip(servers: &[Address]) -> IpAddr {
    let literal = servers.iter().filter_map(|server| server.as_str().parse().ok());
    let towards = literal.chain(("192.0.2.1", 9).to_socket_addrs().into_iter().flatten());
    towards.filter_map(source_towards).next().unwrap_or(IpAddr::V4(Ipv4Addr::LOCALHOST))
}

/// Connecting a UDP socket sends nothing; it only asks the kernel for a route.
fn source_towards(server: std::net::SocketAddr) -> Option<IpAddr> {
    let any: IpAddr =
        if server.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { std::net::Ipv6Addr::UNSPECIFIED.into() };
    let socket = UdpSocket::bind((any, 0)).ok()?;
    socket.connect(server).ok()?;
    socket.local_addr().ok().map(|local| local.ip())
}

/// `ip@pid#nanos`, different for every call in every process; `ip@instance` if the user chose an instance name.
pub(crate) fn client_id(ip: &str, instance: Option<&str>, unit: Option<&str>) -> ClientId {
    let nanos = u64::try_from(clock::wall().as_millis()).unwrap_or_default().saturating_mul(1_000_000);
    // Processes of equal number that start in the same millisecond (containers) differ by these digits.
    let nanos = nanos + clock::seed() % 1_000_000;
    let mut names = INSTANCES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    let instance = names.clustering(instance.unwrap_or(DEFAULT_INSTANCE), std::process::id(), nanos);
    client_id::build(ip, &instance, unit, false)
}

/// `ip@DEFAULT`, as Java has it, or `ip@instance`: the same after a restart, since the offset file hangs on it. Members of a
/// broadcasting group share nothing, so equal ids harm nobody, unless two processes keep one file.
pub(crate) fn stable_client_id(ip: &str, instance: Option<&str>, unit: Option<&str>) -> ClientId {
    client_id::build(ip, instance.unwrap_or(DEFAULT_INSTANCE), unit, false)
}

/// Makes message ids.
#[derive(Debug)]
pub(crate) struct MessageIds {
    ip: IpAddr,
    random: i32,
    counter: AtomicU16,
}

impl MessageIds {
    pub(crate) fn new(ip: IpAddr) -> Self {
        // Ids of two producers in one process differ by this number.
        Self { ip, random: clock::seed() as u32 as i32, counter: AtomicU16::new(0) }
    }

    pub(crate) fn next(&self) -> String {
        let process = (std::process::id() & 0xFFFF) as u16;
        let millis = millis_since_month_start(clock::wall(), 0);
        let counter = self.counter.fetch_add(1, Ordering::Relaxed);
        UniqueKey { ip: self.ip, process, random: self.random, millis, counter }.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn client_ids_of_one_process_differ() {
        let ids: BTreeSet<_> = (0..1000).map(|_| client_id("10.0.0.1", None, None)).collect();
        assert_eq!(ids.len(), 1000);
    }

    #[test]
    fn a_chosen_instance_is_kept() {
        assert_eq!(client_id("10.0.0.1", Some("pod-3"), None).as_str(), "10.0.0.1@pod-3");
    }

    #[test]
    fn message_ids_differ_and_have_javas_length() {
        let ids = MessageIds::new(Ipv4Addr::LOCALHOST.into());
        let (a, b) = (ids.next(), ids.next());
        assert_ne!(a, b);
        assert_eq!(a.len(), 32);
    }
}
