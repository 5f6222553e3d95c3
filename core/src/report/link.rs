//! A plan as a link: all of it stands behind the `#`, which no browser sends to a server.
//!
//! ```text
//! https://host/path/#evenkeel=1.rVNN…
//!                             │ └ the JSON of a Shared, deflated, in Base64 for URLs without padding
//!                             └ version
//! ```
//!
//! Equal groups, changes and strategies give equal links.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use miniz_oxide::deflate::compress_to_vec;
use miniz_oxide::inflate::{TINFLStatus, decompress_to_vec_with_limit};
use serde::{Deserialize, Serialize};

use super::{Change, Error, ErrorCode, Snapshot, Strategy};
use crate::plan::said;

/// What a link carries. Whoever has a reader and writer of JSON puts it between this and [`fragment`] and [`shared_text`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shared {
    /// The group.
    pub snapshot: Snapshot,
    /// What happens to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// Strategies with settings of their own that are looked at besides the running one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strategies: Vec<Strategy>,
}

/// The longest fragment that is made, in bytes. Chats and mail cut what is longer.
pub const LONGEST: usize = 8 * 1024;
/// The longest that is read, and the most JSON that may come out of it.
const LONGEST_READ: usize = 64 * 1024;
const MOST_JSON: usize = 1 << 20;

/// What the fragment of every link begins with, after its `#`.
pub const MARK: &str = "evenkeel=";
const VERSION: &str = "1";
/// Slow and small: links are short.
const EFFORT: u8 = 9;

/// The fragment of a link, from its `#` on, for the JSON of a [`Shared`].
///
/// # Errors
///
/// [`ErrorCode::TooLarge`] if it would be longer than [`LONGEST`].
pub fn fragment(shared: &str) -> Result<String, Error> {
    let packed = URL_SAFE_NO_PAD.encode(compress_to_vec(shared.as_bytes(), EFFORT));
    let fragment = format!("#{MARK}{VERSION}.{packed}");
    if fragment.len() > LONGEST {
        let bytes = fragment.len();
        let text = said!(
            "the link would have {bytes} bytes; at most {LONGEST} are of use",
            "链接将有 {bytes} 字节；最多 {LONGEST} 字节可用"
        );
        return Err(Error::new(ErrorCode::TooLarge, text).with_hint("share the snapshot as a file"));
    }
    Ok(fragment)
}

/// The JSON of a [`Shared`] that a link carries, be it whole, or its fragment with or without the `#`.
///
/// # Errors
///
/// [`ErrorCode::BadLink`] if it carries none, or one that is damaged or of another version; [`ErrorCode::TooLarge`] if
/// it carries more than any link should.
pub fn shared_text(link: &str) -> Result<String, Error> {
    let bad = |text| Error::new(ErrorCode::BadLink, text);
    let fragment = link.trim().rsplit('#').next().unwrap_or_default();
    let state = fragment.split('&').find_map(|part| part.strip_prefix(MARK));
    let state = state.ok_or_else(|| bad(said!("the link carries no plan", "链接中没有规划")))?;
    let (version, packed) = state.split_once('.').unwrap_or((state, ""));
    if version != VERSION {
        let text = said!(
            "the link is of version {version:?}, and this reads {VERSION:?}",
            "链接的版本是 {version:?}，而这里读取 {VERSION:?}"
        );
        return Err(bad(text).with_hint("use the version that made it, or a newer one"));
    }
    let large = |text| Error::new(ErrorCode::TooLarge, text);
    if packed.len() > LONGEST_READ {
        return Err(large(said!(
            "the link carries more than any link should",
            "链接的内容超出任何链接应有的长度"
        )));
    }
    let damaged = || bad(said!("the link is damaged: it may have been cut off", "链接已损坏：可能被截断了"));
    let bytes = URL_SAFE_NO_PAD.decode(packed).map_err(|_| damaged())?;
    let json = decompress_to_vec_with_limit(&bytes, MOST_JSON).map_err(|error| match error.status {
        TINFLStatus::HasMoreOutput => large(said!(
            "the link carries more than it should when it is unpacked",
            "链接解压后的内容超出应有的长度"
        )),
        _ => damaged(),
    })?;
    String::from_utf8(json).map_err(|_| damaged())
}
