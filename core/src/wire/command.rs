//! One command of the remoting protocol, whatever header encoding it travelled in.

use super::code::{LanguageCode, PROTOCOL_VERSION, RequestCode, ResponseCode};
use super::fields::Header;
use alloc::string::{String, ToString};
use alloc::vec::Vec;
use bytes::Bytes;
use core::fmt::Display;

/// Flag bit: this is a response.
pub const FLAG_RESPONSE: i32 = 1;
/// Flag bit: the receiver must not answer.
pub const FLAG_ONE_WAY: i32 = 2;

/// The header encoding of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum HeaderEncoding {
    /// JSON text, type byte 0.
    #[default]
    Json,
    /// RocketMQ's binary form, type byte 1. Codes and versions are 16 bits wide in it.
    Binary,
}

impl HeaderEncoding {
    /// This encoding, or JSON where a command's code has no room in it (pop and its kin count from 200050).
    pub fn fitting(self, code: i32) -> Self {
        if i16::try_from(code).is_ok() { self } else { Self::Json }
    }
}

/// A request or response: fixed header fields, named extension fields, body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// A [`RequestCode`] or [`ResponseCode`], by the response flag.
    pub code: i32,
    /// Language of the sender; `None` if it said nothing or something unknown.
    pub language: Option<LanguageCode>,
    /// Protocol version of the sender.
    pub version: i32,
    /// Ties a response to its request, per connection. `None` only if a JSON header had none.
    pub opaque: Option<i32>,
    /// [`FLAG_RESPONSE`], [`FLAG_ONE_WAY`].
    pub flag: i32,
    /// Free text, on errors what went wrong.
    pub remark: Option<String>,
    /// The typed header as name and text pairs.
    pub fields: Fields,
    /// The body; empty if there is none.
    pub body: Bytes,
}

impl Command {
    /// A request as this client sends it. The connection sets the opaque.
    pub fn request(code: RequestCode) -> Self {
        Self {
            code: code.0,
            language: Some(LanguageCode::RUST),
            version: PROTOCOL_VERSION,
            opaque: None,
            flag: 0,
            remark: None,
            fields: Fields::default(),
            body: Bytes::new(),
        }
    }

    /// A response to the request with this opaque.
    pub fn response(code: ResponseCode, opaque: Option<i32>) -> Self {
        Self { code: code.0, opaque, flag: FLAG_RESPONSE, ..Self::request(RequestCode(0)) }
    }

    /// The same command with a body.
    #[must_use]
    pub fn with_body(self, body: impl Into<Bytes>) -> Self {
        Self { body: body.into(), ..self }
    }

    /// The same command with a remark.
    #[must_use]
    pub fn with_remark(self, remark: impl Into<String>) -> Self {
        Self { remark: Some(remark.into()), ..self }
    }

    /// The same command with one more field.
    #[must_use]
    pub fn with_field(mut self, name: &str, value: impl Display) -> Self {
        self.fields.set(name, value);
        self
    }

    /// The same command with the fields of a typed header.
    #[must_use]
    pub fn with_header(mut self, header: &impl Header) -> Self {
        header.write(&mut self.fields);
        self
    }

    /// The same command, marked so that the receiver does not answer.
    #[must_use]
    pub fn one_way(mut self) -> Self {
        self.flag |= FLAG_ONE_WAY;
        self
    }

    /// Whether this is a response.
    pub fn is_response(&self) -> bool {
        self.flag & FLAG_RESPONSE != 0
    }

    /// Whether the receiver must not answer.
    pub fn is_one_way(&self) -> bool {
        self.flag & FLAG_ONE_WAY != 0
    }

    /// The code of a request.
    pub fn request_code(&self) -> RequestCode {
        RequestCode(self.code)
    }

    /// The code of a response.
    pub fn response_code(&self) -> ResponseCode {
        ResponseCode(self.code)
    }
}

/// Extension fields of a command: few, so a plain list; the last of two equal names wins, as Java's map has it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// The value of a field.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// Sets a field, replacing an earlier value.
    pub fn set(&mut self, name: &str, value: impl Display) {
        let value = value.to_string();
        match self.0.iter_mut().find(|(key, _)| key == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name.to_string(), value)),
        }
    }

    /// Sets a field if there is a value.
    pub fn set_some(&mut self, name: &str, value: Option<impl Display>) {
        if let Some(value) = value {
            self.set(name, value);
        }
    }

    /// Name and value pairs, in the order they were set.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many fields there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no fields.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}
