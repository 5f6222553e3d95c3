//! Errors on their way to JavaScript.

use std::fmt;

use evenkeel_core::wire::inspect::fields;
use evenkeel_core::wire::json::Value;
use wasm_bindgen::JsValue;

/// Why there is no answer. It crosses the border as the text of `{"code":…,"field":…,"text":…,"zh":…,"hint":…}`, of which
/// the package makes an `EvenkeelError`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// One of the codes of the package.
    pub code: &'static str,
    /// Where in the input.
    pub field: Option<String>,
    /// What is wrong.
    pub text: String,
    /// The same in Chinese, if it is translated.
    pub zh: Option<String>,
    /// What to do about it.
    pub hint: Option<String>,
}

impl Refusal {
    /// What was given cannot be read.
    pub(crate) fn bad_input(text: impl fmt::Display) -> Self {
        Self { code: "BAD_INPUT", field: None, text: text.to_string(), zh: None, hint: None }
    }

    /// The same, with the place in the input.
    #[cfg(feature = "protocol")]
    pub(crate) fn at(mut self, field: impl Into<String>) -> Self {
        self.field = Some(field.into());
        self
    }
}

#[cfg(feature = "planner")]
impl From<evenkeel_core::report::Error> for Refusal {
    fn from(error: evenkeel_core::report::Error) -> Self {
        Self {
            code: error.code.as_str(),
            field: error.field,
            zh: (error.text.zh != error.text.en).then_some(error.text.zh),
            text: error.text.en,
            hint: error.hint.map(Into::into),
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = &self.field {
            write!(f, "{field}: ")?;
        }
        f.write_str(&self.text)
    }
}

impl From<Refusal> for JsValue {
    fn from(refusal: Refusal) -> Self {
        let Refusal { code, field, text, zh, hint } = refusal;
        let text_or_null = |text: Option<String>| text.map_or(Value::Null, Value::from);
        let value = fields([
            ("code", code.into()),
            ("field", text_or_null(field)),
            ("text", text.into()),
            ("zh", text_or_null(zh)),
            ("hint", text_or_null(hint)),
        ]);
        Self::from_str(&value.to_text())
    }
}
