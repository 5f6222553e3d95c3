//! Just enough of the remoting protocol to ask a server one question: it saves a JVM start for each.
//!
//! Written apart from `evenkeel_core::wire` on purpose, so that a mistake there cannot hide here.

use super::tls::Tls;
use serde_json::{Map, Value, json};
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

/// What a server answered.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) code: i64,
    pub(super) remark: String,
    pub(super) fields: Map<String, Value>,
    /// As text: bodies of the name server are JSON with numbers as keys, which no JSON reader takes.
    pub(super) body: String,
}

/// Sends one request on a connection of its own, encrypted or not, and waits for the answer.
pub(super) fn call(tls: Option<&Tls>, address: &str, code: i32, fields: &Value) -> io::Result<Reply> {
    const LIMIT: Duration = Duration::from_secs(5);
    let target = address.parse().map_err(|_| io::Error::other(format!("{address}: no socket address")))?;
    let stream = TcpStream::connect_timeout(&target, LIMIT)?;
    stream.set_read_timeout(Some(LIMIT))?;
    stream.set_write_timeout(Some(LIMIT))?;
    match tls {
        Some(tls) => ask(&mut tls.connect(stream)?, code, fields),
        None => ask(&mut { stream }, code, fields),
    }
}

fn ask(stream: &mut (impl Read + Write), code: i32, fields: &Value) -> io::Result<Reply> {
    let header = json!({
        "code": code, "flag": 0, "language": "JAVA", "opaque": 1, "version": 395,
        "serializeTypeCurrentRPC": "JSON", "extFields": fields,
    })
    .to_string();
    let mut frame = Vec::new();
    frame.extend((header.len() as u32 + 4).to_be_bytes());
    frame.extend((header.len() as u32).to_be_bytes());
    frame.extend(header.as_bytes());
    stream.write_all(&frame)?;

    let total = read_u32(stream)?;
    let header_len = (read_u32(stream)? & 0x00FF_FFFF) as usize;
    let mut rest = vec![0; (total as usize).saturating_sub(4)];
    stream.read_exact(&mut rest)?;
    let header = rest.get(..header_len).ok_or_else(|| io::Error::other("a header longer than its frame"))?;
    let header: Value = serde_json::from_slice(header)?;
    Ok(Reply {
        code: header["code"].as_i64().unwrap_or(-1),
        remark: header["remark"].as_str().unwrap_or_default().to_owned(),
        fields: header["extFields"].as_object().cloned().unwrap_or_default(),
        body: String::from_utf8_lossy(&rest[header_len..]).into_owned(),
    })
}

fn read_u32(stream: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes)?;
    Ok(u32::from_be_bytes(bytes))
}
