//! `-f`: how a message is printed.

use evenkeel::Message;
use std::io::Write;

/// The usual format.
pub(super) const DEFAULT: &str = "%t %b/%q@%o %s\\n";

/// A parsed format.
#[derive(Clone, Debug)]
pub(super) struct Template(Vec<Part>);

#[derive(Clone, Debug, PartialEq)]
enum Part {
    Text(String),
    Token(char),
}

/// All tokens.
const TOKENS: &str = "tbqoikgTrsSh";

impl Template {
    /// Reads a format; the error says which token is none.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut letters = text.chars();
        while let Some(letter) = letters.next() {
            match (letter, if matches!(letter, '%' | '\\') { letters.next() } else { None }) {
                ('%', Some('%')) => plain.push('%'),
                ('%', Some(token)) if TOKENS.contains(token) => {
                    parts.push(Part::Text(std::mem::take(&mut plain)));
                    parts.push(Part::Token(token));
                }
                ('%', other) => {
                    let token = other.map(String::from).unwrap_or_default();
                    let known: Vec<String> = TOKENS.chars().map(|token| format!("%{token}")).collect();
                    return Err(format!("-f: there is no %{token}; there are {} and %%", known.join(" ")));
                }
                ('\\', Some('n')) => plain.push('\n'),
                ('\\', Some('t')) => plain.push('\t'),
                ('\\', Some('r')) => plain.push('\r'),
                ('\\', Some('0')) => plain.push('\0'),
                ('\\', Some(other)) => plain.push(other),
                (other, _) => plain.push(other),
            }
        }
        parts.push(Part::Text(plain));
        parts.retain(|part| *part != Part::Text(String::new()));
        Ok(Self(parts))
    }

    /// Writes a message. The body goes out as it is.
    pub(super) fn write(&self, message: &Message, out: &mut impl Write) -> std::io::Result<()> {
        let queue = message.queue();
        for part in &self.0 {
            match part {
                Part::Text(text) => out.write_all(text.as_bytes())?,
                Part::Token('t') => write!(out, "{}", message.topic())?,
                Part::Token('b') => write!(out, "{}", queue.broker)?,
                Part::Token('q') => write!(out, "{}", queue.id)?,
                Part::Token('o') => write!(out, "{}", message.offset())?,
                Part::Token('i') => write!(out, "{}", message.msg_id())?,
                Part::Token('k') => write!(out, "{}", message.keys().collect::<Vec<_>>().join(" "))?,
                Part::Token('g') => write!(out, "{}", message.tag().unwrap_or_default())?,
                Part::Token('T') => write!(out, "{}", message.stored_at().as_millis())?,
                Part::Token('r') => write!(out, "{}", message.retries())?,
                Part::Token('s') => out.write_all(message.body())?,
                Part::Token('S') => write!(out, "{}", message.body().len())?,
                Part::Token(_) => {
                    let pairs = message.properties().map(|(name, value)| format!("{name}={value}"));
                    write!(out, "{}", pairs.collect::<Vec<_>>().join(","))?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_parsed() {
        let Template(parts) = Template::parse("%t:%%\\t%s\\n").unwrap();
        let text = |text: &str| Part::Text(text.to_owned());
        assert_eq!(parts, [Part::Token('t'), text(":%\t"), Part::Token('s'), text("\n")]);
        assert!(Template::parse("%x").unwrap_err().contains("there is no %x"));
        assert!(Template::parse("100%").is_err());
    }
}
