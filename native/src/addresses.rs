//! Lists of name servers, as text and as the environment has them.

use crate::error::{Error, Result};
use evenkeel_core::model::Address;

/// Variables that hold name servers, in the order they are looked at.
pub(crate) const VARIABLES: [&str; 2] = ["NAMESRV_ADDR", "ROCKETMQ_NAMESRV_ADDR"];

/// `host:port` parts between `;` or `,`. Blanks, empty parts and repetitions are dropped; of a part that starts with
/// `http://` what follows the last slash counts, as in Java.
///
/// # Errors
/// Nothing is left, or a part has no port.
pub(crate) fn parse(text: &str, origin: &str) -> Result<Vec<Address>> {
    let mut found: Vec<Address> = Vec::new();
    for part in text.split([';', ',']).map(str::trim).filter(|part| !part.is_empty()) {
        let part = if part.starts_with("http://") { part.rsplit('/').next().unwrap_or(part) } else { part };
        check(part).map_err(|why| {
            Error::config(format!("name server {part:?} ({origin}): {why}"))
                .with_hint("write host:port, several of them with ; between, such as mq-1:9876;mq-2:9876")
        })?;
        let address = Address::from(part);
        if !found.contains(&address) {
            found.push(address);
        }
    }
    if found.is_empty() {
        return Err(Error::config(format!("the list of name servers is empty ({origin})"))
            .with_hint("give at least one host:port"));
    }
    Ok(found)
}

fn check(part: &str) -> Result<(), &'static str> {
    let (host, port) = part.rsplit_once(':').ok_or("the port is missing (9876 is the usual one)")?;
    if port.parse::<u16>().map_or(true, |port| port == 0) {
        return Err("what follows the last colon is not a port");
    }
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.contains(':') && !bracketed {
        return Err("an IPv6 address needs brackets, as in [::1]:9876");
    }
    if host.is_empty() || host.chars().any(char::is_whitespace) {
        return Err("the host is missing");
    }
    Ok(())
}

/// The name servers of the environment and the variable that gave them.
///
/// # Errors
/// A variable is set but cannot be read.
pub(crate) fn from_env() -> Result<Option<(Vec<Address>, &'static str)>> {
    for variable in VARIABLES {
        match std::env::var(variable) {
            Ok(text) if !text.trim().is_empty() => {
                return parse(&text, &format!("environment {variable}")).map(|list| Some((list, variable)));
            }
            _ => {}
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<String>> {
        Ok(parse(text, "test")?.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn separators_blanks_and_repetitions() {
        assert_eq!(list("a:1; b:2,,a:1;").unwrap(), ["a:1", "b:2"]);
        assert_eq!(list("[::1]:9876").unwrap(), ["[::1]:9876"]);
        assert_eq!(list("http://ns/x/c:3").unwrap(), ["c:3"]);
    }

    #[test]
    fn what_cannot_be_an_address_is_refused_with_the_reason() {
        for (text, why) in [
            ("mq", "port is missing"),
            ("::1:9876", "brackets"),
            ("a:b", "not a port"),
            (" ; ", "empty"),
            (":1", "host"),
        ] {
            let error = list(text).unwrap_err().to_string();
            assert!(error.contains(why), "{text}: {error}");
        }
    }
}
