//! The files of the planning page: those inside this binary, or those of a folder.

use super::super::exit::Failure;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderName, HeaderValue, StatusCode};
use axum::response::{IntoResponse, Response};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Name and content, by name. Empty if the page was not built when this binary was.
const INSIDE: &[(&str, &[u8])] = include!(concat!(env!("OUT_DIR"), "/page.rs"));
const INDEX: &str = "index.html";
/// Tells the page that whoever serves it can be asked for live groups.
const MARK: &str = "<meta name=\"evenkeel-live\" content=\"api/\">";

/// All files, read once.
#[derive(Debug)]
pub(super) struct Page(BTreeMap<String, Cow<'static, [u8]>>);

impl Page {
    pub(super) fn inside() -> Result<Self, Failure> {
        let files = INSIDE.iter().map(|(name, bytes)| ((*name).to_owned(), Cow::Borrowed(*bytes)));
        Self::of(files.collect(), None)
    }

    pub(super) fn of_folder(folder: &Path) -> Result<Self, Failure> {
        let mut files = BTreeMap::new();
        let wrong = |error| Failure::usage(format!("cannot read the page in {}: {error}", folder.display()));
        read(folder, String::new(), &mut files).map_err(wrong)?;
        Self::of(files, Some(folder))
    }

    fn of(mut files: BTreeMap<String, Cow<'static, [u8]>>, folder: Option<&Path>) -> Result<Self, Failure> {
        let Some(index) = files.get_mut(INDEX) else {
            let text = match folder {
                Some(folder) => format!("{} has no {INDEX}: it is not the built page", folder.display()),
                None => "this binary was built without the planning page".to_owned(),
            };
            return Err(Failure::usage(text).with_hint(
                "`web/serve` of the repository builds both; or say --page DIR with the folder web/dist/page",
            ));
        };
        let text = String::from_utf8_lossy(index).replacen("</head>", &format!("{MARK}</head>"), 1);
        *index = Cow::Owned(text.into_bytes());
        Ok(Self(files))
    }

    /// The file of a path, `/` being the page itself.
    pub(super) fn answer(&self, path: &str) -> Response {
        let name = match path.trim_start_matches('/') {
            "" => INDEX,
            name => name,
        };
        let Some(bytes) = self.0.get(name) else {
            return (StatusCode::NOT_FOUND, "there is no such file\n").into_response();
        };
        let headers = [
            (CONTENT_TYPE, HeaderValue::from_static(media_type(name))),
            // Another version may listen at this port tomorrow.
            (CACHE_CONTROL, HeaderValue::from_static("no-cache")),
            (HeaderName::from_static("x-content-type-options"), HeaderValue::from_static("nosniff")),
        ];
        (headers, bytes.clone().into_owned()).into_response()
    }
}

fn read(
    folder: &Path,
    before: String,
    files: &mut BTreeMap<String, Cow<'static, [u8]>>,
) -> std::io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path: PathBuf = entry?.path();
        let last = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let name = format!("{before}{last}");
        if path.is_dir() {
            read(&path, format!("{name}/"), files)?;
        } else {
            files.insert(name, Cow::Owned(std::fs::read(&path)?));
        }
    }
    Ok(())
}

fn media_type(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("html") => "text/html; charset=utf-8",
        Some("js" | "mjs") => "text/javascript; charset=utf-8",
        Some("css") => "text/css; charset=utf-8",
        Some("wasm") => "application/wasm",
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json" | "webmanifest") => "application/json",
        _ => "application/octet-stream",
    }
}
