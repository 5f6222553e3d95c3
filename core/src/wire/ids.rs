//! The two ids of a message, and the hexadecimal text they are made of.
//!
//! [`OffsetId`] says where a message is stored (`MessageDecoder.createMessageId`, `decodeMessageId`); [`UniqueKey`] is what
//! a producer writes into `UNIQ_KEY` (`MessageClientIDSetter`). Both exist for IPv4 (32 digits) and IPv6 (56 digits).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use bytes::Bytes;

use super::error::{WireError, WireErrorKind};
use super::message::Host;
use super::reader::Reader;

/// Digits of an id with a 4-byte address.
const NARROW: usize = 32;

/// Where a message is stored: broker address and log position.
///
/// ```text
/// address 4 or 16 | port 4 | log offset 8
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct OffsetId {
    /// The broker.
    pub host: Host,
    /// Position in the broker's log.
    pub offset: i64,
    /// Whether the broker has an IPv6 address by its own account. If it wrote an IPv4 address into those 16 bytes,
    /// the id has the short address first and zeros at its end, as in Java.
    pub wide: bool,
}

impl OffsetId {
    /// The id for a log position of a broker.
    #[must_use]
    pub fn new(host: Host, offset: i64) -> Self {
        Self { host, offset, wide: host.ip.is_ipv6() }
    }

    /// Reads an id. Text of 32 digits has a 4-byte address, any other a 16-byte one; digits behind are ignored, and
    /// letters that are no digits are read as [`hex_decode`] does.
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let bytes = Bytes::from(hex_decode(text));
        let mut reader = Reader::new(&bytes);
        let wide = text.encode_utf16().count() != NARROW;
        let ip = read_ip(&mut reader, wide)?;
        let at = reader.position();
        let port = u16::try_from(reader.i32("a port")?)
            .map_err(|_| WireError::new(WireErrorKind::BadNumber, at, "a port from 0 to 65535"))?;
        Ok(Self { host: Host::new(ip, port), offset: reader.i64("a log offset")?, wide })
    }
}

impl fmt::Display for OffsetId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_ip(f, self.host.ip)?;
        write!(f, "{:08X}{:016X}", self.host.port, self.offset)?;
        if self.wide && self.host.ip.is_ipv4() {
            // The twelve bytes that the short address leaves.
            write!(f, "{:024}", 0)?;
        }
        Ok(())
    }
}

/// The parts of a producer's message id.
///
/// ```text
/// address 4 or 16 | process 2 | random 4 | milliseconds since the month began 4 | counter 2
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UniqueKey {
    /// The producer's address.
    pub ip: IpAddr,
    /// The lower half of its process id.
    pub process: u16,
    /// A number that tells programs of one process apart.
    pub random: i32,
    /// See [`super::timestamp::millis_since_month_start`].
    pub millis: u32,
    /// Counts messages and wraps.
    pub counter: u16,
}

impl UniqueKey {
    /// Reads an id by the same rules as [`OffsetId::parse`].
    pub fn parse(text: &str) -> Result<Self, WireError> {
        let bytes = Bytes::from(hex_decode(text));
        let mut reader = Reader::new(&bytes);
        Ok(Self {
            ip: read_ip(&mut reader, text.encode_utf16().count() != NARROW)?,
            process: reader.i16("a process id")?.cast_unsigned(),
            random: reader.i32("a random number")?,
            millis: reader.i32("milliseconds")?.cast_unsigned(),
            counter: reader.i16("a counter")?.cast_unsigned(),
        })
    }
}

impl fmt::Display for UniqueKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_ip(f, self.ip)?;
        write!(f, "{:04X}{:08X}{:08X}{:04X}", self.process, self.random, self.millis, self.counter)
    }
}

fn read_ip(reader: &mut Reader<'_>, wide: bool) -> Result<IpAddr, WireError> {
    if wide {
        Ok(IpAddr::V6(Ipv6Addr::from(reader.array::<16>("an IPv6 address")?)))
    } else {
        Ok(IpAddr::V4(Ipv4Addr::from(reader.array::<4>("an IPv4 address")?)))
    }
}

fn write_ip(f: &mut fmt::Formatter<'_>, ip: IpAddr) -> fmt::Result {
    match ip {
        IpAddr::V4(ip) => write!(f, "{:08X}", u32::from(ip)),
        IpAddr::V6(ip) => write!(f, "{:032X}", u128::from(ip)),
    }
}

/// Reads hexadecimal text as Java's `UtilAll.string2bytes` does: a last odd digit is dropped, and a character that is no
/// digit counts as -1, so that it fills its place and all above with ones.
#[must_use]
pub fn hex_decode(text: &str) -> Vec<u8> {
    let units: Vec<u16> = text.encode_utf16().collect();
    let digit = |unit: u16| {
        let value = char::from_u32(u32::from(unit)).and_then(|c| c.to_digit(16));
        value.map_or(0xFF, |value| value as u8) // 0xFF is -1
    };
    units.chunks_exact(2).map(|pair| digit(pair[0]) << 4 | digit(pair[1])).collect()
}

/// Upper-case hexadecimal text.
#[must_use]
pub fn hex_encode(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}
