//! Exports of the planner.

use evenkeel_core::paste;
use evenkeel_core::report::{self, ErrorCode, link};
use evenkeel_core::wire::inspect::fields;
use wasm_bindgen::prelude::wasm_bindgen;

use crate::Answer;
use crate::border::{read, read_if_any, write};
use crate::error::Refusal;

fn answer<T: serde::Serialize>(result: Result<T, report::Error>) -> Answer {
    Ok(write(&result.map_err(Refusal::from)?)?)
}

/// Who gets what.
#[wasm_bindgen]
pub fn allocate(snapshot: &str, strategy: Option<String>) -> Answer {
    let snapshot = read(snapshot, ErrorCode::BadSnapshot)?;
    let strategy = read_if_any(strategy.as_deref(), ErrorCode::BadStrategy)?;
    answer(report::allocate(&snapshot, strategy.as_ref()))
}

/// What one consumer takes.
#[wasm_bindgen(js_name = allocateFor)]
pub fn allocate_for(
    consumer: &str,
    queues: &str,
    consumers: &str,
    strategy: &str,
    group: Option<String>,
) -> Answer {
    let queues: Vec<report::QueueRef> = read(queues, ErrorCode::BadSnapshot)?;
    let consumers: Vec<_> = read(consumers, ErrorCode::BadSnapshot)?;
    let strategy = read(strategy, ErrorCode::BadStrategy)?;
    let group = group.map(Into::into);
    answer(report::allocate_for(&consumer.into(), &queues, &consumers, &strategy, group.as_ref()))
}

/// What moves from one allocation to another.
#[wasm_bindgen]
pub fn diff(before: &str, after: &str) -> Answer {
    let (before, after) = (read(before, ErrorCode::BadSnapshot)?, read(after, ErrorCode::BadSnapshot)?);
    answer(Ok(report::diff(&before, &after)))
}

/// What changes would do.
#[wasm_bindgen]
pub fn plan(snapshot: &str, changes: &str, options: &str) -> Answer {
    let snapshot = read(snapshot, ErrorCode::BadSnapshot)?;
    let changes: Vec<_> = read(changes, ErrorCode::BadChange)?;
    answer(report::plan(&snapshot, &changes, &read(options, ErrorCode::BadStrategy)?))
}

/// How many queues move for each place that a new id may sort to.
#[wasm_bindgen(js_name = movedByPlace)]
pub fn moved_by_place(snapshot: &str, strategy: Option<String>) -> Answer {
    let snapshot = read(snapshot, ErrorCode::BadSnapshot)?;
    let strategy = read_if_any(strategy.as_deref(), ErrorCode::BadStrategy)?;
    answer(report::moved_by_place(&snapshot, strategy.as_ref()))
}

/// What is wrong with a group, said in English or in the language that is named: `en`, `zh`.
#[wasm_bindgen]
pub fn verify(snapshot: &str, language: Option<String>) -> Answer {
    let snapshot = read(snapshot, ErrorCode::BadSnapshot)?;
    answer(report::verify_in(&snapshot, in_language(language)?))
}

fn in_language(name: Option<String>) -> Result<report::Language, Refusal> {
    name.map_or(Ok(report::Language::English), |name| name.parse()).map_err(Refusal::bad_input)
}

/// The same group under pseudonyms.
#[wasm_bindgen]
pub fn redact(snapshot: &str, salt: Option<String>) -> Answer {
    answer(Ok(report::redact(&read(snapshot, ErrorCode::BadSnapshot)?, salt.as_deref())))
}

/// What people paste, as a snapshot; of several texts, what they say together. Problems are told as findings are.
#[wasm_bindgen]
pub fn parse(texts: Vec<String>, language: Option<String>) -> Answer {
    let language = in_language(language)?;
    let read = |text: &str| paste::parse_in(text, language);
    let parsed = texts.iter().map(|text| read(text)).reduce(paste::Parsed::merge);
    Ok(write(&parsed.unwrap_or_else(|| read("")))?)
}

/// The fragment of a link that carries a plan.
#[wasm_bindgen(js_name = toFragment)]
pub fn to_fragment(snapshot: &str, changes: &str, strategies: &str) -> Answer {
    let snapshot = read(snapshot, ErrorCode::BadSnapshot)?;
    let changes = read(changes, ErrorCode::BadChange)?;
    let strategies = read(strategies, ErrorCode::BadStrategy)?;
    let text = write(&link::Shared { snapshot, changes, strategies })?;
    Ok(link::fragment(&text).map_err(Refusal::from)?)
}

/// The plan that a link carries.
#[wasm_bindgen(js_name = fromUrl)]
pub fn from_url(url: &str) -> Answer {
    let text = link::shared_text(url).map_err(Refusal::from)?;
    let shared: link::Shared = read(&text, ErrorCode::BadLink)?;
    Ok(write(&shared)?)
}

/// What a finding's code means.
#[wasm_bindgen]
pub fn explain(code: &str) -> Answer {
    let found = evenkeel_core::plan::explain(code).map(|entry| {
        fields([
            ("code", entry.code.as_str().into()),
            ("level", entry.level.as_str().into()),
            ("title", entry.title.into()),
            ("meaning", entry.meaning.into()),
            ("cause", entry.cause.into()),
            ("fix", entry.fix.en.into()),
        ])
    });
    Ok(found.map_or_else(|| "null".to_owned(), |value| value.to_text()))
}
