//! From connections to processes.

use evenkeel_core::model::{BrokerName, ClientId};
use evenkeel_core::wire::bodies::Connection;
use evenkeel_core::wire::code::LanguageCode;
use std::collections::BTreeMap;

/// One member of a group: a process that is connected to brokers under one client id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Process {
    pub(super) client: ClientId,
    pub(super) language: Option<LanguageCode>,
    pub(super) version: i32,
    /// Where each broker sees it.
    pub(super) connections: BTreeMap<BrokerName, String>,
}

/// The processes behind what brokers list, sorted by client id.
///
/// A client connects to every broker that it needs, so the same id at two brokers is one process. A broker lists
/// connections, though, and a client keeps one to each, so two connections of one id at one broker are two processes.
/// There are as many as the broker with the most of them shows. Connections of other brokers go to the process with the
/// same host; between processes of one host the ports tell nothing, and any pairing is as good.
pub(super) fn processes(by_broker: &BTreeMap<BrokerName, Vec<Connection>>) -> Vec<Process> {
    let mut by_client: BTreeMap<&ClientId, BTreeMap<&BrokerName, Vec<&Connection>>> = BTreeMap::new();
    for (broker, connections) in by_broker {
        for connection in connections {
            by_client.entry(&connection.client).or_default().entry(broker).or_default().push(connection);
        }
    }
    by_client.into_values().flat_map(of_one_client).collect()
}

fn of_one_client(mut by_broker: BTreeMap<&BrokerName, Vec<&Connection>>) -> Vec<Process> {
    for connections in by_broker.values_mut() {
        connections.sort_by(|a, b| a.address.cmp(&b.address));
    }
    // The first of those with the most.
    let most = by_broker.iter().rev().max_by_key(|(_, connections)| connections.len());
    let Some(base) = most.map(|(broker, _)| *broker) else { return Vec::new() };
    let process = |connection: &&Connection| Process {
        client: connection.client.clone(),
        language: connection.language,
        version: connection.version,
        connections: BTreeMap::from([(base.clone(), connection.address.clone())]),
    };
    let mut processes: Vec<Process> = by_broker.remove(base).iter().flatten().map(process).collect();
    for (broker, connections) in by_broker {
        let (mut homeless, mut free) = (Vec::new(), Vec::new());
        free.extend(processes.iter_mut());
        for connection in connections {
            let same_host = |process: &&mut Process| {
                process.connections.get(base).is_some_and(|own| host(own) == host(&connection.address))
            };
            match free.iter().position(same_host) {
                Some(at) => {
                    let process = free.remove(at);
                    process.connections.insert(broker.clone(), connection.address.clone());
                }
                None => homeless.push(connection),
            }
        }
        for (process, connection) in free.into_iter().zip(homeless) {
            process.connections.insert(broker.clone(), connection.address.clone());
        }
    }
    processes
}

/// What stands before the port.
pub(super) fn host(address: &str) -> &str {
    address.rsplit_once(':').map_or(address, |(host, _)| host)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(rows: &[(&str, &str, &str)]) -> Vec<Process> {
        let mut by_broker: BTreeMap<BrokerName, Vec<Connection>> = BTreeMap::new();
        for (broker, client, address) in rows {
            by_broker.entry(BrokerName::from(*broker)).or_default().push(Connection {
                client: ClientId::from(*client),
                address: (*address).to_owned(),
                language: Some(LanguageCode::JAVA),
                version: 407,
            });
        }
        processes(&by_broker)
    }

    fn addresses(process: &Process) -> Vec<&str> {
        process.connections.values().map(String::as_str).collect()
    }

    #[test]
    fn one_client_at_several_brokers_is_one_process() {
        let seen =
            seen(&[("a", "c1", "h1:1"), ("b", "c1", "h1:2"), ("a", "c2", "h1:3"), ("b", "c2", "h1:4")]);
        assert_eq!(seen.iter().map(addresses).collect::<Vec<_>>(), [["h1:1", "h1:2"], ["h1:3", "h1:4"]]);
    }

    #[test]
    fn two_connections_of_one_id_at_one_broker_are_two_processes() {
        let seen =
            seen(&[("b", "c1", "h2:9"), ("b", "c1", "h1:8"), ("a", "c1", "h2:7"), ("a", "c1", "h1:6")]);
        assert_eq!(seen.iter().map(addresses).collect::<Vec<_>>(), [["h1:6", "h1:8"], ["h2:7", "h2:9"]]);
    }

    #[test]
    fn a_process_that_one_broker_does_not_know_is_still_one() {
        let seen = seen(&[("a", "c1", "h2:1"), ("b", "c1", "h1:2"), ("b", "c1", "h2:3")]);
        assert_eq!(seen.iter().map(addresses).collect::<Vec<_>>(), [vec!["h1:2"], vec!["h2:1", "h2:3"]]);
    }

    #[test]
    fn a_host_that_brokers_see_under_different_names_is_one_process() {
        let seen = seen(&[("a", "c1", "10.0.0.1:1"), ("b", "c1", "172.17.0.1:2")]);
        assert_eq!(seen.iter().map(addresses).collect::<Vec<_>>(), [["10.0.0.1:1", "172.17.0.1:2"]]);
    }

    #[test]
    fn hosts_of_ipv6_keep_their_brackets() {
        assert_eq!((host("[::1]:80"), host("10.0.0.1:80"), host("h")), ("[::1]", "10.0.0.1", "h"));
    }
}
