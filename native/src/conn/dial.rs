//! From an address as text to a connected socket, or to the reason why there is none.

use std::io;
use std::net::SocketAddr;
use std::time::Duration;
use tokio::net::{TcpStream, lookup_host};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, timeout, timeout_at};

/// Time to connect, name resolution included; as Java's.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// Head start of one resolved address before the next is tried beside it.
const STAGGER: Duration = Duration::from_millis(250);

/// Connects to `address`, which may be a name with several addresses of both families: they are tried in turn with a
/// short head start each, and the first that answers is taken.
pub(super) async fn dial(address: &str) -> Result<TcpStream, String> {
    let give_up = Instant::now() + CONNECT_TIMEOUT;
    let resolved: Vec<SocketAddr> = match timeout_at(give_up, lookup_host(address)).await {
        Ok(Ok(found)) => found.collect(),
        Ok(Err(error)) => return Err(format!("{address}: {}", unresolved(address, &error))),
        Err(_elapsed) => {
            return Err(format!("{address}: the name was not resolved within {CONNECT_TIMEOUT:?}"));
        }
    };
    let stream = first_of(&resolved, give_up).await.map_err(|reason| match resolved.as_slice() {
        [] => format!("{address}: the name has no address"),
        [one] if one.to_string() == address => format!("{address}: {reason}"),
        [one] => format!("{address} ({one}): {reason}"),
        all => {
            let all: Vec<String> = all.iter().map(ToString::to_string).collect();
            format!("{address} ({}): {reason}", all.join(", "))
        }
    })?;
    // Without this the kernel may hold small frames back; if it cannot be set the connection works all the same.
    let _ = stream.set_nodelay(true);
    Ok(stream)
}

async fn first_of(resolved: &[SocketAddr], give_up: Instant) -> Result<TcpStream, String> {
    let mut attempts = JoinSet::new();
    let mut rest = resolved.iter();
    let mut last = format!("no answer within {CONNECT_TIMEOUT:?}");
    loop {
        if let Some(next) = rest.next() {
            attempts.spawn(timeout(CONNECT_TIMEOUT, TcpStream::connect(*next)));
        }
        let more = rest.len() > 0;
        tokio::select! {
            ended = attempts.join_next() => match ended {
                Some(Ok(Ok(Ok(stream)))) => return Ok(stream),
                Some(Ok(Ok(Err(error)))) => last = reason(&error),
                Some(_) => {}
                None if more => {}
                None => return Err(last),
            },
            () = sleep(STAGGER), if more => {}
            () = tokio::time::sleep_until(give_up) => return Err(last),
        }
        if attempts.is_empty() && rest.len() == 0 {
            return Err(last);
        }
    }
}

/// The operating system's words without its error number.
pub(super) fn reason(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::Other | io::ErrorKind::InvalidInput => error.to_string(),
        // Kinds print as the plain English words: "connection refused".
        kind if error.raw_os_error().is_none() || kind != io::ErrorKind::NotFound => {
            let words = kind.to_string();
            if words.contains("uncategorized") { error.to_string() } else { words }
        }
        _ => error.to_string(),
    }
}

fn unresolved(address: &str, error: &io::Error) -> String {
    let port = address.rsplit_once(':').map(|(_, port)| port);
    match port {
        None => "not a host:port, the port is missing (9876 is the usual one)".to_owned(),
        Some(port) if port.parse::<u16>().is_err() => format!("{port:?} is not a port number"),
        Some(_) => format!("the name cannot be resolved: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::net::TcpListener;

    #[tokio::test]
    async fn refused_connections_say_so() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        drop(listener);
        assert_eq!(dial(&address).await.unwrap_err(), format!("{address}: connection refused"));
    }

    #[tokio::test]
    async fn a_missing_or_bad_port_is_named() {
        assert!(dial("mq").await.unwrap_err().contains("the port is missing"));
        assert!(dial("mq:98765").await.unwrap_err().contains("not a port number"));
    }

    #[tokio::test]
    async fn a_name_of_both_families_reaches_a_server_of_one() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(dial(&format!("localhost:{port}")).await.is_ok());
    }

    #[tokio::test]
    async fn addresses_behind_a_refusing_one_are_tried() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let good = listener.local_addr().unwrap();
        let gone = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
        assert!(first_of(&[gone, good], Instant::now() + CONNECT_TIMEOUT).await.is_ok());
    }
}
